import * as vscode from "vscode";

import { ConfigurationsPanel } from "./configurations";
import { DiagnosticPages } from "./diagnosticPages";
import { GeneratedCode, cpp, ir, mlir } from "./generatedCode";
import { MemoryMapPanel } from "./memoryMap";
import type { Runtime } from "./runtime";
import { openSample } from "./sample";
import { Session } from "./session";
import { switchPlan } from "./status";

/** Everything that the extension has in every place; what only one of them has, its `main.ts` adds before it starts the session. */
export function begin(context: vscode.ExtensionContext, runtime: Runtime): Session {
  const current = new Session(runtime);
  const generated = new GeneratedCode(current, cpp);
  const allocated = new GeneratedCode(current, ir);
  const lowered = new GeneratedCode(current, mlir);
  const map = new MemoryMapPanel(current, context.extensionUri);
  const configurations = new ConfigurationsPanel(current, context.extensionUri);
  context.subscriptions.push(
    current,
    new DiagnosticPages(current),
    generated,
    allocated,
    lowered,
    map,
    configurations,
    vscode.commands.registerCommand("tilefit.restart", () => current.restart()),
    vscode.commands.registerCommand("tilefit.switch", switchPlan),
    vscode.commands.registerCommand("tilefit.openSample", () => openSample(context.extensionUri)),
    vscode.commands.registerCommand("tilefit.showTrace", () => current.trace.show()),
    vscode.commands.registerCommand("tilefit.showOutput", () => current.output.show()),
    vscode.commands.registerCommand("tilefit.showGeneratedCode", (uri?: string, position?: vscode.Position) =>
      generated.show(uri, position),
    ),
    vscode.commands.registerCommand("tilefit.showAllocatedIr", (uri?: string, position?: vscode.Position) =>
      allocated.show(uri, position),
    ),
    vscode.commands.registerCommand("tilefit.showLoweredIr", (uri?: string, position?: vscode.Position) =>
      lowered.show(uri, position),
    ),
    vscode.commands.registerCommand("tilefit.showMemoryMap", (uri?: string, position?: vscode.Position) =>
      map.show(uri, position),
    ),
    vscode.commands.registerCommand("tilefit.showConfigurations", (uri?: string, position?: vscode.Position) =>
      configurations.show(uri, position),
    ),
    vscode.workspace.onDidGrantWorkspaceTrust(() => current.restart()),
    vscode.workspace.onDidChangeWorkspaceFolders(() => current.restart()),
  );
  return current;
}
