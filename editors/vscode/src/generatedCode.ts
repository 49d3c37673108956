import * as vscode from "vscode";

import { below, fromGenerated, fromSource, shift } from "./lines";
import type { LineMatch } from "./lines";
import { allocatedIr, generatedCode, loweredIr } from "./protocol";
import type { GeneratedCodeResult, KernelIrResult } from "./protocol";
import type { BaseLanguageClient, RequestType, TextDocumentPositionParams } from "vscode-languageclient";
import type { Session } from "./session";

/** A text that the server makes of a kernel. */
interface Product {
  /** Of its documents. */
  scheme: string;
  /** What the name of the source gets instead of `.py`; decides the language. */
  extension: string;
  comment: string;
  title: string;
  /** Which kernels have it. */
  of: string;
  request: RequestType<TextDocumentPositionParams, GeneratedCodeResult | KernelIrResult | null, void>;
}

export const cpp: Product = {
  scheme: "tilefit-cpp",
  extension: ".cpp",
  comment: "//",
  title: "Show generated C++",
  of: "PyPTO kernels",
  request: generatedCode,
};

export const ir: Product = {
  scheme: "tilefit-ir",
  extension: ".ir.py",
  comment: "#",
  title: "Show allocated IR",
  of: "PyPTO kernels",
  request: allocatedIr,
};

export const mlir: Product = {
  scheme: "tilefit-mlir",
  extension: ".mlir",
  comment: "//",
  title: "Show lowered IR",
  of: "TLX kernels",
  request: loweredIr,
};

function at(client: BaseLanguageClient, source: vscode.TextDocument, line: number): TextDocumentPositionParams {
  const position = { line, character: source.lineAt(line).firstNonWhitespaceCharacterIndex };
  return { textDocument: { uri: client.code2ProtocolConverter.asUri(source.uri) }, position };
}

/** Two seconds, and then the next edit brings the text up to date. */
const maxAttempts = 200;

/** What is shown for one source document. */
interface View {
  /** Of the generated document. */
  uri: vscode.Uri;
  source: vscode.TextDocument;
  /** The line that was asked about; edits above move it along with its kernel. */
  anchor: number;
  map: LineMatch[];
}

/** Read-only documents with one product, each beside its source: same version of the text, same lines in sight. */
export class GeneratedCode implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly didChange = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.didChange.event;

  /** By the URI of the generated document. */
  private readonly views = new Map<string, View>();

  private readonly mark = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("tilefit.matchBackground"),
    border: "1px solid",
    borderColor: new vscode.ThemeColor("tilefit.matchBorder"),
    overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.rangeHighlightForeground"),
  });

  /** What the C++ of a source lacks, while it is shown. */
  private readonly gaps = vscode.languages.createDiagnosticCollection("tilefit C++");

  private readonly disposables: vscode.Disposable[];

  constructor(
    private readonly session: Session,
    private readonly product: Product,
  ) {
    this.disposables = [
      this.didChange,
      this.mark,
      this.gaps,
      vscode.workspace.registerTextDocumentContentProvider(product.scheme, this),
      vscode.workspace.onDidChangeTextDocument((event) => this.follow(event)),
      vscode.workspace.onDidCloseTextDocument((document) => this.close(document.uri)),
      vscode.window.onDidChangeTextEditorSelection((event) => this.markMatches(event.textEditor)),
      // A click into the other side can move its cursor before that side counts as active.
      vscode.window.onDidChangeActiveTextEditor(() => this.markActive()),
      vscode.window.onDidChangeTextEditorVisibleRanges((event) => this.scroll(event.textEditor)),
      session.onDidChangeAnswers(() => this.refresh()),
    ];
  }

  dispose(): void {
    this.disposables.forEach((disposable) => disposable.dispose());
  }

  private close(uri: vscode.Uri): void {
    const view = this.views.get(uri.toString());
    if (view) {
      this.views.delete(uri.toString());
      this.gaps.delete(view.source.uri);
    }
  }

  /** From a lens with the arguments of the protocol, or from the palette for the cursor. */
  async show(uri?: string, position?: { line: number }): Promise<void> {
    const active = vscode.window.activeTextEditor;
    const source = uri ? await vscode.workspace.openTextDocument(vscode.Uri.parse(uri)) : active?.document;
    const anchor = position?.line ?? active?.selection.active.line;
    if (!source || anchor === undefined || source.languageId !== "python" || source.uri.scheme === ir.scheme) {
      void vscode.window.showInformationMessage("tilefit: put the cursor into a kernel first");
      return;
    }
    if (!(await this.exists(source, anchor))) {
      const { title, of } = this.product;
      void vscode.window.showInformationMessage(`tilefit: "${title}" is for ${of}, and this file has none`);
      return;
    }
    const name = source.uri.path.replace(/^.*\//, "").replace(/\.py$/, "");
    const { scheme, extension } = this.product;
    const generated = vscode.Uri.from({ scheme, path: `/${name}${extension}`, query: source.uri.toString() });
    const view = this.views.get(generated.toString());
    if (view) {
      view.anchor = anchor;
      this.didChange.fire(generated);
    } else {
      this.views.set(generated.toString(), { uri: generated, source, anchor, map: [] });
    }
    const document = await vscode.workspace.openTextDocument(generated);
    await vscode.window.showTextDocument(document, {
      viewColumn: vscode.ViewColumn.Beside,
      preserveFocus: true,
      preview: false,
    });
    this.markActive();
  }

  /** Whether there is anything to show; what fails says so where it would be shown. */
  private async exists(source: vscode.TextDocument, line: number): Promise<boolean> {
    const client = await this.session.ready(source.uri);
    const answer = await client?.sendRequest(this.product.request, at(client, source, line)).catch(() => undefined);
    return answer !== null;
  }

  async provideTextDocumentContent(uri: vscode.Uri, token: vscode.CancellationToken): Promise<string> {
    const view = this.views.get(uri.toString());
    if (!view) {
      return `${this.product.comment} tilefit: run "${this.product.title}" again\n`; // a window that was restored after a restart
    }
    try {
      return await this.ask(view, token);
    } catch (error) {
      view.map = [];
      return `${this.product.comment} tilefit: ${error instanceof Error ? error.message : error}\n`;
    } finally {
      // For an answer with the same text and another map: a text that changes tells so itself.
      setTimeout(() => this.markActive(), 0);
    }
  }

  private async ask(view: View, token: vscode.CancellationToken): Promise<string> {
    const client = await this.session.ready(view.source.uri);
    if (!client) {
      throw new Error("the server is not running");
    }
    const { source } = view;
    const params = at(client, source, view.anchor);
    // Nothing orders this request after the edit that caused it: an answer about an older text is asked for again.
    for (let attempt = 0; ; attempt++) {
      const answer = await client.sendRequest(this.product.request, params, token);
      if (!answer) {
        view.map = [];
        this.gaps.delete(source.uri);
        return `${this.product.comment} tilefit: there is no kernel in this file\n`;
      }
      if (answer.version >= source.version || token.isCancellationRequested || attempt === maxAttempts) {
        view.map = answer.map.map(({ generatedLine, range }) => ({
          generated: generatedLine,
          first: range.start.line,
          last: range.end.line,
        }));
        if ("gaps" in answer && this.views.has(view.uri.toString())) {
          this.gaps.set(
            source.uri,
            answer.gaps.map(({ range, code, message }) => {
              const where = client.protocol2CodeConverter.asRange(range);
              const gap = new vscode.Diagnostic(where, message, vscode.DiagnosticSeverity.Hint);
              return Object.assign(gap, { source: "tilefit C++", code });
            }),
          );
        }
        return answer.text;
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  private follow(event: vscode.TextDocumentChangeEvent): void {
    if (event.document.uri.scheme === this.product.scheme) {
      this.markActive();
      return;
    }
    for (const view of this.views.values()) {
      if (view.source !== event.document || event.contentChanges.length === 0) {
        continue;
      }
      for (const { range, text } of event.contentChanges) {
        const removed = range.end.line - range.start.line;
        const added = text.split(/\r\n|\r|\n/).length - 1;
        view.anchor = shift(view.anchor, { line: range.start.line, removed, added });
      }
      view.anchor = Math.min(view.anchor, event.document.lineCount - 1);
      this.didChange.fire(view.uri);
    }
  }

  private refresh(): void {
    for (const view of this.views.values()) {
      this.didChange.fire(view.uri);
    }
  }

  /** The view that `editor` is one side of, and the editor of the other side. */
  private pair(editor: vscode.TextEditor): { view: View; other: vscode.TextEditor; inSource: boolean } | undefined {
    for (const view of this.views.values()) {
      const inSource = editor.document === view.source;
      if (!inSource && editor.document.uri.toString() !== view.uri.toString()) {
        continue;
      }
      const wanted = (inSource ? view.uri : view.source.uri).toString();
      const other = vscode.window.visibleTextEditors.find((it) => it.document.uri.toString() === wanted);
      if (other) {
        return { view, other, inSource };
      }
    }
    return undefined;
  }

  private markActive(): void {
    const editor = vscode.window.activeTextEditor;
    if (editor) {
      this.markMatches(editor);
    }
  }

  /** Marks what belongs to the cursor's line on both sides, and brings it into sight on the other. */
  private markMatches(editor: vscode.TextEditor): void {
    const pair = this.pair(editor);
    if (!pair || editor !== vscode.window.activeTextEditor) {
      return;
    }
    const line = editor.selection.active.line;
    const matches = pair.inSource ? fromSource(pair.view.map, line) : fromGenerated(pair.view.map, line);
    const inGenerated = matches.map(({ generated }) => new vscode.Range(generated, 0, generated, 0));
    // One statement has many lines of C++; marks on top of each other would add up to another colour.
    const sources = new Map(matches.map(({ first, last }) => [first, new vscode.Range(first, 0, last, 0)]));
    const inSource = [...sources.values()];
    editor.setDecorations(this.mark, pair.inSource ? inSource : inGenerated);
    const there = pair.inSource ? inGenerated : inSource;
    pair.other.setDecorations(this.mark, there);
    // A tile is declared at the top; what the statement does comes last.
    const target = there.at(-1);
    if (target) {
      pair.other.revealRange(target, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    }
  }

  /** Only the active side leads, so that the two do not chase each other. */
  private scroll(editor: vscode.TextEditor): void {
    const top = editor.visibleRanges[0]?.start.line;
    const pair = this.pair(editor);
    if (!pair || top === undefined || editor !== vscode.window.activeTextEditor) {
      return;
    }
    const match = below(pair.view.map, pair.inSource ? "first" : "generated", top);
    if (match) {
      const line = pair.inSource ? match.generated : match.first;
      pair.other.revealRange(new vscode.Range(line, 0, line, 0), vscode.TextEditorRevealType.AtTop);
    }
  }
}
