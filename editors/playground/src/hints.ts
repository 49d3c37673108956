/** Inlay hints, which the client's package does not have: where tiles lie, beside their names. */

import { LSPPlugin } from "@codemirror/lsp-client";
import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, WidgetType } from "@codemirror/view";
import type { DecorationSet } from "@codemirror/view";
import type * as lsp from "vscode-languageserver-protocol";

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

const change = StateEffect.define<DecorationSet>();

export const hints = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(shown, { changes, effects }) {
    return effects.findLast((effect) => effect.is(change))?.value ?? shown.map(changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Asks for those of the whole text; an edit meanwhile asks again itself. */
export async function refreshHints(view: EditorView): Promise<void> {
  const plugin = LSPPlugin.get(view);
  if (!plugin) {
    return;
  }
  const { doc } = view.state;
  const range = { start: plugin.toPosition(0), end: plugin.toPosition(doc.length) };
  const params: lsp.InlayHintParams = { textDocument: { uri: plugin.uri }, range };
  const answer = await plugin.client.request<lsp.InlayHintParams, lsp.InlayHint[] | null>("textDocument/inlayHint", params);
  if (view.state.doc !== doc) {
    return;
  }
  const widgets = (answer ?? []).map(({ position, label, tooltip, paddingRight }) => {
    const text = typeof label === "string" ? label : label.map(({ value }) => value).join("");
    const details = typeof tooltip === "string" ? tooltip : (tooltip?.value ?? "");
    const side = paddingRight ? -1 : 1;
    return Decoration.widget({ widget: new Hint(text, details), side }).range(plugin.fromPosition(position));
  });
  view.dispatch({ effects: change.of(Decoration.set(widgets, true)) });
}
