/** Widgets in the text for what the server answers about all of it, which the client's package does not have. */

import { LSPPlugin } from "@codemirror/lsp-client";
import { StateEffect, StateField } from "@codemirror/state";
import type { Extension, Range } from "@codemirror/state";
import { Decoration, EditorView } from "@codemirror/view";
import type { DecorationSet } from "@codemirror/view";

export interface Widgets {
  shown: Extension;
  /** Asks for those of the newest text; an edit meanwhile asks again itself. */
  refresh(view: EditorView): Promise<void>;
}

/** `made` answers none for what is not to be shown. */
export function widgets<Params, Item>(
  method: string,
  params: (plugin: LSPPlugin) => Params,
  made: (item: Item, plugin: LSPPlugin) => Range<Decoration>[],
): Widgets {
  const change = StateEffect.define<DecorationSet>();
  const shown = StateField.define<DecorationSet>({
    create: () => Decoration.none,
    update(shown, { changes, effects }) {
      return effects.findLast((effect) => effect.is(change))?.value ?? shown.map(changes);
    },
    provide: (field) => EditorView.decorations.from(field),
  });
  const refresh = async (view: EditorView): Promise<void> => {
    const plugin = LSPPlugin.get(view);
    if (!plugin) {
      return;
    }
    const { doc } = view.state;
    const answer = await plugin.client.request<Params, Item[] | null>(method, params(plugin));
    if (view.state.doc === doc) {
      const all = (answer ?? []).flatMap((item) => made(item, plugin));
      view.dispatch({ effects: change.of(Decoration.set(all, true)) });
    }
  };
  return { shown, refresh };
}
