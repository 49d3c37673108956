/** The inside of the memory map's panel. The server draws; this passes on what the user does with the picture. */

import type { FromPanel, ToPanel } from "../src/panelMessages";
import { nearest } from "./nearest";

declare function acquireVsCodeApi(): { postMessage(message: FromPanel): void };

const host = acquireVsCodeApi();
const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const map = element("map");
const detail = element("detail");
const planner = element<HTMLSelectElement>("planner");
const target = element<HTMLSelectElement>("target");
const keep = element<HTMLButtonElement>("keep");
const compare = element("compare");

/** Numbers of the boxes that belong to the tile under the cursor. */
let here: number[] = [];

const boxes = (): SVGGElement[] => [...map.querySelectorAll<SVGGElement>("g.box")];
const number = (box: Element): number => Number(box.getAttribute("data-box"));
const label = (box: Element): string => box.getAttribute("aria-label") ?? "";

window.addEventListener("message", ({ data }: MessageEvent<ToPanel>) => {
  if (data.type === "map") {
    show(data);
  } else {
    here = data.boxes;
    outline();
  }
});

function show(message: ToPanel & { type: "map" }): void {
  const focused = document.activeElement?.closest("g.box");
  const open = map.querySelector("details")?.open ?? false;
  // The server's own markup: names are escaped in it, and the policy of this page runs no scripts but this one.
  map.innerHTML = message.html;
  const details = map.querySelector("details");
  if (details) {
    details.open = open;
  }
  for (const box of boxes()) {
    box.setAttribute("tabindex", "-1");
    box.setAttribute("role", "button");
  }
  const again = focused && boxes().find((box) => number(box) === number(focused));
  (again ?? boxes()[0])?.setAttribute("tabindex", "0");
  again?.focus();
  offer(planner, message.planners, message.planner);
  offer(target, message.targets, message.target);
  for (const control of [planner, target]) {
    (control.parentElement as HTMLElement).hidden = !message.canTry;
  }
  keep.hidden = !message.planner && !message.target;
  compare.replaceChildren(...message.changes.map((text) => Object.assign(document.createElement("div"), { textContent: text })));
  detail.textContent = again ? label(again) : message.note;
  outline();
}

function offer(select: HTMLSelectElement, names: string[], chosen: string | undefined): void {
  const options = [new Option("current setting", ""), ...names.map((name) => new Option(name, name))];
  select.replaceChildren(...options);
  select.value = chosen ?? "";
}

/** Outlines the boxes of the tile under the cursor, and the one that has the focus, in front of their neighbours. */
function outline(): void {
  map.querySelectorAll(".outline").forEach((old) => old.remove());
  const focused = document.activeElement?.closest("g.box");
  for (const box of boxes()) {
    const isHere = here.includes(number(box));
    box.classList.toggle("here", isHere);
    box.setAttribute("aria-current", String(isHere));
    if (isHere || box === focused) {
      const frame = document.createElementNS("http://www.w3.org/2000/svg", "g");
      frame.setAttribute("class", isHere ? "outline here" : "outline");
      frame.setAttribute("aria-hidden", "true");
      frame.append(...[...box.querySelectorAll(".tile")].map((tile) => tile.cloneNode()));
      box.ownerSVGElement?.append(frame);
    }
  }
}

function boxOf(event: Event): Element | undefined {
  return (event.target as Element).closest("[data-box]") ?? undefined;
}

map.addEventListener("click", (event) => {
  const box = boxOf(event);
  if (box) {
    host.postMessage({ type: "jump", box: number(box) });
  }
});
for (const kind of ["mouseover", "focusin"]) {
  map.addEventListener(kind, (event) => {
    const box = boxOf(event);
    if (box?.matches("g.box")) {
      detail.textContent = label(box);
    }
  });
}
map.addEventListener("focusin", (event) => {
  const box = boxOf(event);
  if (box?.matches("g.box")) {
    boxes().forEach((each) => each.setAttribute("tabindex", each === box ? "0" : "-1"));
  }
  outline();
});
map.addEventListener("focusout", () => outline());
map.addEventListener("keydown", (event) => {
  const box = boxOf(event);
  if (!box?.matches("g.box")) {
    return;
  }
  if (event.key === "Enter" || event.key === " ") {
    host.postMessage({ type: "jump", box: number(box) });
  } else {
    const all = boxes();
    const next = nearest(
      all.map((each) => each.getBoundingClientRect()),
      all.indexOf(box as SVGGElement),
      event.key,
    );
    if (next === undefined) {
      return;
    }
    all[next]?.focus();
  }
  event.preventDefault();
});
for (const control of [planner, target]) {
  control.addEventListener("change", () => {
    host.postMessage({ type: "try", planner: planner.value || undefined, target: target.value || undefined });
  });
}
keep.addEventListener("click", () => host.postMessage({ type: "keep" }));

let waiting: number | undefined;
new ResizeObserver(() => {
  clearTimeout(waiting);
  waiting = setTimeout(() => host.postMessage({ type: "width", width: map.clientWidth }), 100) as unknown as number;
}).observe(map);
host.postMessage({ type: "width", width: map.clientWidth });
