import * as vscode from "vscode";

/** Opens a kernel to try things on, in a document that no file is behind. */
export async function openSample(extension: vscode.Uri): Promise<void> {
  const file = vscode.Uri.joinPath(extension, "walkthrough", "sample.py");
  const content = new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ language: "python", content }));
}
