import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";

import { programs } from "../src/node/environments";

const linux = (places: Parameters<typeof programs>[0]) => programs(places, "tilefit", "linux");
const windows = (places: Parameters<typeof programs>[0]) => programs(places, "tilefit.exe", "win32");

test("the chosen interpreter comes first, then the active environment, then those of the folders", async () => {
  const places = { selected: "/envs/k/bin/python", virtualEnv: "/active", folders: ["/one", "/two"] };
  assert.deepEqual(await linux(places), ["/envs/k/bin/tilefit", "/active/bin/tilefit", "/one/.venv/bin/tilefit", "/two/.venv/bin/tilefit"]);
});

test("an environment may be chosen by its folder", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "tilefit-"));
  assert.deepEqual(await linux({ selected: folder, folders: [] }), [`${folder}/bin/tilefit`]);
});

test("a place is looked at once", async () => {
  const places = { selected: "/one/.venv/bin/python", virtualEnv: "/one/.venv", folders: ["/one"] };
  assert.deepEqual(await linux(places), ["/one/.venv/bin/tilefit"]);
});

test("nothing is known, and nothing is looked for", async () => {
  assert.deepEqual(await linux({ folders: [] }), []);
});

test("Windows has Scripts, beside an interpreter that is in no virtual environment", async () => {
  assert.deepEqual(await windows({ selected: "C:\\Python\\python.exe", folders: ["C:\\k"] }), [
    "C:\\Python\\tilefit.exe",
    "C:\\Python\\Scripts\\tilefit.exe",
    "C:\\k\\.venv\\Scripts\\tilefit.exe",
  ]);
});
