/** The extension where there is a machine: the server is a program, which reads files and can ask the compiler that is installed. */

import * as vscode from "vscode";

import { begin } from "../extension";
import type { Session } from "../session";
import { pythonExtension } from "../settings";
import { confirmFile } from "./confirm";
import { findServer } from "./server";

let session: Session | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const current = begin(context, { findServer: (log) => findServer(context, log) });
  session = current;
  context.subscriptions.push(
    vscode.commands.registerCommand("tilefit.confirmFile", () => confirmFile(current)),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("tilefit.server.path")) {
        void current.restart();
      }
    }),
    current.onDidFindNone(() => restartInAnotherEnvironment(current)),
  );
  await current.start();
}

export async function deactivate(): Promise<void> {
  await session?.stop();
}

/** Once: it may have a server. */
async function restartInAnotherEnvironment(session: Session): Promise<void> {
  const environments = await pythonExtension();
  const changed = environments?.onDidChangeActiveEnvironmentPath(() => {
    changed?.dispose();
    void session.restart();
  });
}
