// Runs inside of the extension host, in a window with two folders: each has the settings of its own file, for its files and its notebooks.

const path = require("node:path");
const vscode = require("vscode");

const { eventually, ok, report } = require("./tap.cjs");

const [large, small] = vscode.workspace.workspaceFolders.map(({ uri }) => uri);

/** 224 KiB are live at once, which only the larger target has. */
async function notebooks() {
  const open = async (folder) => {
    const notebook = await vscode.workspace.openNotebookDocument(vscode.Uri.joinPath(folder, "notebook.ipynb"));
    await vscode.window.showNotebookDocument(notebook, { preview: false });
    const cell = (text) => notebook.getCells().find(({ document }) => document.getText().includes(text)).document;
    return { sizes: cell("ROWS, COLS ="), kernel: cell("def gate") };
  };
  const [fits, overflows] = [await open(large), await open(small)];
  const told = ({ kernel }) => vscode.languages.getDiagnostics(kernel.uri).map((it) => it.code?.value);
  const lens = async ({ kernel }) => {
    const found = await vscode.commands.executeCommand("vscode.executeCodeLensProvider", kernel.uri, 20);
    return found.map((it) => it.command?.title).filter((title) => title?.includes("%"));
  };
  const exceeds = (notebook) => told(notebook).join() === "capacity-exceeded";
  ok(await eventually(() => exceeds(overflows)), "a notebook without settings overflows once", told(overflows));
  ok(await eventually(async () => (await lens(fits)).join().includes("94 %")), "one in the folder with the larger target has room", await lens(fits));
  ok(told(fits).length === 0, "and no finding", told(fits));
  ok((await lens(fits)).length === 1 && (await lens(overflows)).length === 1, "one server answers for a notebook", [await lens(fits), await lens(overflows)]);
  for (const { kernel } of [fits, overflows]) {
    const at = kernel.positionAt(kernel.getText().indexOf("def gate"));
    const code = await vscode.commands.executeCommand("tilefit.generatedCode", kernel.uri.toString(), at);
    ok(code?.text?.includes("TMUL"), "a command goes to the server of its notebook", code);
  }
  await vscode.commands.executeCommand("tilefit.showMemoryMap", overflows.kernel.uri.toString(), new vscode.Position(0, 0));
  const tabs = () => vscode.window.tabGroups.all.flatMap((group) => group.tabs.map((tab) => tab.label));
  ok(await eventually(() => tabs().includes("Memory map: gate")), "so does its memory map", tabs());

  const edit = async ({ sizes }, from, to) => {
    const at = sizes.positionAt(sizes.getText().indexOf(from));
    const change = new vscode.WorkspaceEdit();
    change.replace(sizes.uri, new vscode.Range(at, sizes.positionAt(sizes.offsetAt(at) + from.length)), to);
    await vscode.workspace.applyEdit(change);
  };
  await edit(fits, "112", "128");
  ok(await eventually(() => exceeds(fits)), "an edit counts in its folder", told(fits));
  await edit(overflows, "112", "64");
  ok(await eventually(() => told(overflows).length === 0) && exceeds(fits), "and in no other", [told(fits), told(overflows)]);
  await edit(fits, "128", "112");
  await edit(overflows, "64", "112");
  ok(await eventually(() => told(fits).length === 0 && exceeds(overflows)), "both are as they were", [told(fits), told(overflows)]);
  await vscode.workspace.saveAll(false);
  await vscode.commands.executeCommand("workbench.action.closeAllEditors");
}

exports.run = async () => {
  report(path.dirname(large.fsPath));
  await notebooks();
  const open = async (folder) => {
    const document = await vscode.workspace.openTextDocument(vscode.Uri.joinPath(folder, "overflow.py"));
    await vscode.window.showTextDocument(document);
    return document;
  };
  const [fits, overflows] = [await open(large), await open(small)];
  const told = ({ uri }) => vscode.languages.getDiagnostics(uri).map((it) => it.code?.value);
  const hover = async ({ uri }) => {
    const found = await vscode.commands.executeCommand("vscode.executeHoverProvider", uri, new vscode.Position(20, 10));
    return JSON.stringify(found.map((it) => it.contents.map((content) => content.value)));
  };
  const lenses = async ({ uri }) => {
    const found = await vscode.commands.executeCommand("vscode.executeCodeLensProvider", uri, 20);
    return found.map((it) => it.command?.title).filter((title) => title?.includes("%"));
  };
  ok(await eventually(() => told(overflows).includes("capacity-exceeded")), "without settings, the tiles do not fit", told(overflows));
  ok(await eventually(async () => (await lenses(fits)).length > 0), "a folder has lenses", await lenses(fits));
  ok(!told(fits).includes("capacity-exceeded"), "with the larger target of the other folder they do", told(fits));
  for (const document of [fits, overflows]) {
    const titles = await lenses(document);
    ok(titles.length === 1, "one server answers for a file", titles);
    const code = await vscode.commands.executeCommand("tilefit.generatedCode", document.uri.toString(), { line: 20, character: 0 });
    ok(code?.text?.includes("TEXP"), "a command goes to the server of its file", code);
  }
  const settings = vscode.Uri.joinPath(small, "tilefit.toml");
  await vscode.workspace.fs.writeFile(settings, Buffer.from('target = "ascend950"\n'));
  ok(await eventually(() => !told(overflows).includes("capacity-exceeded")), "a settings file that appears counts", told(overflows));
  ok((await hover(fits)) === (await hover(overflows)), "now both plan the same");
  await vscode.workspace.fs.delete(vscode.Uri.joinPath(large, "tilefit.toml"));
  ok(await eventually(() => told(fits).includes("capacity-exceeded")), "one that goes no longer does", told(fits));
  ok(!told(overflows).includes("capacity-exceeded"), "and concerns its folder only", told(overflows));
};
