import * as vscode from "vscode";

import { GeneratedCode, cpp, ir, mlir } from "./generatedCode";
import { Session } from "./session";

let session: Session | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const current = new Session(context);
  session = current;
  const generated = new GeneratedCode(current, cpp);
  const allocated = new GeneratedCode(current, ir);
  const lowered = new GeneratedCode(current, mlir);
  context.subscriptions.push(
    current,
    generated,
    allocated,
    lowered,
    vscode.commands.registerCommand("tilelens.restart", () => current.restart()),
    vscode.commands.registerCommand("tilelens.showOutput", () => current.output.show()),
    vscode.commands.registerCommand("tilelens.showGeneratedCode", (uri?: string, position?: vscode.Position) =>
      generated.show(uri, position),
    ),
    vscode.commands.registerCommand("tilelens.showAllocatedIr", (uri?: string, position?: vscode.Position) =>
      allocated.show(uri, position),
    ),
    vscode.commands.registerCommand("tilelens.showLoweredIr", (uri?: string, position?: vscode.Position) =>
      lowered.show(uri, position),
    ),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("tilelens.server.path")) {
        void current.restart();
      }
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => current.restart()),
  );
  await current.start();
}

export async function deactivate(): Promise<void> {
  await session?.stop();
}
