import assert from "node:assert/strict";
import { test } from "node:test";

import { below, fromGenerated, fromSource, shift } from "../src/lines";

const map = [
  { generated: 0, first: 4, last: 9 },
  { generated: 3, first: 6, last: 6 },
  { generated: 4, first: 6, last: 6 },
  { generated: 5, first: 7, last: 8 },
];

test("a statement is found rather than the kernel around it", () => {
  assert.deepEqual(fromSource(map, 6).map((match) => match.generated), [3, 4]);
  assert.deepEqual(fromSource(map, 8).map((match) => match.generated), [5]);
});

test("a line of the kernel without a statement of its own finds the kernel", () => {
  assert.deepEqual(fromSource(map, 9).map((match) => match.generated), [0]);
});

test("lines outside of the kernel find nothing", () => {
  assert.deepEqual(fromSource(map, 3), []);
  assert.deepEqual(fromGenerated(map, 1), []);
});

test("a generated line finds its statement", () => {
  assert.deepEqual(fromGenerated(map, 5), [{ generated: 5, first: 7, last: 8 }]);
});

test("scrolling shows the next match", () => {
  assert.equal(below(map, "generated", 1)?.first, 6);
  assert.equal(below(map, "first", 7)?.generated, 5);
  assert.equal(below(map, "generated", 6), undefined);
});

test("scrolling to a statement shows its instruction rather than its declarations", () => {
  assert.equal(below(map, "first", 5)?.generated, 4);
});

test("an anchor moves with the lines above it", () => {
  assert.equal(shift(10, { line: 2, removed: 0, added: 3 }), 13);
  assert.equal(shift(10, { line: 2, removed: 3, added: 0 }), 7);
  assert.equal(shift(10, { line: 10, removed: 0, added: 1 }), 10);
  assert.equal(shift(10, { line: 12, removed: 4, added: 0 }), 10);
});

test("an anchor whose line is removed goes to the edit", () => {
  assert.equal(shift(10, { line: 8, removed: 5, added: 0 }), 8);
  assert.equal(shift(10, { line: 8, removed: 5, added: 1 }), 9);
});
