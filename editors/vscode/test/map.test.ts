import assert from "node:assert/strict";
import { test } from "node:test";

import { boxesAt, contains, pictures } from "../src/mapModel";
import type { MemoryMap } from "../src/mapModel";
import { nearest } from "../webview/nearest";
import { beside, heightFor } from "../webview/room";

const at = (line: number) => ({ start: { line, character: 8 }, end: { line, character: 9 } });
const tile = (name: string, line: number, lastLine: number) => ({ name, range: at(line), firstLine: line + 1, lastLine });

const map: MemoryMap = {
  kernel: "K.k",
  range: { start: { line: 1, character: 0 }, end: { line: 9, character: 0 } },
  down: "time",
  spaces: [
    { buffers: [{ boxes: [{ tiles: [tile("a", 2, 4)] }, { tiles: [tile("b", 4, 6)] }] }] },
    { buffers: [{ boxes: [{ tiles: [tile("a", 6, 8)] }] }] },
  ],
  html: '<g data-box="0"><g data-box="2">',
};

test("a name means the tile that is alive on the line", () => {
  assert.deepEqual(boxesAt([map], 3, "a"), [0]);
  assert.deepEqual(boxesAt([map], 7, "a"), [2]);
  assert.deepEqual(boxesAt([map], 4, "pl"), [1]);
  assert.deepEqual(boxesAt([map], 5, undefined), []);
});

test("the boxes of a second map are numbered on", () => {
  assert.equal(pictures([map, map]), '<g data-box="0"><g data-box="2"><g data-box="3"><g data-box="5">');
  assert.deepEqual(boxesAt([map, map], 4, "b"), [1, 4]);
});

test("a kernel contains its lines", () => {
  assert.deepEqual([0, 1, 9, 10].map((line) => contains([map], line)), [false, true, true, false]);
});

test("arrow keys go to the nearest box in their direction", () => {
  const box = (left: number, top: number) => ({ left, right: left + 10, top, bottom: top + 10 });
  const boxes = [box(0, 0), box(20, 0), box(0, 20), box(100, 2)];
  assert.deepEqual(["ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp", "End"].map((key) => nearest(boxes, 0, key)), [1, 2, undefined, undefined, 3]);
  assert.equal(nearest(boxes, 3, "ArrowLeft"), 1);
  assert.equal(nearest(boxes, 0, "x"), undefined);
});

test("a tooltip stands beside the pointer, and never outside of the window", () => {
  const [tip, window] = [{ width: 200, height: 60 }, { width: 800, height: 600 }];
  const at = (x: number, y: number) => beside({ left: x, right: x, top: y, bottom: y }, tip, window);
  assert.deepEqual(at(100, 100), { left: 112, top: 112 });
  assert.deepEqual(at(790, 590), { left: 600, top: 518 });
  assert.deepEqual(beside({ left: 0, right: 700, top: -50, bottom: 650 }, tip, window), { left: 12, top: 0 });
});

test("pictures share the height that the rest of the page leaves", () => {
  assert.equal(heightFor(900, 760, [400], []), 540);
  assert.equal(heightFor(900, 1160, [400, 400], [100]), 320);
  assert.equal(heightFor(900, 540 + 360, [540], []), 540, "what fits stays as it is");
  assert.equal(heightFor(100, 760, [400], []), 0, "the server knows what can still be read");
});
