/** The inside of the memory map's panel. The server draws; this passes on what the user does with the picture. */

import type { FromPanel, ToPanel } from "../src/panelMessages";
import { nearest } from "./nearest";
import { beside, heightFor } from "./room";
import type { Rectangle } from "./nearest";

declare function acquireVsCodeApi(): { postMessage(message: FromPanel): void };

const host = acquireVsCodeApi();
const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const map = element("map");
const tip = element("tip");
const planner = element<HTMLSelectElement>("planner");
const target = element<HTMLSelectElement>("target");
const oneScale = element<HTMLInputElement>("one-scale");
const keep = element<HTMLButtonElement>("keep");
const compare = element("compare");

/** Numbers of the boxes that belong to the tile under the cursor. */
let here: number[] = [];

const boxes = (): SVGGElement[] => [...map.querySelectorAll<SVGGElement>("g.box")];
const number = (box: Element): number => Number(box.getAttribute("data-box"));

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
  // The browser's own tooltips come late and never for the keyboard.
  for (const title of map.querySelectorAll("svg title")) {
    title.parentElement?.setAttribute("data-tip", title.textContent ?? "");
    title.remove();
  }
  const again = focused && boxes().find((box) => number(box) === number(focused));
  (again ?? boxes()[0])?.setAttribute("tabindex", "0");
  again?.focus();
  offer(planner, message.planners, message.planner, message.set?.planner);
  offer(target, message.targets, message.target, message.set?.target);
  for (const control of [planner, target]) {
    (control.parentElement as HTMLElement).hidden = !message.canTry;
  }
  keep.hidden = !message.planner && !message.target;
  compare.replaceChildren(...message.changes.map((text) => Object.assign(document.createElement("div"), { textContent: text })));
  oneScale.checked = message.scale === "one";
  hideTip();
  outline();
  measure();
}

function offer(select: HTMLSelectElement, names: string[], chosen: string | undefined, set: string | undefined): void {
  const options = [new Option(set ? `current setting (${set})` : "current setting", ""), ...names.map((name) => new Option(name, name))];
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
/** Tells what there is to a part of the picture, beside the pointer or the part. */
function showTip(part: Element, place: Rectangle): void {
  const lines = (part.getAttribute("data-tip") ?? "").split("\n");
  tip.replaceChildren(...lines.map((text) => Object.assign(document.createElement("div"), { textContent: text })));
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const { left, top } = beside(place, { width, height }, { width: document.documentElement.clientWidth, height: window.innerHeight });
  tip.style.left = `${left}px`;
  tip.style.top = `${top}px`;
}

/** What has the focus is told again when the pointer leaves. */
function hideTip(): void {
  const focused = document.activeElement?.closest("g.box:focus-visible");
  if (focused) {
    showTip(focused, focused.getBoundingClientRect());
  } else {
    tip.hidden = true;
  }
}

map.addEventListener("pointermove", (event) => {
  const part = (event.target as Element).closest("[data-tip]");
  if (part) {
    const { clientX: x, clientY: y } = event;
    showTip(part, { left: x, right: x, top: y, bottom: y });
  } else {
    hideTip();
  }
});
map.addEventListener("pointerleave", hideTip);
window.addEventListener("scroll", hideTip);
window.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    tip.hidden = true;
  }
});
map.addEventListener("focusin", (event) => {
  const box = boxOf(event);
  if (box?.matches("g.box")) {
    boxes().forEach((each) => each.setAttribute("tabindex", each === box ? "0" : "-1"));
  }
  hideTip();
  outline();
});
map.addEventListener("focusout", () => {
  tip.hidden = true;
  outline();
});
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

oneScale.addEventListener("change", () => host.postMessage({ type: "scale", scale: oneScale.checked ? "one" : "own" }));

/** What was asked for last. */
let asked = { width: 0, height: 0 };

/** Asks for pictures of the size that there is room for. */
function measure(): void {
  const height = (each: Element): number => each.getBoundingClientRect().height;
  const width = map.clientWidth;
  const pictures = [...map.querySelectorAll("svg")].map(height);
  // An open table is below the pictures, and no part of what the window has to hold.
  const tables = [...map.querySelectorAll("details[open]")].map((open) => height(open) - height(open.querySelector("summary") ?? open));
  const size = { width, height: heightFor(window.innerHeight, height(document.body), pictures, tables) };
  if (width > 0 && (size.width !== asked.width || Math.abs(size.height - asked.height) > 8)) {
    asked = size;
    host.postMessage({ type: "size", ...size });
  }
}

let waiting: number | undefined;
const resized = new ResizeObserver(() => {
  clearTimeout(waiting);
  waiting = setTimeout(measure, 100) as unknown as number;
});
resized.observe(map);
resized.observe(document.documentElement);
window.addEventListener("resize", () => {
  clearTimeout(waiting);
  waiting = setTimeout(measure, 100) as unknown as number;
});
measure();
