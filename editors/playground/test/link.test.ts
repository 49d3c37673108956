import assert from "node:assert/strict";
import test from "node:test";

import { fromFragment, toFragment } from "../src/link";

test("a link carries any text", async () => {
  for (const text of ["", "x = 1\n", "naïve 😀 \u2028", "a".repeat(100_000)]) {
    const shared = { text, target: "ascend950", planner: undefined };
    const fragment = await toFragment(shared);
    assert.match(fragment, /^#kernel=[\w-]+$/);
    assert.deepEqual(await fromFragment(fragment), shared);
  }
});

test("an address without a kernel is none", async () => {
  assert.equal(await fromFragment(""), undefined);
  assert.equal(await fromFragment("#elsewhere"), undefined);
});

test("a damaged link is refused", async () => {
  const fragment = await toFragment({ text: "x = 1\n" });
  for (const damaged of ["#kernel=", "#kernel=!", "#kernel=AAAA", fragment.slice(0, -3)]) {
    await assert.rejects(fromFragment(damaged), damaged);
  }
});

test("a link that unpacks to too much is refused", async () => {
  const fragment = await toFragment({ text: "a".repeat(2_000_000) });
  assert.ok(fragment.length < 5_000);
  await assert.rejects(fromFragment(fragment), /too long/);
});
