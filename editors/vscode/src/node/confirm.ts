import * as vscode from "vscode";

import type { Session } from "../session";
import { chosen } from "../settings";

const ALLOW = "Allow";

/** Has the server ask the compiler about the file of the active editor, once the user has allowed it. */
export async function confirmFile(session: Session): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.languageId !== "python") {
    void vscode.window.showInformationMessage("tilefit: open a file with kernels first");
    return;
  }
  if (!(await allowed())) {
    return;
  }
  // The compiler reads what is on disk.
  await editor.document.save();
  const client = await session.ready(editor.document.uri);
  const { line, character } = editor.selection.active;
  await client?.sendRequest("workspace/executeCommand", {
    command: "tilefit.confirm",
    arguments: [editor.document.uri.toString(), { line, character }],
  });
}

async function allowed(): Promise<boolean> {
  if ((chosen<string>("confirm") ?? "never") !== "never") {
    return true;
  }
  const detail =
    "The compiler imports the file, as running its tests does. It runs in a process of its own, with limits on time and memory.";
  const answer = await vscode.window.showWarningMessage(
    "Let tilefit run the compiler that is installed?",
    { modal: true, detail },
    ALLOW,
  );
  if (answer !== ALLOW) {
    return false;
  }
  await vscode.workspace.getConfiguration("tilefit").update("confirm", "command", vscode.ConfigurationTarget.Global);
  return true;
}
