/** The hover of the place where the cursor is, for the keyboard: as in VS Code, Ctrl-K Ctrl-I. */

import { LSPPlugin } from "@codemirror/lsp-client";
import type { Extension } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";
import type * as lsp from "vscode-languageserver-protocol";

import { cursorTooltip } from "./cursorTooltip";
import type { Content } from "./cursorTooltip";

/** `told` hears the text. */
export function hoverKey(told: (text: string) => void): Extension {
  return cursorTooltip("Mod-k Mod-i", (view) => ask(view, told));
}

async function ask(view: EditorView, told: (text: string) => void): Promise<Content | undefined> {
  const plugin = LSPPlugin.get(view);
  if (!plugin) {
    return undefined;
  }
  const params = { textDocument: { uri: plugin.uri }, position: plugin.toPosition(view.state.selection.main.head) };
  const answer = await plugin.client.request<lsp.HoverParams, lsp.Hover | null>("textDocument/hover", params);
  const dom = document.createElement("div");
  dom.className = "cm-lsp-hover-tooltip cm-lsp-documentation";
  dom.innerHTML = answer ? plugin.docToHTML(answer.contents as lsp.MarkupContent) : "Nothing is known of this place.";
  return { dom, above: true, mount: () => told(dom.innerText || dom.textContent || "") };
}
