/** A tooltip at the cursor that a key opens. Escape, an edit and a move of the cursor close it. */

import { StateEffect, StateField } from "@codemirror/state";
import type { Extension } from "@codemirror/state";
import { keymap, showTooltip } from "@codemirror/view";
import type { EditorView, Tooltip } from "@codemirror/view";

export interface Content {
  dom: HTMLElement;
  /** Of the line with the cursor. */
  above: boolean;
  /** Called when it is shown. */
  mount?: () => void;
}

/** What is made of one text is not shown beside another one. */
export function cursorTooltip(key: string, make: (view: EditorView) => Promise<Content | undefined>): Extension {
  const change = StateEffect.define<Tooltip | null>();
  const shown = StateField.define<Tooltip | null>({
    create: () => null,
    update(tooltip, { docChanged, effects, selection }) {
      const effect = effects.findLast((effect) => effect.is(change));
      return effect ? (effect.value as Tooltip | null) : docChanged || selection ? null : tooltip;
    },
    provide: (field) => showTooltip.from(field),
  });
  const hide = (view: EditorView): boolean => {
    const isShown = view.state.field(shown) !== null;
    if (isShown) {
      view.dispatch({ effects: change.of(null) });
      view.focus();
    }
    return isShown;
  };
  const open = async (view: EditorView): Promise<void> => {
    const { doc, selection } = view.state;
    const content = await make(view);
    if (!content || view.state.doc !== doc) {
      return;
    }
    const { dom, above, mount } = content;
    dom.addEventListener("keydown", ({ key }) => key === "Escape" && hide(view));
    view.dispatch({ effects: change.of({ pos: selection.main.head, above, create: () => ({ dom, mount }) }) });
  };
  const show = (view: EditorView): boolean => {
    void open(view).catch(() => {}); // the client has said it
    return true;
  };
  return [shown, keymap.of([{ key, run: show, preventDefault: true }, { key: "Escape", run: hide }])];
}
