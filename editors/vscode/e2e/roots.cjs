// Runs inside of the extension host, in a window with two folders: each has the settings of its own file.

const path = require("node:path");
const vscode = require("vscode");

const { eventually, ok, report } = require("./tap.cjs");

const [large, small] = vscode.workspace.workspaceFolders.map(({ uri }) => uri);

exports.run = async () => {
  report(path.dirname(large.fsPath));
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
