/** Lines that belong to each other, in the kernel and in what is made of it. */

import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView } from "@codemirror/view";
import type { DecorationSet } from "@codemirror/view";

/** Lines from 0. */
const change = StateEffect.define<number[]>();
const mark = Decoration.line({ class: "match" });

export const marks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(shown, { changes, effects, state }) {
    const lines = effects.findLast((effect) => effect.is(change))?.value as number[] | undefined;
    if (!lines) {
      return shown.map(changes);
    }
    const there = [...new Set(lines)].filter((line) => line < state.doc.lines).sort((a, b) => a - b);
    return Decoration.set(there.map((line) => mark.range(state.doc.line(line + 1).from)));
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Marks these lines and no others; brings the last one into sight where `scrolls`. */
export function markLines(view: EditorView, lines: number[], scrolls: boolean): void {
  const last = Math.max(...lines);
  const sight = scrolls && lines.length > 0 && last < view.state.doc.lines ? [EditorView.scrollIntoView(view.state.doc.line(last + 1).from)] : [];
  view.dispatch({ effects: [change.of(lines), ...sight] });
}
