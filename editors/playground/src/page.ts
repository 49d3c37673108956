/** The page: a kernel, and beside it what the server says of it. */

import { python } from "@codemirror/lang-python";
import {
  LSPClient,
  findReferencesKeymap,
  hoverTooltips,
  jumpToDefinitionKeymap,
  renameKeymap,
  serverCompletion,
  signatureHelp,
} from "@codemirror/lsp-client";
import { StateEffect } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import type * as lsp from "vscode-languageserver-protocol";

import { planners, targets } from "../../vscode/src/schema";
import { diagnostics, plain } from "./diagnostics";
import { editor } from "./editors";
import { examples } from "./examples";
import { hints } from "./hints";
import { hoverKey } from "./hoverKey";
import { lenses } from "./lenses";
import { fromFragment, toFragment } from "./link";
import type { Shared } from "./link";
import { MapFrame } from "./map";
import { markLines } from "./marks";
import { Product } from "./product";
import { quickFixKey } from "./quickFixes";
import { Server } from "./server";

const URI = "tilefit:/kernel.py";

/** After this long without a new verdict it is read out. */
const PAUSE_MILLISECONDS = 800;

const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const example = element<HTMLSelectElement>("example");
const target = element<HTMLSelectElement>("target");
const planner = element<HTMLSelectElement>("planner");

/** What the server is started with; the same object for every start. */
const settings: { target?: string; planner?: string } = {};

/** Whether the server has said something of a text since it was started. */
let hasSpoken = false;
/** The server that ended on this very text waits for another one. */
let waitsForEdit = false;

const client = new LSPClient({
  initializationOptions: settings,
  timeout: 30_000,
  notificationHandlers: {
    "tilefit/memoryMapChanged": (_, changed) => {
      map.draw(changed);
      if (changed.maps.length === 0 && element("verdict").dataset["kind"] === "fine") {
        verdict("There is no kernel in this text.", "unknown");
      }
      return true;
    },
    "tilefit/settings": (_, inForce: Record<"target" | "planner", string>) => {
      for (const [select, key] of [[target, "target"], [planner, "planner"]] as const) {
        if (!select.value && select.options[0]) {
          select.options[0].text = `default (${inForce[key]})`;
        }
      }
      return true;
    },
  },
  extensions: [
    { clientCapabilities: { experimental: { tilefitSettings: true } } },
    diagnostics(told),
    serverCompletion(),
    signatureHelp(),
    hoverTooltips({ hoverTime: 200 }),
    keymap.of([...jumpToDefinitionKeymap, ...findReferencesKeymap, ...renameKeymap]),
  ],
});

const source = editor(element("source"), "Kernel", "", [
  python(),
  hints.shown,
  lenses.shown,
  quickFixKey(),
  hoverKey((text) => (element("spoken").textContent = text)),
  EditorView.updateListener.of(({ docChanged, selectionSet, startState, transactions, view }) => {
    if (docChanged && transactions.some((transaction) => transaction.isUserEvent("input") || transaction.isUserEvent("delete"))) {
      example.value = ""; // it is another text now
    }
    if (docChanged && waitsForEdit) {
      waitsForEdit = false;
      start();
    }
    const line = lineOf(view);
    if (selectionSet && !docChanged) {
      map.follow(place(), wordAtCursor());
      product.mark(line);
      if (view.hasFocus && startState.doc.lineAt(startState.selection.main.head).number - 1 !== line) {
        queueMicrotask(() => markLines(view, [], false));
      }
    }
  }),
]);
const map = new MapFrame(element<HTMLIFrameElement>("map"), client, go);
const product = new Product(element("product"), element("product-title"), client, (lines) => markLines(source, lines, true));

function lineOf(view: EditorView): number {
  return view.state.doc.lineAt(view.state.selection.main.head).number - 1;
}

/** Where the cursor is, as the protocol counts. */
function place(): lsp.TextDocumentPositionParams {
  const at = source.state.selection.main.head;
  const line = source.state.doc.lineAt(at);
  return { textDocument: { uri: URI }, position: { line: line.number - 1, character: at - line.from } };
}

function wordAtCursor(): string | undefined {
  const word = source.state.wordAt(source.state.selection.main.head);
  return word ? source.state.sliceDoc(word.from, word.to) : undefined;
}

function go({ start, end }: lsp.Range): void {
  const at = ({ line, character }: lsp.Position): number => source.state.doc.line(line + 1).from + character;
  source.dispatch({ selection: { anchor: at(start), head: at(end) }, scrollIntoView: true });
  source.focus();
}

/** Starts a server with the present text. */
function start(): void {
  hasSpoken = false;
  const server = new Server((why, hadBegun) => {
    const said = hadBegun
      ? `The analysis ended unexpectedly (${why}). This is a bug in tilefit.`
      : `The analysis cannot be loaded (${why}).`;
    client.disconnect();
    if (hasSpoken) {
      notice(`${said} It was started again with the present text.`);
      start();
    } else {
      // It would end again.
      waitsForEdit = true;
      notice(`${said} It starts again when you edit the text.`);
      verdict("The analysis is not running.", "unknown");
    }
  });
  client.connect(server);
  map.watch(place());
}

/** The newest text has these diagnostics. */
function told(found: lsp.Diagnostic[]): void {
  if (!hasSpoken) {
    performance.mark("first verdict");
  }
  hasSpoken = true;
  const errors = found.filter(({ severity }) => severity === 1);
  const warnings = found.filter(({ severity }) => severity === 2);
  const notes = found.filter(({ severity }) => severity !== 1 && severity !== 2);
  const counted = (all: unknown[], word: string): string[] => (all.length > 0 ? [`${all.length} ${word}${all.length > 1 ? "s" : ""}`] : []);
  const counts = [...counted(errors, "error"), ...counted(warnings, "warning"), ...counted(notes, "note")].join(", ");
  const first = errors[0] ?? warnings[0] ?? notes[0];
  // A note may say that something is not known: that is not fine.
  const kind = errors.length > 0 ? "error" : warnings.length > 0 ? "warning" : first ? "unknown" : "fine";
  verdict(first ? `${counts}. Line ${first.range.start.line + 1}: ${plain(first.message)}` : "No errors, no warnings.", kind);
  void Promise.all([hints.refresh(source), lenses.refresh(source)]).catch(() => {}); // the next text has others
  void product.show(place());
}

let speaking: number | undefined;

/** Shown at once; read out when the typing pauses. */
function verdict(text: string, kind: "error" | "warning" | "fine" | "unknown"): void {
  const shown = element("verdict");
  shown.textContent = text;
  shown.dataset["kind"] = kind;
  clearTimeout(speaking);
  speaking = window.setTimeout(() => (element("spoken").textContent = text), PAUSE_MILLISECONDS);
}

function notice(text: string): void {
  element("notice").textContent = text;
}

function offer(select: HTMLSelectElement, options: { value: string; text: string }[]): void {
  select.replaceChildren(...options.map(({ value, text }) => new Option(text, value)));
}

function choose(select: HTMLSelectElement, value: string | undefined): void {
  const known = [...select.options].some((option) => option.value === value);
  select.value = known && value !== undefined ? value : "";
}

/** Tells the server what is chosen. */
function configure(): void {
  for (const [select, key] of [[target, "target"], [planner, "planner"]] as const) {
    if (select.value) {
      settings[key] = select.value;
    } else {
      delete settings[key];
    }
  }
  client.notification("workspace/didChangeConfiguration", { settings: { tilefit: settings } });
}

function put(text: string): void {
  source.dispatch({ changes: { from: 0, to: source.state.doc.length, insert: text }, selection: { anchor: 0 }, scrollIntoView: true });
}

/** A text that came in a link. */
function take({ text, target: sharedTarget, planner: sharedPlanner }: Shared): void {
  example.value = "";
  choose(target, sharedTarget);
  choose(planner, sharedPlanner);
  configure();
  put(text);
}

async function followAddress(): Promise<boolean> {
  try {
    const shared = await fromFragment(location.hash);
    if (shared) {
      take(shared);
      return true;
    }
  } catch (error) {
    notice(`The link is damaged: ${error instanceof Error ? error.message : error}.`);
  }
  return false;
}

async function copyLink(): Promise<void> {
  const shared: Shared = { text: source.state.doc.toString(), ...settings };
  history.replaceState(null, "", await toFragment(shared));
  try {
    await navigator.clipboard.writeText(location.href);
    notice("The link is copied. It carries the text, and no server sees that.");
  } catch {
    notice("The browser does not let the page copy: take the link from the address bar.");
  }
}

offer(example, [{ value: "", text: "your own" }, ...examples.map(({ name, title }) => ({ value: name, text: title }))]);
for (const [select, names] of [[target, targets], [planner, planners]] as const) {
  offer(select, [{ value: "", text: "default" }, ...names.map((name) => ({ value: name, text: name }))]);
  select.addEventListener("change", configure);
}
example.addEventListener("change", () => {
  const chosen = examples.find(({ name }) => name === example.value);
  if (chosen) {
    history.replaceState(null, "", location.pathname);
    put(chosen.text);
  }
});
element("copy").addEventListener("click", () => void copyLink());
window.addEventListener("hashchange", () => void followAddress());

if (!(await followAddress())) {
  example.value = examples[0]?.name ?? "";
  put(examples[0]?.text ?? "");
}
// From here on the editor belongs to the client, which opens its text when it is connected.
source.dispatch({ effects: StateEffect.appendConfig.of(client.plugin(URI, "python")) });
start();
