/** Inlay hints: where tiles lie, beside their names. */

import { Decoration, WidgetType } from "@codemirror/view";
import type * as lsp from "vscode-languageserver-protocol";

import { widgets } from "./widgets";

class Hint extends WidgetType {
  constructor(
    private readonly label: string,
    private readonly tooltip: string,
  ) {
    super();
  }

  override eq(other: Hint): boolean {
    return this.label === other.label && this.tooltip === other.tooltip;
  }

  override toDOM(): HTMLElement {
    return Object.assign(document.createElement("span"), { className: "hint", textContent: this.label, title: this.tooltip });
  }
}

export const hints = widgets<lsp.InlayHintParams, lsp.InlayHint>(
  "textDocument/inlayHint",
  (plugin) => ({
    textDocument: { uri: plugin.uri },
    range: { start: plugin.toPosition(0), end: plugin.toPosition(plugin.view.state.doc.length) },
  }),
  ({ position, label, tooltip, paddingRight }, plugin) => {
    const text = typeof label === "string" ? label : label.map(({ value }) => value).join("");
    const details = typeof tooltip === "string" ? tooltip : (tooltip?.value ?? "");
    const side = paddingRight ? -1 : 1;
    return [Decoration.widget({ widget: new Hint(text, details), side }).range(plugin.fromPosition(position))];
  },
);
