import * as vscode from "vscode";

import type { SettingsInForce } from "./protocol";
import { planners, targets } from "./schema";
import { choose, chosen } from "./settings";

/** Target, planner and health of the server, in the status bar while a kernel is in sight. A click switches. */
export class StatusItem implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("tilefit.status", vscode.StatusBarAlignment.Right, 90);
  private readonly disposables: vscode.Disposable[];
  private icon = "$(layers)";
  private detail = "starting";
  private background?: vscode.ThemeColor;
  /** Of the server that runs, once it has said so. */
  private settings?: SettingsInForce;

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

  inForce(settings: SettingsInForce): void {
    this.settings = settings;
    this.show();
  }

  starting(): void {
    this.settings = undefined;
    this.become("$(loading~spin)", "starting");
  }

  running(version: string): void {
    this.become("$(layers)", version);
  }

  stopped(): void {
    this.settings = undefined;
    this.become("$(warning)", "the server is not running", "statusBarItem.warningBackground");
  }

  failed(reason: string): void {
    this.settings = undefined;
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

  /** The settings that kernels of a language are planned under. */
  private plan(language: "pypto" | "tlx" | undefined): Record<string, string> {
    if (!this.settings) {
      return {};
    }
    const { target, planner, arch } = this.settings;
    return language === "tlx" ? { "tlx.arch": arch } : { target, planner };
  }

  private show(): void {
    const document = vscode.window.activeTextEditor?.document;
    const language = document && kernelsOf(document);
    void vscode.commands.executeCommand("setContext", "tilefit.hasKernels", language !== undefined);
    const inForce = Object.entries(this.plan(language));
    this.item.text = `${this.icon} ${inForce.map(([, value]) => value).join(", ") || "tilefit"}`;
    this.item.backgroundColor = this.background;
    const from = (key: string) => (chosen(key, document?.uri) === undefined ? "as the project says" : "by your settings");
    const plan = inForce.map(([key, value]) => `* ${key}: ${value}, ${from(key)}\n`).join("");
    const tooltip = new vscode.MarkdownString(
      `**tilefit**: ${this.detail}\n\n${plan}\nA click switches planner or target.\n\n` +
        "[Restart](command:tilefit.restart) · [Output](command:tilefit.showOutput) · [Memory map](command:tilefit.showMemoryMap)",
    );
    tooltip.isTrusted = { enabledCommands: ["tilefit.restart", "tilefit.showOutput", "tilefit.showMemoryMap"] };
    this.item.tooltip = tooltip;
    this.item.accessibilityInformation = {
      label: `tilefit: ${inForce.map((setting) => setting.join(" ")).join(", ") || this.detail}`,
    };
    if (language) {
      this.item.show();
    } else {
      this.item.hide();
    }
  }
}

/** Kernels import one of these or are decorated, and dumps name memory. Plain Triton and Gluon have the settings of TLX. */
function kernelsOf(document: vscode.TextDocument): "pypto" | "tlx" | undefined {
  const text = document.languageId === "python" ? document.getText(new vscode.Range(0, 0, 200, 0)) : "";
  if (/\b(pypto|MemRef|pl\.program)\b/.test(text)) {
    return "pypto";
  }
  return /\b(tlx|gluon)\b|@triton\.(jit|autotune|heuristics)\b/.test(text) ? "tlx" : undefined;
}

/** The click on the status item: another planner or target, and what else there is to do. */
export async function switchPlan(): Promise<void> {
  const scope = vscode.window.activeTextEditor?.document.uri;
  const choices = (key: string, names: string[]): (vscode.QuickPickItem & { run?: () => unknown })[] => {
    const now = chosen<string>(key, scope);
    const entry = (value: string | undefined) => ({
      label: `${value === now ? "$(check)" : "$(blank)"} ${value ?? "as the project says"}`,
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
