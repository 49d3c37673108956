import assert from "node:assert/strict";
import { test } from "node:test";

import { blocksText, bytesText, caption, columnsOf, csv, detail, kernelAt, nextSort, percent, registersText, sorted } from "../src/configurationsModel";
import type { Configuration, KernelConfigurations, OnDevice } from "../src/configurationsModel";

const capacity = 232_448;
const on = (low: number, high: number | null = low, rest: Partial<OnDevice> = {}): OnDevice => {
  const fits = high !== null && high <= capacity;
  const verdict = fits ? "fits" : low > capacity ? "exceeds" : "unknown";
  return { low, high, capacity, columns: 0, verdict, blocks: fits ? Math.floor(capacity / high) : null, confirmed: false, recorded: false, ...rest };
};
const row = (block: string, ...cells: (OnDevice | null)[]): Configuration => ({ values: { BLOCK: block, num_stages: "3" }, selected: false, on: cells });
const kernel = (...configurations: Configuration[]): KernelConfigurations => ({
  kernel: "matmul",
  line: 12,
  devices: ["sm_90", "sm_86"],
  summary: "1 of 1 fit sm_90",
  configurations,
});
const blocksOf = (rows: Configuration[]): (string | undefined)[] => rows.map(({ values }) => values.BLOCK);

test("bytes are a number, a range, or a bound", () => {
  assert.equal(bytesText(on(98_304)), "98,304");
  assert.equal(bytesText(on(65_536, 98_304)), "65,536 – 98,304");
  assert.equal(bytesText(on(98_304, null)), "≥ 98,304");
  assert.equal(bytesText(on(0, null)), "");
  assert.equal(bytesText(on(0, 900)), "≤ 900");
  assert.equal(bytesText(on(0)), "0");
  assert.equal(bytesText(null), "");
});

test("where there are no blocks, the verdict stands", () => {
  assert.equal(blocksText(on(98_304)), "2");
  assert.equal(blocksText(on(300_000)), "exceeds");
  assert.equal(blocksText(on(0, null, { verdict: "refused" })), "refused");
  assert.equal(blocksText(null), "not surveyed");
  assert.equal(blocksText(null, false), "not launched");
});

test("a cell says in words how full the device is", () => {
  assert.equal(percent(on(58_112)), 25);
  assert.equal(detail(on(58_112), "sm_90"), "sm_90: fits, 25 % of 232,448 bytes");
  assert.equal(detail(on(58_112, null), "sm_90"), "sm_90: unknown, at least 25 % of 232,448 bytes");
  assert.equal(detail(on(58_112, 58_112, { columns: 256 }), "sm_100"), "sm_100: fits, 25 % of 232,448 bytes, 256 columns of tensor memory");
  assert.equal(detail(on(0, null), "sm_90"), "sm_90: unknown, 232,448 bytes");
});

test("machine code says how many blocks run at once, and what spills", () => {
  const occupancy = { blocks: 2, limits: ["registers"] };
  const machine = { by: "ptxas 13.4.59", registers: 255, spills: { stored: 1792, loaded: 1280 }, occupancy };
  const full = on(58_112, 58_112, { machine });
  assert.equal(blocksText(full), "2 (registers)");
  assert.equal(registersText(full.machine), "255, 1,792 B spilled");
  const ids = columnsOf(kernel({ ...row("1", on(100)), on: [full] })).map(({ id }) => id);
  assert.deepEqual(ids.slice(-5), ["bytes sm_90", "registers sm_90", "blocks sm_90", "bytes sm_86", "blocks sm_86"]);
  assert.equal(detail(full, "sm_90"), "sm_90: fits, 25 % of 232,448 bytes; 255 registers, 1,792 B spilled by ptxas 13.4.59");
  const amd = on(58_112, 58_112, { machine: { by: "LLVM", registers: 312, spills: { registers: 0 }, occupancy: null } });
  assert.equal(blocksText(amd), "4");
  assert.equal(registersText(amd.machine), "312");
  assert.equal(detail(amd, "gfx942"), "gfx942: fits, 25 % of 232,448 bytes; 312 registers, no spills by LLVM");
});

test("the caption says what fits, and what the compiler contradicts", () => {
  assert.equal(caption(kernel(row("1", on(100)))), "1 of 1 fit sm_90");
  const contradicted = on(100, 100, { predicted: { low: 200, high: 200, verdict: "fits" } });
  assert.equal(caption(kernel(row("1", contradicted))), "1 of 1 fit sm_90; the compiler contradicts 1");
});

test("a column for each parameter, and two for each device", () => {
  const ids = columnsOf(kernel(row("64", on(1), on(1)))).map(({ id }) => id);
  assert.deepEqual(ids, ["value BLOCK", "value num_stages", "bytes sm_90", "blocks sm_90", "bytes sm_86", "blocks sm_86"]);
});

test("numbers are sorted by number, and text after them", () => {
  const table = kernel(row("128", on(1)), row("'auto'", on(1)), row("64", on(1)), row("256", on(1)));
  assert.deepEqual(blocksOf(sorted(table, { column: "value BLOCK", descending: false })), ["64", "128", "256", "'auto'"]);
  assert.deepEqual(blocksOf(sorted(table, { column: "value BLOCK", descending: true })), ["'auto'", "256", "128", "64"]);
});

test("bytes are sorted by the most that they may be, and what is not known comes last", () => {
  const table = kernel(row("none", null), row("range", on(10, 900)), row("exact", on(500)), row("open", on(1, null)), row("?", on(0, null)));
  assert.deepEqual(blocksOf(sorted(table, { column: "bytes sm_90", descending: false })), ["exact", "range", "open", "none", "?"]);
  assert.deepEqual(blocksOf(sorted(table, { column: "bytes sm_90", descending: true })), ["open", "range", "exact", "none", "?"]);
});

test("without a sort, or by a column that is gone, rows stand as in the source", () => {
  const table = kernel(row("128", on(2)), row("64", on(1)));
  assert.deepEqual(blocksOf(sorted(table, undefined)), ["128", "64"]);
  assert.deepEqual(blocksOf(sorted(table, { column: "value GONE", descending: true })), ["128", "64"]);
});

test("a head sorts up, then down, then not at all", () => {
  const up = nextSort(undefined, "a");
  const down = nextSort(up, "a");
  assert.deepEqual([up, down, nextSort(down, "a")], [{ column: "a", descending: false }, { column: "a", descending: true }, undefined]);
  assert.deepEqual(nextSort(down, "b"), { column: "b", descending: false });
});

test("the kernel is the one above the cursor, or that of the same name", () => {
  const at = (name: string, line: number): KernelConfigurations => ({ ...kernel(), kernel: name, line });
  const kernels = [at("first", 5), at("second", 20), at("second", 40)];
  const lines = (...wanted: [number, string?][]) => wanted.map(([line, name]) => kernelAt(kernels, line, name)?.line);
  assert.deepEqual(lines([0], [4], [18], [19], [100]), [5, 5, 5, 20, 40]);
  assert.deepEqual(lines([18, "second"], [38, "second"], [18, "renamed"]), [20, 40, 5]);
  assert.equal(kernelAt([], 3), undefined);
});

test("CSV is that of the command line", () => {
  const table = kernel({ ...row("[64, 32]", on(500, null), null), selected: true }, row("64", on(100, 100, { confirmed: true }), on(100)));
  assert.equal(
    csv("kernels/a.py", table, sorted(table, undefined)),
    "file,line,kernel,configuration,device,low,high,capacity,columns,verdict,blocks,confirmed\n" +
      'kernels/a.py,12,matmul,"BLOCK=[64, 32] num_stages=3",sm_90,500,,232448,0,unknown,,false\n' +
      "kernels/a.py,12,matmul,BLOCK=64 num_stages=3,sm_90,100,100,232448,0,fits,2324,true\n" +
      "kernels/a.py,12,matmul,BLOCK=64 num_stages=3,sm_86,100,100,232448,0,fits,2324,false\n",
  );
});
