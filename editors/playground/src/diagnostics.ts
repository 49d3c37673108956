/** Diagnostics of the server, under the text. Those of the client's package come half a second late, and without what is related. */

import { setDiagnostics } from "@codemirror/lint";
import type { Diagnostic } from "@codemirror/lint";
import { LSPPlugin } from "@codemirror/lsp-client";
import type { LSPClientExtension } from "@codemirror/lsp-client";
import { ViewPlugin } from "@codemirror/view";
import type { EditorView } from "@codemirror/view";
import type * as lsp from "vscode-languageserver-protocol";

import { fixes } from "./quickFixes";

/** Of `lsp.DiagnosticSeverity`, from 1. */
const severities = ["error", "warning", "info", "hint"] as const;

/** Sends each edit at once, after the plugins have seen it. */
const atOnce = ViewPlugin.define((view) => ({
  update({ docChanged }) {
    if (docChanged) {
      queueMicrotask(() => LSPPlugin.get(view)?.client.sync());
    }
  },
}));

/** `told` hears of all diagnostics of the newest text. */
export function diagnostics(told: (found: lsp.Diagnostic[]) => void): LSPClientExtension {
  return {
    clientCapabilities: { textDocument: { publishDiagnostics: { versionSupport: true, relatedInformation: true } } },
    notificationHandlers: {
      "textDocument/publishDiagnostics": (client, { uri, version, diagnostics: found }: lsp.PublishDiagnosticsParams) => {
        const file = client.workspace.getFile(uri);
        const view = file?.getView();
        const plugin = view && LSPPlugin.get(view);
        if (!plugin || version !== file?.version) {
          return true; // of an older text: those of the newest are on their way
        }
        const at = (place: lsp.Position): number => plugin.unsyncedChanges.mapPos(plugin.fromPosition(place, plugin.syncedDoc));
        const shown = found.map((each): Diagnostic => ({
          from: at(each.range.start),
          to: at(each.range.end),
          severity: severities[(each.severity ?? 1) - 1] ?? "error",
          message: plain(each.message),
          renderMessage: (view) => rendered(each, view),
        }));
        view.dispatch(setDiagnostics(view.state, shown));
        told(found);
        return true;
      },
    },
    editorExtension: atOnce,
  };
}

/** Newer clients may be sent Markdown there; this one does not ask for it. */
export function plain(message: string | lsp.MarkupContent): string {
  return typeof message === "string" ? message : message.value;
}

function rendered(found: lsp.Diagnostic, view: EditorView): HTMLElement {
  const { message, code, relatedInformation, range } = found;
  const parts: Node[] = [Object.assign(document.createElement("div"), { textContent: plain(message) })];
  for (const { location, message } of relatedInformation ?? []) {
    parts.push(Object.assign(document.createElement("div"), { textContent: `line ${location.range.start.line + 1}: ${message}` }));
  }
  if (code) {
    // The page of the book about it.
    const href = `../diagnostics/${code}.html`;
    parts.push(Object.assign(document.createElement("a"), { textContent: String(code), href, target: "_blank" }));
  }
  const all = document.createElement("div");
  all.append(...parts);
  void fixes(view, range, found).then((buttons) => all.append(...buttons), () => {}); // the text is another one now
  return all;
}
