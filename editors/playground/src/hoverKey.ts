/** The hover of the place where the cursor is, for the keyboard: as in VS Code, Ctrl-K Ctrl-I. */

import { LSPPlugin } from "@codemirror/lsp-client";
import { StateEffect, StateField } from "@codemirror/state";
import type { Extension } from "@codemirror/state";
import { keymap, showTooltip } from "@codemirror/view";
import type { EditorView, Tooltip } from "@codemirror/view";
import type * as lsp from "vscode-languageserver-protocol";

const change = StateEffect.define<Tooltip | null>();

const shown = StateField.define<Tooltip | null>({
  create: () => null,
  update(tooltip, { docChanged, effects, selection }) {
    const effect = effects.findLast((effect) => effect.is(change));
    return effect ? (effect.value as Tooltip | null) : docChanged || selection ? null : tooltip;
  },
  provide: (field) => showTooltip.from(field),
});

/** `told` hears the text. */
export function hoverKey(told: (text: string) => void): Extension {
  const show = (view: EditorView): boolean => {
    void ask(view, told).catch(() => {}); // the client has said it
    return true;
  };
  const hide = (view: EditorView): boolean => {
    const isShown = view.state.field(shown) !== null;
    if (isShown) {
      view.dispatch({ effects: change.of(null) });
    }
    return isShown;
  };
  return [shown, keymap.of([{ key: "Mod-k Mod-i", run: show, preventDefault: true }, { key: "Escape", run: hide }])];
}

async function ask(view: EditorView, told: (text: string) => void): Promise<void> {
  const plugin = LSPPlugin.get(view);
  if (!plugin) {
    return;
  }
  const { state } = view;
  const params = { textDocument: { uri: plugin.uri }, position: plugin.toPosition(state.selection.main.head) };
  const answer = await plugin.client.request<lsp.HoverParams, lsp.Hover | null>("textDocument/hover", params);
  if (view.state.doc !== state.doc) {
    return;
  }
  const dom = document.createElement("div");
  dom.className = "cm-lsp-hover-tooltip cm-lsp-documentation";
  dom.innerHTML = answer ? plugin.docToHTML(answer.contents as lsp.MarkupContent) : "Nothing is known of this place.";
  told(dom.innerText || dom.textContent || "");
  view.dispatch({ effects: change.of({ pos: state.selection.main.head, above: true, create: () => ({ dom }) }) });
}
