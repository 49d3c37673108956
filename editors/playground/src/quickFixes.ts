/** Quick fixes, which the client's package does not have: below the message of a finding and, as in VS Code, by Ctrl-. at the cursor. */

import { LSPPlugin } from "@codemirror/lsp-client";
import type { Extension } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";
import type * as lsp from "vscode-languageserver-protocol";

import { cursorTooltip } from "./cursorTooltip";
import type { Content } from "./cursorTooltip";

/** Of `lsp.CodeActionTriggerKind`. */
const byUser: lsp.CodeActionTriggerKind = 1;

export function quickFixKey(): Extension {
  return cursorTooltip("Mod-.", menu);
}

async function menu(view: EditorView): Promise<Content | undefined> {
  const place = LSPPlugin.get(view)?.toPosition(view.state.selection.main.head);
  if (!place) {
    return undefined;
  }
  const buttons = await fixes(view, { start: place, end: place });
  const dom = document.createElement("div");
  dom.className = "fixes";
  dom.append(...(buttons.length > 0 ? buttons : ["There is no quick fix here."]));
  return { dom, above: false, mount: () => buttons[0]?.focus() };
}

/** A button for each fix of a range, of the newest text. */
export async function fixes(view: EditorView, range: lsp.Range, about?: lsp.Diagnostic): Promise<HTMLButtonElement[]> {
  const plugin = LSPPlugin.get(view);
  if (!plugin) {
    return [];
  }
  plugin.client.sync();
  const { doc } = view.state;
  const context = { diagnostics: about ? [about] : [], triggerKind: byUser };
  const params: lsp.CodeActionParams = { textDocument: { uri: plugin.uri }, range, context };
  const answer = await plugin.client.request<lsp.CodeActionParams, lsp.CodeAction[] | null>("textDocument/codeAction", params);
  return (answer ?? []).filter((action) => !about || concerns(action, about)).flatMap(({ title, edit }) => {
    const edits = edit?.changes?.[plugin.uri];
    if (!edits) {
      return [];
    }
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: title });
    button.addEventListener("click", () => {
      if (view.state.doc === doc) {
        const changes = edits.map(({ range, newText }) => ({ from: plugin.fromPosition(range.start), to: plugin.fromPosition(range.end), insert: newText }));
        view.dispatch({ changes, userEvent: "input.fix" });
        view.focus();
      }
    });
    return [button];
  });
}

/** Actions say of which finding they are. */
function concerns({ diagnostics }: lsp.CodeAction, { code, range }: lsp.Diagnostic): boolean {
  const isIt = (other: lsp.Diagnostic): boolean => other.code === code && JSON.stringify(other.range) === JSON.stringify(range);
  return diagnostics?.some(isIt) ?? false;
}
