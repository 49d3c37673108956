/** Lenses: above a kernel, how full each memory is. */

import { Decoration, WidgetType } from "@codemirror/view";
import type * as lsp from "vscode-languageserver-protocol";

import { widgets } from "./widgets";

/** The one with the bars; what the others lead to is on the page anyway. */
const command = "tilefit.showMemoryMap";

class Lens extends WidgetType {
  constructor(
    private readonly title: string,
    private readonly indent: string,
  ) {
    super();
  }

  override eq(other: Lens): boolean {
    return this.title === other.title && this.indent === other.indent;
  }

  override toDOM(): HTMLElement {
    return Object.assign(document.createElement("div"), { className: "lens", textContent: `${this.indent}${this.title}` });
  }
}

export const lenses = widgets<lsp.CodeLensParams, lsp.CodeLens>(
  "textDocument/codeLens",
  (plugin) => ({ textDocument: { uri: plugin.uri } }),
  (lens, plugin) => {
    if (lens.command?.command !== command) {
      return [];
    }
    const line = plugin.view.state.doc.lineAt(plugin.fromPosition(lens.range.start));
    const indent = /^\s*/.exec(line.text)?.[0] ?? "";
    return [Decoration.widget({ widget: new Lens(lens.command.title, indent), block: true, side: -1 }).range(line.from)];
  },
);
