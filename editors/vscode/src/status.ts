import * as vscode from "vscode";

import { chosen } from "./settings";

/** Target, planner and health of the server, in the language status of Python documents. */
export class StatusItem implements vscode.Disposable {
  private readonly item: vscode.LanguageStatusItem;
  private readonly configuration: vscode.Disposable;

  constructor(documents: vscode.DocumentSelector) {
    this.item = vscode.languages.createLanguageStatusItem("tilelens", documents);
    this.item.name = "tilelens";
    this.showPlan();
    this.configuration = vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("tilelens")) {
        this.showPlan();
      }
    });
  }

  starting(): void {
    this.show(vscode.LanguageStatusSeverity.Information, "starting", openSettings);
  }

  running(version: string): void {
    this.show(vscode.LanguageStatusSeverity.Information, version, openSettings);
  }

  stopped(): void {
    this.show(vscode.LanguageStatusSeverity.Warning, "the server is not running", restart);
  }

  failed(reason: string): void {
    this.show(vscode.LanguageStatusSeverity.Error, reason, restart);
  }

  dispose(): void {
    this.configuration.dispose();
    this.item.dispose();
  }

  private show(severity: vscode.LanguageStatusSeverity, detail: string, command: vscode.Command): void {
    this.item.busy = detail === "starting";
    this.item.severity = severity;
    this.item.detail = detail;
    this.item.command = command;
  }

  private showPlan(): void {
    const plan = [chosen<string>("target") ?? "target of the project", chosen<string>("planner") ?? "planner of the project"];
    this.item.text = `tilelens: ${plan.join(", ")}`;
  }
}

const openSettings: vscode.Command = {
  title: "Settings",
  command: "workbench.action.openSettings",
  arguments: ["@ext:tilelens.tilelens"],
};

const restart: vscode.Command = { title: "Restart", command: "tilelens.restart" };
