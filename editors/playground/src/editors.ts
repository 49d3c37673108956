/** Editors of the page. Each is in a shadow tree: there, CodeMirror's styles need no exception from the page's security policy. */

import { closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import type { Extension } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";

import { marks } from "./marks";

const both: Extension = [lineNumbers(), syntaxHighlighting(classHighlighter), marks, bracketMatching()];

export function editor(host: HTMLElement, label: string, doc: string, extensions: Extension): EditorView {
  return view(host, doc, [
    both,
    history(),
    drawSelection(),
    indentOnInput(),
    indentUnit.of("    "),
    closeBrackets(),
    highlightActiveLine(),
    lintGutter(),
    // Tab stays the browser's: it leads out of the editor.
    keymap.of([...closeBracketsKeymap, ...completionKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap]),
    EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
    extensions,
  ]);
}

/** A text to read. */
export function reader(host: HTMLElement, label: string, extensions: Extension): EditorView {
  return view(host, "", [
    both,
    EditorState.readOnly.of(true),
    keymap.of(defaultKeymap),
    EditorView.contentAttributes.of({ "aria-label": label, "aria-readonly": "true", tabindex: "0" }),
    extensions,
  ]);
}

function view(host: HTMLElement, doc: string, extensions: Extension): EditorView {
  const root = host.attachShadow({ mode: "open" });
  const styles = Object.assign(document.createElement("link"), { rel: "stylesheet", href: "editor.style.css" });
  root.append(styles);
  return new EditorView({ parent: root, root, state: EditorState.create({ doc, extensions }) });
}
