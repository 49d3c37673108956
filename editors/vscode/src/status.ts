import * as vscode from "vscode";

import { servedBy } from "./folders";
import type { KernelPlannedFor, SettingSource, SettingsInForce } from "./protocol";
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
  /** What the kernels of the document in sight are planned for, as the server said last. */
  private planned: { uri: string; kernels: KernelPlannedFor[] } = { uri: "", kernels: [] };
  private looks: { uri: string; version: number; like?: Language } = { uri: "", version: 0 };
  private waiting?: ReturnType<typeof setTimeout>;

  /** `ask` is undefined where the server has no answer now. */
  constructor(private readonly ask: (document: vscode.TextDocument) => Promise<KernelPlannedFor[] | undefined>) {
    this.item.name = "tilefit";
    this.item.command = "tilefit.switch";
    this.disposables = [
      vscode.window.onDidChangeActiveTextEditor(() => this.changed()),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
        if (textEditor === vscode.window.activeTextEditor) {
          this.show();
        }
      }),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document === vscode.window.activeTextEditor?.document) {
          this.changed();
        }
      }),
    ];
    void vscode.commands.executeCommand("setContext", "tilefit.active", true);
    this.show();
  }

  inForce(inForce: SettingsInForce, folder?: vscode.WorkspaceFolder): void {
    this.settings = [...this.settings.filter((one) => one.folder !== folder), { folder, inForce }];
    this.changed();
  }

  /** What kernels are planned for may be something else now. */
  changed(): void {
    this.show();
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => void this.learn(), pause);
  }

  private async learn(): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    if (document?.languageId !== "python") {
      return;
    }
    const kernels = await this.ask(document);
    if (kernels && document === vscode.window.activeTextEditor?.document) {
      this.planned = { uri: document.uri.toString(), kernels };
      this.show();
    }
  }

  /** As the text looks until the server says that it has kernels, which may come from decorators of any name. */
  private language(document: vscode.TextDocument): Language | undefined {
    const { uri, version } = document;
    if (this.looks.uri !== uri.toString() || this.looks.version !== version) {
      this.looks = { uri: uri.toString(), version, like: kernelsOf(document) };
    }
    const hasKernels = this.planned.uri === uri.toString() && this.planned.kernels.length > 0;
    return this.looks.like ?? (hasKernels ? "triton" : undefined);
  }

  /** The kernel at the cursor, else the last one above it, else the first. */
  private kernel(editor: vscode.TextEditor | undefined): KernelPlannedFor | undefined {
    if (!editor || this.planned.uri !== editor.document.uri.toString()) {
      return undefined;
    }
    const line = editor.selection.active.line;
    const { kernels } = this.planned;
    return kernels.findLast(({ range }) => range.start.line <= line) ?? kernels[0];
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
    clearTimeout(this.waiting);
    this.disposables.forEach((disposable) => disposable.dispose());
    this.item.dispose();
  }

  private become(icon: string, detail: string, background?: string): void {
    this.icon = icon;
    this.detail = detail;
    this.background = background ? new vscode.ThemeColor(background) : undefined;
    this.show();
  }

  /** What the kernel at the cursor is planned for, and who says so; before that is known, what the settings are. */
  private plan(editor: vscode.TextEditor | undefined, language: Language | undefined): Part[] {
    const kernel = this.kernel(editor);
    if (kernel && language !== "pypto") {
      const from = kernel.assumed ? `assumed: nothing names the device of \`${kernel.kernel}\`` : `of \`${kernel.kernel}\``;
      return [{ key: "GPU", value: kernel.target, from, mark: kernel.assumed ? " (assumed)" : "" }];
    }
    const settings = servedBy(this.settings, editor?.document.uri);
    if (!settings) {
      return [];
    }
    const { target, planner, arch, from } = settings.inForce;
    const part = (key: string, value: string, source: SettingSource): Part => {
      return { key, value, from: source === "settings" ? "your settings" : source, mark: "" };
    };
    const ofNpu = [part("target", target, from.target), part("planner", planner, from.planner)];
    return language === "pypto" ? ofNpu : [part("GPU", arch, from.arch)];
  }

  private show(): void {
    const editor = vscode.window.activeTextEditor;
    const language = editor && this.language(editor.document);
    void vscode.commands.executeCommand("setContext", "tilefit.hasKernels", language !== undefined);
    void vscode.commands.executeCommand("setContext", "tilefit.kernels", language);
    const inForce = this.plan(editor, language);
    this.item.text = `${this.icon} ${inForce.map(({ value, mark }) => value + mark).join(", ") || "tilefit"}`;
    this.item.backgroundColor = this.background;
    const plan = inForce.map(({ key, value, from }) => `* ${key}: ${value} (${from})\n`).join("");
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

/** After an edit the server is asked what the kernels are planned for, in milliseconds. */
const pause = 300;

/** A part of what a kernel is planned for, and who says so. */
interface Part {
  key: string;
  value: string;
  from: string;
  /** After the value, in the status bar. */
  mark: string;
}

type Language = "pypto" | "tlx" | "triton";

/** Kernels import one of these or are decorated, and dumps name memory. `triton` is Gluon, too. */
function kernelsOf(document: vscode.TextDocument): Language | undefined {
  const text = document.languageId === "python" ? document.getText() : "";
  if (/\b(pypto|MemRef|pl\.program)\b/.test(text)) {
    return "pypto";
  }
  if (/\btlx\b/.test(text)) {
    return "tlx";
  }
  return /\bgluon\b|\btilelang\b|@triton\.(jit|autotune|heuristics)\b/.test(text) ? "triton" : undefined;
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
