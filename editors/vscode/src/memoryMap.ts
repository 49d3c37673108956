import * as vscode from "vscode";

import { shift } from "./lines";
import { allBoxes, boxesAt, contains, pictures } from "./mapModel";
import type { MemoryMapAnswer, Scale } from "./mapModel";
import type { FromPanel, ToPanel } from "./panelMessages";
import { memoryMap, watchMemoryMap } from "./protocol";
import type { MemoryMapChanged, MemoryMapParams } from "./protocol";
import { planners, targets } from "./schema";
import type { Session } from "./session";
import { choose } from "./settings";

/** What the panel shows. */
interface View {
  panel: vscode.WebviewPanel;
  source: vscode.TextDocument;
  /** A line of the kernel; edits above move it along. */
  anchor: number;
  width: number;
  /** For each picture. */
  height: number;
  scale: Scale;
  planner: string | undefined;
  target: string | undefined;
  answer?: MemoryMapAnswer;
}

/** The memory map of one kernel, beside its source: redrawn on every edit, on the kernel that the cursor is in. */
export class MemoryMapPanel implements vscode.Disposable {
  private view?: View;
  private readonly disposables: vscode.Disposable[];

  constructor(
    private readonly session: Session,
    private readonly extension: vscode.Uri,
  ) {
    this.disposables = [
      session.onDidChangeMemoryMap((changed) => this.draw(changed)),
      session.onDidStart(() => this.watch()),
      vscode.workspace.onDidChangeTextDocument((event) => this.follow(event)),
      vscode.workspace.onDidCloseTextDocument((document) => {
        if (this.view?.source === document) {
          this.view.panel.dispose();
        }
      }),
      vscode.window.onDidChangeTextEditorSelection((event) => this.markCursor(event.textEditor)),
      vscode.window.onDidChangeActiveTextEditor((editor) => editor && this.markCursor(editor)),
    ];
  }

  dispose(): void {
    this.view?.panel.dispose();
    this.disposables.forEach((disposable) => disposable.dispose());
  }

  /** From a lens with the arguments of the protocol, or from the palette for the cursor. */
  async show(uri?: string, position?: { line: number }): Promise<void> {
    const active = vscode.window.activeTextEditor;
    const source = uri ? await vscode.workspace.openTextDocument(vscode.Uri.parse(uri)) : active?.document;
    const anchor = position?.line ?? active?.selection.active.line;
    if (!source || anchor === undefined || source.languageId !== "python") {
      void vscode.window.showInformationMessage("tilefit: put the cursor into a kernel first");
      return;
    }
    if (this.view && this.view.source !== source) {
      this.unwatch(this.view);
    }
    const panel = this.view?.panel ?? this.open();
    const { width = 800, height = 500, scale = "own", planner, target } = this.view ?? {};
    this.view = { panel, source, anchor, width, height, scale, planner, target };
    panel.reveal(undefined, true);
    await this.watch();
  }

  private open(): vscode.WebviewPanel {
    const media = vscode.Uri.joinPath(this.extension, "dist", "webview");
    const panel = vscode.window.createWebviewPanel(
      "tilefit.memoryMap",
      "Memory map",
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { enableScripts: true, localResourceRoots: [media] },
    );
    panel.webview.html = page(panel.webview, media);
    panel.webview.onDidReceiveMessage((message: FromPanel) => this.hear(message));
    panel.onDidDispose(() => {
      if (this.view) {
        this.unwatch(this.view);
      }
      this.view = undefined;
    });
    return panel;
  }

  private params({ source, anchor, width, height, scale, planner, target }: View): MemoryMapParams {
    const position = { line: anchor, character: source.lineAt(anchor).firstNonWhitespaceCharacterIndex };
    const picture = { kind: "html" as const, width, height, scale };
    return { textDocument: { uri: source.uri.toString() }, position, planner, target, picture };
  }

  private async watch(): Promise<void> {
    const source = this.view?.source;
    const client = source && (await this.session.ready(source.uri));
    if (!client || this.view?.source !== source) {
      return;
    }
    await client.sendNotification(watchMemoryMap, this.params(this.view));
  }

  private unwatch({ source }: View): void {
    void this.session.ready(source.uri).then((client) =>
      client?.sendNotification(watchMemoryMap, { textDocument: { uri: source.uri.toString() } }),
    );
  }

  private draw(changed: MemoryMapChanged): void {
    const view = this.view;
    if (!view || vscode.Uri.parse(changed.uri).toString() !== view.source.uri.toString()) {
      return;
    }
    view.answer = changed;
    const { maps, changes } = changed;
    view.panel.title = maps[0] ? `Memory map: ${maps[0].kernel}` : "Memory map";
    this.tell({
      type: "map",
      html: maps.length > 0 ? pictures(maps) : "<p>There is no kernel in this file.</p>",
      planners,
      targets,
      planner: view.planner,
      target: view.target,
      set: changed.settings[0],
      scale: view.scale,
      canTry: maps.some((map) => map.down === "time"),
      changes,
    });
    const editor = vscode.window.visibleTextEditors.find((it) => it.document === view.source);
    if (editor) {
      this.markCursor(editor);
    }
  }

  private tell(message: ToPanel): void {
    void this.view?.panel.webview.postMessage(message);
  }

  private hear(message: FromPanel): void {
    const view = this.view;
    if (!view) {
      return;
    }
    switch (message.type) {
      case "jump":
        void this.jump(view, message.box);
        return;
      case "try":
        view.planner = message.planner;
        view.target = message.target;
        void this.watch();
        return;
      case "keep":
        void this.keep(view);
        return;
      case "scale":
        view.scale = message.scale;
        void this.watch();
        return;
      case "size":
        // The first one says that the panel is there; it has missed what was sent before.
        view.width = pixels(message.width);
        view.height = pixels(message.height);
        void this.watch();
    }
  }

  private async jump(view: View, box: number): Promise<void> {
    const tile = allBoxes(view.answer?.maps ?? [])[box]?.tiles[0];
    if (!tile) {
      return;
    }
    const { start, end } = tile.range;
    const selection = new vscode.Range(start.line, start.character, end.line, end.character);
    const shown = vscode.window.visibleTextEditors.find((it) => it.document === view.source);
    const viewColumn = shown?.viewColumn ?? vscode.ViewColumn.One;
    await vscode.window.showTextDocument(view.source, { selection, viewColumn });
  }

  /** Makes what is tried the setting. */
  private async keep(view: View): Promise<void> {
    for (const key of ["planner", "target"] as const) {
      const value = view[key];
      view[key] = undefined;
      if (value) {
        await choose(key, value, view.source.uri);
      }
    }
    await this.watch();
  }

  private follow(event: vscode.TextDocumentChangeEvent): void {
    const view = this.view;
    if (event.document !== view?.source) {
      return;
    }
    for (const { range, text } of event.contentChanges) {
      const removed = range.end.line - range.start.line;
      const added = text.split(/\r\n|\r|\n/).length - 1;
      view.anchor = shift(view.anchor, { line: range.start.line, removed, added });
    }
    view.anchor = Math.min(view.anchor, event.document.lineCount - 1);
  }

  /** Outlines the tile under the cursor. In another kernel, the map goes there. */
  private markCursor(editor: vscode.TextEditor): void {
    const view = this.view;
    if (!view || editor.document.languageId !== "python" || editor.document.uri.scheme === "tilefit-ir") {
      return;
    }
    const at = editor.selection.active;
    const maps = view.answer?.maps ?? [];
    if (editor.document === view.source && contains(maps, at.line)) {
      const range = editor.document.getWordRangeAtPosition(at);
      const word = range && editor.document.getText(range);
      this.tell({ type: "cursor", boxes: boxesAt(maps, at.line, word) });
    } else if (editor === vscode.window.activeTextEditor) {
      void this.visit(view, editor.document, at.line);
    }
  }

  /** Shows the kernel at a line, in another file also the nearest one; stays where there is none. */
  private async visit(view: View, source: vscode.TextDocument, line: number): Promise<void> {
    const client = await this.session.ready(source.uri);
    const asked = { ...view, source, anchor: Math.min(line, source.lineCount - 1) };
    const params = { ...this.params(asked), picture: undefined };
    const answer = await client?.sendRequest(memoryMap, params).catch(() => undefined);
    // In another file the kernel that is nearest to the cursor is shown; in the same one the map stays where it is between kernels.
    const isThere = answer && (source === view.source ? contains(answer.maps, line) : answer.maps.length > 0);
    if (!isThere || this.view !== view || vscode.window.activeTextEditor?.document !== source) {
      return;
    }
    if (view.source !== source) {
      this.unwatch(view);
    }
    [view.source, view.anchor] = [source, asked.anchor];
    await this.watch();
  }
}

/** As the server takes them. */
function pixels(length: number): number {
  return Math.max(0, Math.min(Math.round(length), 65_535));
}

function page(webview: vscode.Webview, media: vscode.Uri): string {
  const of = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(media, name)).toString();
  const policy = `default-src 'none'; style-src ${webview.cspSource}; script-src ${webview.cspSource}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="stylesheet" href="${of("map.css")}">
<title>Memory map</title>
</head>
<body>
<header>
<label>Planner <select id="planner"></select></label>
<label>Target <select id="target"></select></label>
<label title="A byte is as wide in every memory"><input type="checkbox" id="one-scale"> One scale</label>
<button id="keep" hidden>Apply to workspace settings</button>
<div id="compare" role="status"></div>
</header>
<main id="map" aria-label="Memory map. Arrow keys go from tile to tile, Enter goes to the source."></main>
<div id="tip" aria-hidden="true" hidden></div>
<script src="${of("map.js")}"></script>
</body>
</html>
`;
}
