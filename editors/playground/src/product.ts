/** What a kernel becomes: generated C++, or the IR of a kernel that has none. */

import type { LSPClient } from "@codemirror/lsp-client";
import { Compartment } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import type * as lsp from "vscode-languageserver-protocol";

import { fromGenerated, fromSource } from "../../vscode/src/lines";
import type { LineMatch } from "../../vscode/src/lines";
import { reader } from "./editors";
import { markLines } from "./marks";

/** Asked in this order; the first that has an answer is shown. */
const kinds = [
  { request: "tilefit/generatedCode", title: "Generated C++" },
  { request: "tilefit/loweredIr", title: "Lowered IR" },
];

interface Made {
  kernel: string;
  language: "cpp" | "mlir";
  text: string;
  map: { generatedLine: number; range: lsp.Range }[];
}

export class Product {
  private readonly view: EditorView;
  private readonly language = new Compartment();
  /** Of the text, whose colours may still be loading. */
  private shown?: Made["language"];
  private map: LineMatch[] = [];
  /** Asked while another answer was on its way. */
  private again?: lsp.TextDocumentPositionParams;
  private isAsking = false;

  /** `chosen` hears of source lines, when the reader goes to a line that is made of them. */
  constructor(
    host: HTMLElement,
    private readonly title: HTMLElement,
    private readonly client: LSPClient,
    chosen: (lines: number[]) => void,
  ) {
    this.view = reader(host, "Generated code", [
      this.language.of([]),
      EditorView.updateListener.of(({ view, selectionSet }) => {
        if (selectionSet && view.hasFocus) {
          const line = view.state.doc.lineAt(view.state.selection.main.head).number - 1;
          const matches = fromGenerated(this.map, line);
          chosen(matches.flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, index) => first + index)));
        }
      }),
    ]);
  }

  /** Shows what the kernel at a place becomes, of the newest text. */
  async show(at: lsp.TextDocumentPositionParams): Promise<void> {
    if (this.isAsking) {
      this.again = at;
      return;
    }
    this.isAsking = true;
    try {
      for (let next: lsp.TextDocumentPositionParams | undefined = at; next; next = this.again) {
        this.again = undefined;
        await this.ask(next);
      }
    } finally {
      this.isAsking = false;
    }
    this.mark(at.position.line);
  }

  /** Marks what the source line becomes. */
  mark(line: number): void {
    if (!this.view.hasFocus) {
      markLines(this.view, fromSource(this.map, line).map(({ generated }) => generated), true);
    }
  }

  private async ask(at: lsp.TextDocumentPositionParams): Promise<void> {
    for (const { request, title } of kinds) {
      const made = await this.client.request<lsp.TextDocumentPositionParams, Made | null>(request, at).catch(() => null);
      if (made) {
        this.title.textContent = `${title} of ${made.kernel}`;
        this.put(made.text, made);
        return;
      }
    }
    this.title.textContent = "Generated code";
    this.put("", undefined);
  }

  private put(text: string, made: Made | undefined): void {
    this.map = (made?.map ?? []).map(({ generatedLine, range }) => ({ generated: generatedLine, first: range.start.line, last: range.end.line }));
    const old = this.view.state.doc.toString();
    // What stays the same stays where it is on the screen.
    let start = 0;
    while (start < old.length && start < text.length && old[start] === text[start]) {
      start++;
    }
    let end = 0;
    while (end < old.length - start && end < text.length - start && old.at(-1 - end) === text.at(-1 - end)) {
      end++;
    }
    this.view.dispatch({
      changes: { from: start, to: old.length - end, insert: text.slice(start, text.length - end) },
    });
    void this.colour(made?.language).catch(() => (this.shown = undefined)); // without a network it has none
  }

  /** The grammar of C++ is a sixth of the scripts: it is loaded when there is C++. */
  private async colour(language: Made["language"] | undefined): Promise<void> {
    if (language === this.shown) {
      return;
    }
    this.shown = language;
    const grammar = language === "cpp" ? (await import("@codemirror/lang-cpp")).cpp() : [];
    if (language === this.shown) {
      this.view.dispatch({ effects: this.language.reconfigure(grammar) });
    }
  }
}
