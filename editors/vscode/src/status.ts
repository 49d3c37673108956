import * as vscode from "vscode";

import { servedBy } from "./folders";
import type { SettingSource, SettingsInForce } from "./protocol";
import { planners, targets } from "./schema";
import { choose, chosen } from "./settings";

/** Target, planner and health of the server, in the status bar while a kernel is in sight. A click switches. */
export class StatusItem implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("tilefit.status", vscode.StatusBarAlignment.Right, 90);
  private readonly disposables: vscode.Disposable[];
  private icon = "$(layers)";
  private detail = "starting";
  private background?: vscode.ThemeColor;
  /** Of each server that runs, once it has said so. */
  private settings: { folder?: vscode.WorkspaceFolder; inForce: SettingsInForce }[] = [];

  constructor() {
    this.item.name = "tilefit";
    this.item.command = "tilefit.switch";
    this.disposables = [
      vscode.window.onDidChangeActiveTextEditor(() => this.show()),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document === vscode.window.activeTextEditor?.document) {
          this.show();
        }
      }),
    ];
    void vscode.commands.executeCommand("setContext", "tilefit.active", true);
    this.show();
  }

  inForce(inForce: SettingsInForce, folder?: vscode.WorkspaceFolder): void {
    this.settings = [...this.settings.filter((one) => one.folder !== folder), { folder, inForce }];
    this.show();
  }

  starting(): void {
    this.settings = [];
    this.become("$(loading~spin)", "starting");
  }

  running(version: string): void {
    this.become("$(layers)", version);
  }

  stopped(): void {
    this.settings = [];
    this.become("$(warning)", "the server is not running", "statusBarItem.warningBackground");
  }

  failed(reason: string): void {
    this.settings = [];
    this.become("$(error)", reason, "statusBarItem.errorBackground");
  }

  dispose(): void {
    void vscode.commands.executeCommand("setContext", "tilefit.active", false);
    this.disposables.forEach((disposable) => disposable.dispose());
    this.item.dispose();
  }

  private become(icon: string, detail: string, background?: string): void {
    this.icon = icon;
    this.detail = detail;
    this.background = background ? new vscode.ThemeColor(background) : undefined;
    this.show();
  }

  /** The settings that kernels of a language are planned under, and where each comes from. */
  private plan(uri: vscode.Uri | undefined, language: Language | undefined): { key: string; value: string; from: SettingSource }[] {
    const settings = servedBy(this.settings, uri);
    if (!settings) {
      return [];
    }
    const { target, planner, arch, from } = settings.inForce;
    const ofNpu = [
      { key: "target", value: target, from: from.target },
      { key: "planner", value: planner, from: from.planner },
    ];
    return language === "pypto" ? ofNpu : [{ key: "GPU", value: arch, from: from.arch }];
  }

  private show(): void {
    const document = vscode.window.activeTextEditor?.document;
    const language = document && kernelsOf(document);
    void vscode.commands.executeCommand("setContext", "tilefit.hasKernels", language !== undefined);
    void vscode.commands.executeCommand("setContext", "tilefit.kernels", language);
    const inForce = this.plan(document?.uri, language);
    this.item.text = `${this.icon} ${inForce.map(({ value }) => value).join(", ") || "tilefit"}`;
    this.item.backgroundColor = this.background;
    const shown = (from: SettingSource) => (from === "settings" ? "your settings" : from);
    const plan = inForce.map(({ key, value, from }) => `* ${key}: ${value} (${shown(from)})\n`).join("");
    const tooltip = new vscode.MarkdownString(
      `**tilefit**: ${this.detail}\n\n${plan}\nA click switches planner or target.\n\n` +
        "[Restart](command:tilefit.restart) · [Output](command:tilefit.showOutput) · [Memory map](command:tilefit.showMemoryMap)",
    );
    tooltip.isTrusted = { enabledCommands: ["tilefit.restart", "tilefit.showOutput", "tilefit.showMemoryMap"] };
    this.item.tooltip = tooltip;
    this.item.accessibilityInformation = {
      label: `tilefit: ${inForce.map(({ key, value }) => `${key} ${value}`).join(", ") || this.detail}`,
    };
    if (language) {
      this.item.show();
    } else {
      this.item.hide();
    }
  }
}

type Language = "pypto" | "tlx" | "triton";

/** Kernels import one of these or are decorated, and dumps name memory. `triton` is Gluon, too. */
function kernelsOf(document: vscode.TextDocument): Language | undefined {
  const text = document.languageId === "python" ? document.getText(new vscode.Range(0, 0, 200, 0)) : "";
  if (/\b(pypto|MemRef|pl\.program)\b/.test(text)) {
    return "pypto";
  }
  if (/\btlx\b/.test(text)) {
    return "tlx";
  }
  return /\bgluon\b|@triton\.(jit|autotune|heuristics)\b/.test(text) ? "triton" : undefined;
}

/** The click on the status item: another planner or target, and what else there is to do. */
export async function switchPlan(): Promise<void> {
  const scope = vscode.window.activeTextEditor?.document.uri;
  const choices = (key: string, names: string[]): (vscode.QuickPickItem & { run?: () => unknown })[] => {
    const now = chosen<string>(key, scope);
    const entry = (value: string | undefined) => ({
      label: `${value === now ? "$(check)" : "$(blank)"} ${value ?? "project or default"}`,
      description: key,
      run: () => choose(key, value, scope),
    });
    return [{ label: key, kind: vscode.QuickPickItemKind.Separator }, ...[undefined, ...names].map(entry)];
  };
  const command = (label: string, id: string) => ({ label, run: () => vscode.commands.executeCommand(id) });
  const items = [
    ...choices("planner", planners),
    ...choices("target", targets),
    { label: "", kind: vscode.QuickPickItemKind.Separator },
    command("$(layers) Show memory map", "tilefit.showMemoryMap"),
    command("$(debug-restart) Restart server", "tilefit.restart"),
    command("$(output) Show output", "tilefit.showOutput"),
  ];
  const picked = await vscode.window.showQuickPick(items, { title: "tilefit", matchOnDescription: true });
  await picked?.run?.();
}
