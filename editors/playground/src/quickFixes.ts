/** Quick fixes, which the client's package does not have: below the message of a finding and, as in VS Code, by Ctrl-. at the cursor. */

import { LSPPlugin } from "@codemirror/lsp-client";
import { StateEffect, StateField } from "@codemirror/state";
import type { Extension } from "@codemirror/state";
import { keymap, showTooltip } from "@codemirror/view";
import type { EditorView, Tooltip } from "@codemirror/view";
import type * as lsp from "vscode-languageserver-protocol";

/** Of `lsp.CodeActionTriggerKind`. */
const byUser: lsp.CodeActionTriggerKind = 1;

const change = StateEffect.define<Tooltip | null>();

const menu = StateField.define<Tooltip | null>({
  create: () => null,
  update(tooltip, { docChanged, effects, selection }) {
    const effect = effects.findLast((effect) => effect.is(change));
    return effect ? (effect.value as Tooltip | null) : docChanged || selection ? null : tooltip;
  },
  provide: (field) => showTooltip.from(field),
});

export function quickFixKey(): Extension {
  const show = (view: EditorView): boolean => {
    void open(view).catch(() => {}); // the client has said it
    return true;
  };
  const hide = (view: EditorView): boolean => {
    const isShown = view.state.field(menu) !== null;
    if (isShown) {
      view.dispatch({ effects: change.of(null) });
      view.focus();
    }
    return isShown;
  };
  return [menu, keymap.of([{ key: "Mod-.", run: show, preventDefault: true }, { key: "Escape", run: hide }])];
}

async function open(view: EditorView): Promise<void> {
  const { state } = view;
  const at = state.selection.main.head;
  const place = LSPPlugin.get(view)?.toPosition(at);
  const buttons = place && (await fixes(view, { start: place, end: place }));
  if (!buttons || view.state.doc !== state.doc) {
    return;
  }
  const dom = document.createElement("div");
  dom.className = "fixes";
  dom.append(...(buttons.length > 0 ? buttons : ["There is no quick fix here."]));
  dom.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") {
      view.dispatch({ effects: change.of(null) });
      view.focus();
    }
  });
  view.dispatch({ effects: change.of({ pos: at, above: false, create: () => ({ dom, mount: () => buttons[0]?.focus() }) }) });
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
