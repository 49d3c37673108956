import * as vscode from "vscode";
import { LSPErrorCodes, ResponseError } from "vscode-languageclient";

import { kernelAt } from "./configurationsModel";
import type { ConfigurationsAnswer } from "./configurationsModel";
import { shift } from "./lines";
import type { FromConfigurations, ToConfigurations } from "./panelMessages";
import { configurations } from "./protocol";
import type { Session } from "./session";

/** Between an edit and the request: a number is typed to its end first. */
const pause = 300;

/** Between two requests for the same text; edits that overtake the last attempt ask anew themselves. */
const retry = 100;
const maxAttempts = 50;

/** What the panel shows. */
interface View {
  panel: vscode.WebviewPanel;
  source: vscode.TextDocument;
  /** A line of the kernel; edits above move it along. */
  anchor: number;
  /** The kernel that is shown, by which it is found again while its line is edited. */
  kernel?: string;
  answer?: ConfigurationsAnswer;
  /** Why there is no table, or an old one. */
  note: string;
}

/** The configurations of one kernel on all devices, beside its source. */
export class ConfigurationsPanel implements vscode.Disposable {
  private view?: View;
  private waiting?: ReturnType<typeof setTimeout>;
  /** Counts the reasons to ask: an answer to an older one is dropped. */
  private turn = 0;
  private readonly disposables: vscode.Disposable[];

  constructor(
    private readonly session: Session,
    private readonly extension: vscode.Uri,
  ) {
    this.disposables = [
      session.onDidChangeAnswers(() => this.askSoon()),
      vscode.workspace.onDidChangeTextDocument((event) => this.follow(event)),
      // What others than the text change, a confirmation or a file that is imported, comes with diagnostics.
      vscode.languages.onDidChangeDiagnostics(({ uris }) => {
        const source = this.view?.source.uri.toString();
        if (uris.some((uri) => uri.toString() === source)) {
          this.askSoon();
        }
      }),
      vscode.workspace.onDidCloseTextDocument((document) => {
        if (this.view?.source === document) {
          this.view.panel.dispose();
        }
      }),
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
    const anchor = position?.line ?? (active?.document === source ? active?.selection.active.line : 0);
    if (!source || anchor === undefined || source.languageId !== "python") {
      void vscode.window.showInformationMessage("tilefit: put the cursor into a kernel first");
      return;
    }
    const panel = this.view?.panel ?? this.open();
    // Another kernel of the same file needs no other answer.
    const answer = this.view?.source === source ? this.view.answer : undefined;
    this.view = { panel, source, anchor, answer, note: "" };
    panel.reveal(undefined, true);
    this.draw();
    await this.ask();
  }

  private open(): vscode.WebviewPanel {
    const media = vscode.Uri.joinPath(this.extension, "dist", "webview");
    const panel = vscode.window.createWebviewPanel(
      "tilefit.configurations",
      "Configurations",
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { enableScripts: true, localResourceRoots: [media] },
    );
    panel.webview.html = page(panel.webview, media);
    panel.webview.onDidReceiveMessage((message: FromConfigurations) => this.hear(message));
    panel.onDidDispose(() => {
      clearTimeout(this.waiting);
      this.turn++;
      this.view = undefined;
    });
    return panel;
  }

  private askSoon(): void {
    clearTimeout(this.waiting);
    if (this.view) {
      this.waiting = setTimeout(() => void this.ask(), pause);
    }
  }

  private async ask(): Promise<void> {
    clearTimeout(this.waiting);
    const turn = ++this.turn;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const view = this.view;
      if (!view) {
        return;
      }
      const answer = await this.answer(view.source);
      if (turn !== this.turn || this.view !== view) {
        return;
      }
      if (typeof answer === "string") {
        view.note = answer;
        this.draw();
        return;
      }
      if (answer && answer.version >= view.source.version) {
        [view.answer, view.note] = [answer, ""];
        this.draw();
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, retry));
      if (turn !== this.turn) {
        return;
      }
    }
  }

  /** Undefined when an edit overtook the request; text says why there is no answer. */
  private async answer(source: vscode.TextDocument): Promise<ConfigurationsAnswer | string | undefined> {
    try {
      const client = await this.session.ready(source.uri);
      const textDocument = { uri: source.uri.toString() };
      return client ? await client.sendRequest(configurations, { textDocument }) : "The server is not running.";
    } catch (error) {
      if (error instanceof ResponseError && error.code === LSPErrorCodes.ContentModified) {
        return undefined;
      }
      this.session.output.info(`no configurations: ${error}`);
      return "The server does not answer.";
    }
  }

  private draw(): void {
    const view = this.view;
    if (!view) {
      return;
    }
    const { panel, source, answer } = view;
    const kernels = answer?.kernels ?? [];
    const shown = kernelAt(kernels, view.anchor, view.kernel);
    if (shown && answer?.version === source.version) {
      [view.anchor, view.kernel] = [shown.line - 1, shown.kernel];
    }
    panel.title = shown ? `Configurations: ${shown.kernel}` : "Configurations";
    const none = answer ? "There is no kernel with configurations in this file." : "Asking …";
    const message: ToConfigurations = {
      kernels: kernels.map(({ kernel, line }) => ({ kernel, line })),
      shown,
      file: vscode.workspace.asRelativePath(source.uri, false),
      note: view.note || (shown ? "" : none),
    };
    void panel.webview.postMessage(message);
  }

  private hear(message: FromConfigurations): void {
    const view = this.view;
    if (!view) {
      return;
    }
    switch (message.type) {
      case "ready":
        // Also after it was hidden; it has missed what was sent before.
        this.draw();
        return;
      case "kernel":
        [view.anchor, view.kernel] = [message.line - 1, message.kernel];
        this.draw();
        return;
      case "copy":
        void vscode.env.clipboard.writeText(message.csv);
        vscode.window.setStatusBarMessage("tilefit: the table is in the clipboard", 3_000);
    }
  }

  private follow(event: vscode.TextDocumentChangeEvent): void {
    const view = this.view;
    if (event.document !== view?.source || event.contentChanges.length === 0) {
      return;
    }
    for (const { range, text } of event.contentChanges) {
      const removed = range.end.line - range.start.line;
      const added = text.split(/\r\n|\r|\n/).length - 1;
      view.anchor = shift(view.anchor, { line: range.start.line, removed, added });
    }
    view.anchor = Math.min(view.anchor, event.document.lineCount - 1);
    this.askSoon();
  }
}

function page(webview: vscode.Webview, media: vscode.Uri): string {
  const of = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(media, name)).toString();
  const policy = `default-src 'none'; style-src ${webview.cspSource}; script-src ${webview.cspSource}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="stylesheet" href="${of("configurations.css")}">
<title>Configurations</title>
</head>
<body>
<header>
<label hidden>Kernel <select id="kernel"></select></label>
<button id="copy" hidden>Copy as CSV</button>
</header>
<p id="note" role="status"></p>
<main id="configurations"></main>
<script src="${of("configurations.js")}"></script>
</body>
</html>
`;
}
