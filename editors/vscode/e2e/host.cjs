// Runs inside of the extension host of a real VS Code, with its API. Writes TAP lines to `.report` in the workspace.

const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");

const { eventually, ok, report } = require("./tap.cjs");

const folder = vscode.workspace.workspaceFolders[0].uri.fsPath;
function configure(key, value) {
  return vscode.workspace.getConfiguration("tilefit").update(key, value, vscode.ConfigurationTarget.Workspace);
}

/** The setting, then the binary inside of the extension, then Python environments, then PATH. */
async function lookup({ errors }) {
  const bundled = path.join(vscode.extensions.getExtension("tilefit.tilefit").extensionPath, "server", "tilefit");
  const [setting, onPath] = [process.env.TILEFIT_BY_SETTING, process.env.TILEFIT_ON_PATH];
  const [ofFolder, selected] = [process.env.TILEFIT_OF_FOLDER, process.env.TILEFIT_SELECTED];
  const ran = (server) => fs.existsSync(`${server}.log`) && fs.readFileSync(`${server}.log`, "utf8").includes("server");
  ok(!ran(onPath) && !ran(setting), "the server inside of the extension goes before the one on PATH");
  const moved = `${bundled}-moved`;
  process.env.TILEFIT_REAL = moved;
  process.env.PATH = `${path.dirname(onPath)}:${process.env.PATH}`;
  fs.renameSync(bundled, moved);
  await vscode.commands.executeCommand("tilefit.restart");
  ok(ran(onPath) && (await eventually(() => errors().length > 0)), "without it, the one on PATH is run");
  fs.symlinkSync(path.resolve(ofFolder, "../.."), path.join(folder, ".venv"));
  await vscode.commands.executeCommand("tilefit.restart");
  ok(ran(ofFolder) && (await eventually(() => errors().length > 0)), "the one in .venv of the folder goes before that");
  const python = await vscode.extensions.getExtension("ms-python.python").activate();
  python.select(path.join(path.dirname(selected), "python"));
  await vscode.commands.executeCommand("tilefit.restart");
  ok(ran(selected) && (await eventually(() => errors().length > 0)), "the one beside the selected Python goes before both");
  python.select(undefined);
  fs.rmSync(path.join(folder, ".venv"));
  await configure("server.path", setting);
  ok((await eventually(() => ran(setting))) && (await eventually(() => errors().length > 0)), "the setting goes before all");
  await configure("server.path", "/nowhere/tilefit");
  ok(await eventually(() => errors().length === 0), "a setting that does not work is not made up for");
  fs.renameSync(moved, bundled);
  await configure("server.path", undefined);
  ok(await eventually(() => errors().length > 0), "and the one inside is run again");
}

/** A Python server on the same file, with a package that has what the kernel imports. */
async function besidePyright({ document, at }) {
  const { LanguageClient } = require("vscode-languageclient/node");
  const stub = path.join(folder, "pypto");
  fs.mkdirSync(stub);
  fs.writeFileSync(path.join(stub, "__init__.py"), "");
  fs.writeFileSync(path.join(stub, "language.py"), 'def exp(tile):\n    """Of the package."""\n\ndef load(tensor, offsets, shape): ...\ndef unheard_of(): ...\n');
  const server = path.join(process.env.TILEFIT_MODULES, "pyright/langserver.index.js");
  const selector = [{ language: "python", scheme: "file" }];
  const pyright = new LanguageClient("pyright", "pyright", { command: process.execPath, args: [server, "--stdio"] }, { documentSelector: selector });
  await pyright.start();
  const command = (name, ...args) => vscode.commands.executeCommand(`vscode.execute${name}Provider`, document.uri, ...args);
  const place = at("exp(gate)");
  const items = async () => (await command("CompletionItem", place, ".")).items;
  const label = (item) => (typeof item.label === "string" ? item.label : item.label.label);
  ok(await eventually(async () => (await items()).some((item) => label(item) === "unheard_of")), "Pyright completes what tilefit does not know");
  const twice = async () => (await items()).map(label).filter((name, index, all) => all.indexOf(name) !== index);
  ok((await twice()).includes("exp"), "both offer an operation", await twice());
  await configure("completion.enable", false);
  ok(await eventually(async () => (await twice()).length === 0), "completions of tilefit can be switched off", await twice());
  await configure("completion.enable", undefined);
  const hovers = async () => (await command("Hover", place)).map((hover) => hover.contents.map((it) => it.value ?? it).join("\n"));
  const both = async () => {
    const texts = await hovers();
    return ["pto.texp", "Of the package"].every((part) => texts.some((text) => text.includes(part)));
  };
  ok(await eventually(both), "each says what it knows in a hover", await hovers());
  const definitions = (await command("Definition", at("squashed)"))).map((it) => it.targetSelectionRange ?? it.range);
  const places = new Set(definitions.map((range) => JSON.stringify(range)));
  ok(places.size === 1, "both find the same definition", [...places]);
  const sources = new Set(vscode.languages.getDiagnostics(document.uri).map((it) => it.source));
  ok(sources.has("tilefit"), "diagnostics of both stand side by side", [...sources]);
  await pyright.stop();
  fs.rmSync(stub, { recursive: true });
}

async function session() {
  const document = await vscode.workspace.openTextDocument(path.join(folder, "overflow.py"));
  const original = document.getText();
  const editor = await vscode.window.showTextDocument(document);
  const errors = () =>
    vscode.languages.getDiagnostics(document.uri).filter((it) => it.severity === vscode.DiagnosticSeverity.Error);
  const at = (text) => document.positionAt(document.getText().indexOf(text));
  const replace = (from, to) =>
    editor.edit((edit) => edit.replace(new vscode.Range(at(from), document.positionAt(document.getText().indexOf(from) + from.length)), to));

  ok(await eventually(() => errors().length > 0), "the overflow is reported", vscode.languages.getDiagnostics(document.uri));
  const [error] = errors();
  ok(error?.source === "tilefit" && error.code?.value === "capacity-exceeded", "the error has its source and code", error);
  const page = error?.code?.target && (await vscode.workspace.openTextDocument(error.code.target));
  ok(page?.getText().startsWith("# capacity-exceeded"), "the code leads to its page", page?.getText());
  ok(error?.relatedInformation?.length >= 3, "it names what is live at the peak", error);

  const hovers = await vscode.commands.executeCommand("vscode.executeHoverProvider", document.uri, at("value = pl.load"));
  const text = hovers.flatMap((hover) => hover.contents.map((it) => it.value ?? it)).join("\n");
  ok(text.includes("0x0") && text.includes("65536"), "hover tells address and bytes", text);
  const whole = new vscode.Range(0, 0, document.lineCount, 0);
  const hints = await vscode.commands.executeCommand("vscode.executeInlayHintProvider", document.uri, whole);
  ok(hints.some((hint) => JSON.stringify(hint.label).includes("64 KiB")), "inlay hints tell the sizes", hints);
  const lenses = await vscode.commands.executeCommand("vscode.executeCodeLensProvider", document.uri, 20);
  const commands = lenses.map((lens) => lens.command?.command);
  ok(commands.includes("tilefit.showMemoryMap") && commands.includes("tilefit.showGeneratedCode"), "lenses lead to map and C++", commands);
  const symbols = await vscode.commands.executeCommand("vscode.executeDocumentSymbolProvider", document.uri);
  ok(symbols.some((symbol) => symbol.name === "Gate.gate"), "the outline has the kernel", symbols);

  const known = await vscode.commands.getCommands(true);
  const { extensionPath, packageJSON } = vscode.extensions.getExtension("tilefit.tilefit");
  const own = packageJSON.contributes.commands.map((it) => it.command);
  ok(own.every((command) => known.includes(command)), "every contributed command is registered", own.filter((it) => !known.includes(it)));

  const [toml] = packageJSON.contributes.tomlValidation;
  ok(fs.existsSync(path.join(extensionPath, toml.url)), "the schema of tilefit.toml is in the extension", toml);

  await replace("64, 256", "64, 192");
  ok(await eventually(() => errors().length === 0), "a smaller number clears the error", errors());
  await replace("64, 192", "64, 256");
  ok(await eventually(() => errors().length > 0), "a larger one brings it back");

  await configure("target", "ascend950");
  ok(await eventually(() => errors().length === 0), "a larger target has room", errors());
  await configure("target", undefined);
  ok(await eventually(() => errors().length > 0), "the setting can be taken back");

  const tabs = () => vscode.window.tabGroups.all.flatMap((group) => group.tabs.map((tab) => tab.label));
  await vscode.commands.executeCommand("tilefit.showMemoryMap", document.uri.toString(), at("def gate"));
  ok(await eventually(() => tabs().some((label) => label === "Memory map: Gate.gate")), "the memory map opens beside", tabs());
  await vscode.commands.executeCommand("tilefit.showGeneratedCode", document.uri.toString(), at("def gate"));
  const cpp = await eventually(() => vscode.workspace.textDocuments.find((it) => it.uri.scheme === "tilefit-cpp" && it.getText().includes("TLOAD")));
  ok(cpp?.languageId === "cpp", "the C++ opens beside", tabs());
  const source = vscode.window.visibleTextEditors.find((it) => it.document === document);
  const change = (from, to) => {
    const start = document.getText().indexOf(from);
    const range = new vscode.Range(document.positionAt(start), document.positionAt(start + from.length));
    return source.edit((edit) => edit.replace(range, to));
  };
  const gaps = () => vscode.languages.getDiagnostics(document.uri).filter((it) => it.source === "tilefit C++");
  const refreshed = new Promise((resolve) => {
    const listener = vscode.workspace.onDidChangeTextDocument((event) => {
      if (event.document === cpp && cpp.getText().includes("TSQRT")) {
        listener.dispose();
        resolve(performance.now());
      }
    });
  });
  const typed = performance.now();
  await change("pl.exp(gate)", "pl.sqrt(gate)");
  const late = () => new Promise((resolve) => setTimeout(() => resolve(undefined), 30_000));
  const shown = await Promise.race([refreshed, late()]);
  ok(shown !== undefined && !cpp.getText().includes("TEXP"), `the C++ follows an edit (${Math.round(shown - typed)} ms)`, cpp.getText());
  ok(gaps().length === 0, "the C++ lacks nothing", gaps());
  const spare = "spare = pl.tile.full([32, 32], dtype=pl.FP8E4M3FN, value=0.0)\n        ";
  await change("out = pl.store", `${spare}out = pl.store`);
  ok(await eventually(() => gaps().length > 0), "what has no C++ is told in the source while the view is open", cpp.getText());
  ok(gaps().every((it) => it.code === "no-instruction" && document.getText(it.range).includes("spare")), "at its place", gaps());
  await change(spare, "");
  await change("pl.sqrt(gate)", "pl.exp(gate)");
  ok(await eventually(() => gaps().length === 0 && cpp.getText().includes("TEXP")), "and no longer when it is gone", gaps());
  const times = [];
  for (let round = 0; round < 30; round++) {
    const [from, to] = round % 2 === 0 ? ["64, 256", "64, 257"] : ["64, 257", "64, 256"];
    const published = new Promise((resolve) => {
      const listener = vscode.languages.onDidChangeDiagnostics(({ uris }) => {
        if (uris.some((uri) => uri.toString() === document.uri.toString())) {
          listener.dispose();
          resolve(performance.now());
        }
      });
    });
    const start = performance.now();
    await change(from, to);
    times.push((await Promise.race([published, late()])) - start);
  }
  times.sort((a, b) => a - b);
  const told = [0.5, 0.95].map((part) => times[Math.floor(times.length * part)]?.toFixed(0)).join(" / ");
  ok(times.every((time) => time > 0), `diagnostics follow an edit with map and C++ open (p50 / p95 of 30: ${told} ms, a server of the dev profile)`, times);
  await vscode.commands.executeCommand("tilefit.restart");
  ok(await eventually(() => errors().length > 0), "diagnostics arrive after a restart");

  await configure("trace.server", "messages");
  await vscode.commands.executeCommand("tilefit.showTrace");
  await change("64, 256", "64, 192");
  await change("64, 192", "64, 256");
  const trace = () => vscode.workspace.textDocuments.find((it) => it.uri.scheme === "output" && it.getText().includes("textDocument/didChange"));
  ok(await eventually(trace), "the trace tells the messages", vscode.workspace.textDocuments.map((it) => it.uri.toString()));
  await configure("trace.server", undefined);
  await vscode.commands.executeCommand("workbench.action.closePanel");

  await lookup({ errors });
  await besidePyright({ document, at });

  // Saved as it was, by VS Code or here, it leaves no backup for the session in the browser to restore.
  ok(!document.isDirty || (await document.save()), "the document is saved");
  ok(document.getText() === original, "the document ends as it was", document.getText());

  const plain = await vscode.workspace.openTextDocument(path.join(folder, "plain.py"));
  await vscode.window.showTextDocument(plain);
  await new Promise((resolve) => setTimeout(resolve, 500));
  ok(vscode.languages.getDiagnostics(plain.uri).length === 0, "plain Python is left alone");
  await vscode.commands.executeCommand("workbench.action.closeAllEditors");
}

/** A kernel in the cell of a notebook, and what it rests on in another one. */
async function notebook() {
  const opened = await vscode.workspace.openNotebookDocument(vscode.Uri.file(path.join(folder, "notebook.ipynb")));
  const original = opened.getCells().map(({ kind, document }) => new vscode.NotebookCellData(kind, document.getText(), document.languageId));
  await vscode.window.showNotebookDocument(opened);
  const cellWith = (text) => opened.getCells().find((cell) => cell.document.getText().includes(text))?.document;
  const [sizes, kernel] = [cellWith("ROWS, COLS ="), cellWith("def gate")];
  const found = (document) => vscode.languages.getDiagnostics(document.uri).filter((it) => it.source === "tilefit");
  const at = (document, text) => document.positionAt(document.getText().indexOf(text));
  ok(await eventually(() => found(kernel).length === 1), "an overflow is reported in its cell", found(kernel));
  const [error] = found(kernel);
  ok(error?.range.start.isEqual(at(kernel, "weight = ")), "at its place in the cell", error);
  ok(found(sizes).length === 0 && found(cellWith("%%bash")).length === 0, "and nothing in the others");
  const related = error?.relatedInformation?.map((it) => it.location.uri.toString());
  ok(related?.length > 0 && related.every((uri) => uri === kernel.uri.toString()), "what it names is in the cell", related);

  const command = (name, ...rest) => vscode.commands.executeCommand(`vscode.execute${name}`, kernel.uri, ...rest);
  const hovers = await command("HoverProvider", at(kernel, "weight = "));
  const text = hovers.flatMap((hover) => hover.contents.map((it) => it.value ?? it)).join("\n");
  ok(text.includes("131072"), "hover tells the bytes", text);
  const hints = await command("InlayHintProvider", new vscode.Range(0, 0, kernel.lineCount, 0));
  ok(hints.some((hint) => JSON.stringify(hint.label).includes("128 KiB")), "inlay hints tell the sizes", hints);
  const lenses = await command("CodeLensProvider", 20);
  const lens = lenses.find((it) => it.command?.command === "tilefit.showMemoryMap");
  ok(lens?.command.arguments[0] === kernel.uri.toString(), "a lens leads to the map of the cell", lenses);
  const [definition] = await command("DefinitionProvider", at(kernel, "ROWS"));
  const target = definition?.targetUri ?? definition?.uri;
  ok(target?.toString() === sizes.uri.toString(), "the definition of a constant is in its cell", definition);

  const tabs = () => vscode.window.tabGroups.all.flatMap((group) => group.tabs.map((tab) => tab.label));
  await vscode.commands.executeCommand("tilefit.showMemoryMap", kernel.uri.toString(), at(kernel, "def gate"));
  ok(await eventually(() => tabs().some((label) => label === "Memory map: gate")), "the memory map opens beside", tabs());
  await vscode.commands.executeCommand("tilefit.showGeneratedCode", kernel.uri.toString(), at(kernel, "def gate"));
  const cpp = await eventually(() => vscode.workspace.textDocuments.find((it) => it.uri.scheme === "tilefit-cpp" && it.getText().includes("runGate")));
  ok(cpp?.languageId === "cpp", "the C++ opens beside", tabs());

  const edit = async (document, from, to) => {
    const start = at(document, from);
    const change = new vscode.WorkspaceEdit();
    change.replace(document.uri, new vscode.Range(start, document.positionAt(document.offsetAt(start) + from.length)), to);
    await vscode.workspace.applyEdit(change);
  };
  await edit(sizes, "128", "64");
  ok(await eventually(() => found(kernel).length === 0), "an edit in one cell clears the error in another", found(kernel));
  const put = new vscode.WorkspaceEdit();
  put.set(opened.uri, [
    vscode.NotebookEdit.replaceCells(new vscode.NotebookRange(2, 3), [
      new vscode.NotebookCellData(vscode.NotebookCellKind.Code, "%time ROWS = 128\nCOLS = 256", "python"),
      new vscode.NotebookCellData(vscode.NotebookCellKind.Code, "ROWS = 32", "julia"),
    ]),
  ]);
  await vscode.workspace.applyEdit(put);
  ok(await eventually(() => found(kernel).length === 1), "cells that come and go count", found(kernel));
  const actions = await command("CodeActionProvider", found(kernel)[0]?.range ?? new vscode.Range(0, 0, 0, 0));
  ok(actions.length > 0, "actions are offered in the cell", actions);
  await vscode.commands.executeCommand("tilefit.restart");
  ok(await eventually(() => found(kernel).length === 1), "a new server is told of the notebook", found(kernel));
  const restored = new vscode.WorkspaceEdit();
  restored.set(opened.uri, [vscode.NotebookEdit.replaceCells(new vscode.NotebookRange(0, opened.cellCount), original)]);
  await vscode.workspace.applyEdit(restored);
  ok(await opened.save(), "the notebook is saved as it was"); // else VS Code asks
  await vscode.commands.executeCommand("workbench.action.closeAllEditors");
}

const cppView = { command: "tilefit.showGeneratedCode", scheme: "tilefit-cpp", of: (at) => `TEXP(y${at},`, name: "C++" };
const irView = { command: "tilefit.showAllocatedIr", scheme: "tilefit-ir", of: (at) => `    y${at}: `, name: "program of tiles" };

/** A kernel that fills several windows, beside what is made of it: whichever of the two leads, the other one shows what belongs to it. */
async function scrolling({ command, scheme, of, name }) {
  const count = 80;
  const rounds = Array.from({ length: count }, (_, at) => {
    const lines = [`x${at} = pl.load(a, [${at}, 0], [1, 64])`, `y${at} = pl.exp(x${at})`, `out = pl.store(y${at}, [${at}, 0], out)`];
    return lines.map((line) => `    ${line}\n`).join("");
  });
  const tensor = `pl.Tensor[[${count}, 64], pl.FP32]`;
  const head = `import pypto.language as pl\n\n\n@pl.function(type=pl.FunctionType.InCore)\ndef tall(a: ${tensor}, out: pl.Out[${tensor}]):\n`;
  // Not the file of the round before: the editor may still find out that that one is gone.
  const file = path.join(folder, `tall-${scheme}.py`);
  fs.writeFileSync(file, `${head}${rounds.join("")}    return out\n`);
  const document = await vscode.workspace.openTextDocument(file);
  await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
  const lineOf = (doc, text) => doc.positionAt(doc.getText().indexOf(text)).line;
  await vscode.commands.executeCommand(command, document.uri.toString(), { line: lineOf(document, "def tall") });
  const shows = (text) => (it) => it.document.uri.scheme === scheme && it.document.getText().includes(text);
  const view = await eventually(() => vscode.window.visibleTextEditors.find(shows(of(count - 1))));
  const made = view?.document;
  ok(made !== undefined, `the ${name} of a tall kernel opens beside`);
  if (!made) {
    return;
  }
  const column = view.viewColumn;
  const editor = (doc) => vscode.window.visibleTextEditors.find((it) => it.document === doc);
  const inSight = (doc, text) => {
    const line = lineOf(doc, text);
    return editor(doc)?.visibleRanges.some((range) => range.start.line <= line && line <= range.end.line);
  };
  const scrollTo = (doc, text) => {
    const line = lineOf(doc, text);
    editor(doc).revealRange(new vscode.Range(line, 0, line, 0), vscode.TextEditorRevealType.AtTop);
  };
  const ranges = () => vscode.window.visibleTextEditors.map((it) => [it.document.uri.scheme, it.visibleRanges]);
  const lead = (doc, where) => vscode.window.showTextDocument(doc, { viewColumn: where, preview: false });

  await lead(document, vscode.ViewColumn.One);
  scrollTo(document, "y70 = ");
  ok(await eventually(() => inSight(made, of(70))), `the ${name} scrolls with the source`, ranges());
  scrollTo(document, "y5 = ");
  ok(await eventually(() => inSight(made, of(5)) && !inSight(made, of(70))), "and back", ranges());
  await lead(made, column);
  scrollTo(made, of(60));
  ok(await eventually(() => inSight(document, "y60 = ")), `the source scrolls with the ${name}`, ranges());
  scrollTo(made, of(10));
  ok(await eventually(() => inSight(document, "y10 = ") && !inSight(document, "y60 = ")), "and back", ranges());

  // The cursor leads as well.
  const put = (doc, text) => {
    const at = new vscode.Position(lineOf(doc, text), 4);
    editor(doc).selection = new vscode.Selection(at, at);
  };
  put(made, of(75));
  ok(await eventually(() => inSight(document, "y75 = ")), `the statement of a line of the ${name} comes into sight`, ranges());
  await lead(document, vscode.ViewColumn.One);
  put(document, "y33 = ");
  ok(await eventually(() => inSight(made, of(33))), `the line of the ${name} for a statement comes into sight`, ranges());

  // An edit moves what belongs together.
  await editor(document).edit((edit) => edit.insert(new vscode.Position(0, 0), "# one\n# two\n# three\n"));
  await eventually(() => document.version > 1);
  put(document, "y44 = ");
  scrollTo(document, "y44 = ");
  ok(await eventually(() => inSight(made, of(44))), "also after an edit above it", ranges());
  await document.save();
  await vscode.commands.executeCommand("workbench.action.closeAllEditors");
  fs.rmSync(file);
}

exports.run = async () => {
  report(folder);
  await session();
  await notebook();
  await scrolling(cppView);
  await scrolling(irView);
  await vscode.commands.executeCommand("workbench.action.files.revert");
};
