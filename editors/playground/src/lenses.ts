/** Lenses, which the client's package does not have: above a kernel, how full each memory is. */

import { LSPPlugin } from "@codemirror/lsp-client";
import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, WidgetType } from "@codemirror/view";
import type { DecorationSet } from "@codemirror/view";
import type * as lsp from "vscode-languageserver-protocol";

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

const change = StateEffect.define<DecorationSet>();

export const lenses = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(shown, { changes, effects }) {
    return effects.findLast((effect) => effect.is(change))?.value ?? shown.map(changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Asks for those of the whole text; an edit meanwhile asks again itself. */
export async function refreshLenses(view: EditorView): Promise<void> {
  const plugin = LSPPlugin.get(view);
  if (!plugin) {
    return;
  }
  const { doc } = view.state;
  const params: lsp.CodeLensParams = { textDocument: { uri: plugin.uri } };
  const answer = await plugin.client.request<lsp.CodeLensParams, lsp.CodeLens[] | null>("textDocument/codeLens", params);
  if (view.state.doc !== doc) {
    return;
  }
  const told = (answer ?? []).filter((lens) => lens.command?.command === command);
  const widgets = told.map(({ range, command }) => {
    const line = doc.lineAt(plugin.fromPosition(range.start));
    const indent = /^\s*/.exec(line.text)?.[0] ?? "";
    return Decoration.widget({ widget: new Lens(command?.title ?? "", indent), block: true, side: -1 }).range(line.from);
  });
  view.dispatch({ effects: change.of(Decoration.set(widgets, true)) });
}
