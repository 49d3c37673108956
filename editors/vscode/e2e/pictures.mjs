// Takes the pictures of README and book, in light and dark.
//
//   cargo xtask pictures
//   node pictures.mjs [scene ...]
//
// Needs what editor.mjs needs, TILEFIT_EXAMPLES, TILEFIT_PYTHON, which has Triton, pytest and the module `tilefit`, and TILEFIT_OUT, where `vscode-<name>-light.png` and
// `vscode-<name>-dark.png` go.

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

import { fileURLToPath } from "node:url";

import { env, eventually, limit, start, workbench } from "./editor.mjs";

limit(600_000);
const out = env("TILEFIT_OUT");
fs.rmSync(out, { recursive: true, force: true });
const project = path.join(out, "project");
const examples = env("TILEFIT_EXAMPLES");
fs.cpSync(examples, project, { recursive: true });
// The first kernel of the page about scopes.
const [, scope] = /```python[^\n]*\n([\s\S]*?)```/.exec(fs.readFileSync(path.join(examples, "../guide/scopes.md"), "utf8"));
fs.writeFileSync(path.join(project, "rms_norm.py"), scope);

// Without its smallest configuration, whose map is nearly empty.
const autotuned = fs.readFileSync(path.join(path.dirname(fileURLToPath(import.meta.url)), "autotuned.py"), "utf8");
fs.writeFileSync(path.join(project, "matmul.py"), autotuned.replace(/.*"BLOCK_K": 32.*\n/, ""));

// A kernel whose configurations are pruned.
const tuned = fs.readFileSync(path.join(examples, "tuned_matmul.py"), "utf8");
const pruned = tuned.replace("import triton\n", "import tilefit\nimport triton\n").replace("@triton.autotune(", "@tilefit.prune\n@triton.autotune(");
fs.writeFileSync(path.join(project, "pruned_matmul.py"), pruned);

// What almost fills a memory, fills it and exceeds it.
const kernel = ([name, rows]) => `

@pl.function(type=pl.FunctionType.InCore)
def ${name}(x: pl.Tensor[[256, 256], pl.FP32], out: pl.Out[pl.Tensor[[256, 256], pl.FP32]]):
    tile = pl.load(x, [0, 0], [${rows}, 256])
    out = pl.store(tile, [0, 0], out)
    return out
`;
const fills = [["almost_full", 169], ["full", 184], ["too_large", 192]].map(kernel).join("");
fs.writeFileSync(path.join(project, "fullness.py"), `import pypto.language as pl\n${fills}`);
const overflow = fs.readFileSync(path.join(examples, "overflow.py"), "utf8");
fs.writeFileSync(path.join(project, "misspelt.py"), overflow.replace("pl.mul(value, squashed)", "pl.mul(value, squshed)"));

// A kernel whose tests were recorded.
fs.cpSync(fileURLToPath(new URL("recorded", import.meta.url)), project, { recursive: true });
const python = env("TILEFIT_PYTHON");
execFileSync("git", ["init", "-q"], { cwd: project });
execFileSync(python, ["-m", "tilefit", "record", "--dry", "sm_90", "--", python, "-m", "pytest", "-q", "--rootdir=.", "test_scores.py"], { cwd: project });

/** An editor with a kernel in it, and nothing that has nothing to do with it. */
const settings = {
  "breadcrumbs.enabled": false,
  "editor.cursorBlinking": "solid",
  "editor.fontSize": 14,
  "editor.guides.indentation": false,
  "editor.hover.delay": 100,
  "editor.hover.above": false,
  "editor.hover.sticky": true,
  "editor.lightbulb.enabled": "off",
  "editor.matchBrackets": "never",
  "editor.occurrencesHighlight": "off",
  "editor.overviewRulerBorder": false,
  "editor.scrollbar.horizontal": "hidden",
  "editor.scrollbar.vertical": "hidden",
  "editor.stickyScroll.enabled": false,
  "problems.decorations.enabled": false,
  "window.commandCenter": false,
  "window.menuBarVisibility": "hidden",
  "workbench.activityBar.location": "hidden",
  "workbench.editor.editorActionsLocation": "hidden",
  "workbench.layoutControl.enabled": false,
  "workbench.statusBar.visible": false,
  "tilefit.confirm": "command",
  "tilefit.confirmFull": true,
  "tilefit.devices": ["sm_86"],
  "tilefit.python": python,
};

const themes = { light: "Default Light Modern", dark: "Default Dark Modern" };

/** The server tells apart what was measured; a picture must not wait for what never comes. */
async function must(probe, what) {
  if (!(await eventually(probe))) {
    throw new Error(`${what} is not there`);
  }
}

/** The compiler has confirmed the plan of the kernel, and what it says of that has been read. */
async function confirm({ page, parts }) {
  await must(() => parts.lens("of 227 KiB").count(), "the lens");
  await page.mouse.click(...(await parts.word("def matmul", "matmul")));
  await parts.palette("tilefit: Confirm with the compiler");
  await must(() => parts.lens("confirmed").count(), "the word of the compiler");
  await must(() => page.locator(".notification-toast", { hasText: "confirmed by" }).count(), "its message");
  await parts.palette("Notifications: Clear All Notifications");
}

/** What is to be seen: a file, the line at the top of the window, the size of the picture, and what happens. */
const scenes = {
  overflow: {
    file: "overflow.py",
    top: 11,
    size: [860, 690],
    height: 1700, // a hover is as high as a quarter of the editor
    async play({ page, parts }) {
      await must(parts.squiggles, "the squiggle");
      const hover = page.locator(".monaco-hover:visible", { hasText: "exceeds" }).filter({ hasText: "reuse group" });
      await must(async () => {
        // Hints that arrive meanwhile move the words.
        await page.mouse.move(500, 40);
        await page.mouse.move(...(await parts.word("pl.exp(gate)", "squashed")), { steps: 5 });
        await page.waitForTimeout(1_500);
        return hover.count();
      }, "the hover");
    },
  },
  lens: {
    file: "fullness.py",
    top: 3,
    size: [860, 480],
    async play({ parts }) {
      await must(async () => (await parts.lens("Vec").count()) === 3, "the lenses");
      await must(parts.squiggles, "the squiggle");
    },
  },
  misspelt: {
    file: "misspelt.py",
    top: 11,
    size: [860, 460],
    async play({ page, parts }) {
      await must(() => page.locator(".squiggly-warning").count(), "the squiggle");
      const hover = page.locator(".monaco-hover:visible", { hasText: "squashed" });
      await must(async () => {
        await page.mouse.move(500, 40);
        await page.mouse.move(...(await parts.word("pl.mul(value", "squshed")), { steps: 5 });
        await page.waitForTimeout(1_500);
        return hover.count();
      }, "the hover");
    },
  },
  map: {
    file: "chained_matmul.py",
    top: 12,
    size: [1140, 600],
    async play({ page, parts }) {
      await must(() => parts.lens("Left").count(), "the lens");
      await page.mouse.click(...(await parts.word("pl.move(e_l1", "e_l0")));
      await parts.palette("tilefit: Show memory map");
      await must(async () => (await parts.boxes("g.box.here"))?.length === 1, "the outline in the map");
      const map = await parts.map();
      await map.locator("#planner").selectOption("sequential");
      await must(async () => (await map.locator("#compare").textContent()).includes("→"), "before and after");
    },
  },
  codegen: {
    file: "overflow.py",
    top: 11,
    size: [1140, 420],
    async play({ page, parts }) {
      await must(() => parts.lens("show generated C++").count(), "the lens");
      await page.mouse.click(...(await parts.word("pl.exp(gate)", "exp")));
      await parts.palette("tilefit: Show generated C++");
      await must(async () => (await parts.marked()) === 2, "matching lines");
    },
  },
  gpu: {
    file: "tlx_hopper_gemm.py",
    top: 13,
    size: [1320, 640],
    async play({ page, parts }) {
      await must(() => parts.lens("of 227 KiB").count(), "the lens");
      await page.mouse.click(...(await parts.word("def product", "product")));
      await parts.palette("tilefit: Show memory map");
      await must(async () => (await parts.boxes())?.some((box) => box.includes("staging")), "the staging in the map");
    },
  },
  tilelang: {
    file: "tilelang_gemm.py",
    top: 9,
    size: [1320, 560],
    async play({ page, parts }) {
      await must(() => parts.lens("of 227 KiB").count(), "the lens");
      await page.mouse.click(...(await parts.word("T.copy(total", "staged")));
      await parts.palette("tilefit: Show memory map");
      await must(async () => (await parts.boxes("g.box.here"))?.length === 1, "the outline in the map");
    },
  },
  configurations: {
    file: "matmul.py",
    top: 5,
    size: [1920, 340],
    async play({ page, parts }) {
      await confirm({ page, parts });
      await parts.palette("tilefit: Show configurations");
      const table = () => parts.panel("#configurations");
      await must(async () => (await (await table())?.locator("[title='confirmed by the compiler']").count()) === 6, "the words of the compiler");
    },
  },
  pruned: {
    file: "pruned_matmul.py",
    top: 6,
    size: [1920, 420],
    async play({ page, parts }) {
      await must(() => parts.lens("configurations").count(), "the lens");
      await page.mouse.click(...(await parts.word("def matmul", "matmul")));
      await parts.palette("tilefit: Show configurations");
      const table = () => parts.panel("#configurations");
      await must(async () => (await (await table())?.locator("text=245,760").count()) > 0, "the configuration that is left out");
    },
  },
  confirmed: {
    file: "matmul.py",
    top: 13,
    size: [1320, 420],
    async play({ page, parts }) {
      await confirm({ page, parts });
      await parts.palette("tilefit: Show memory map");
      await must(async () => (await (await parts.map())?.locator(".confirmation").count()) === 1, "the word of the compiler in the map");
    },
  },
  recorded: {
    file: "scores.py",
    top: 1,
    size: [1140, 500],
    height: 1700, // a hover is as high as a quarter of the editor
    async play({ page, parts }) {
      await must(() => parts.lens("recorded").count(), "the lens");
      const hover = page.locator(".monaco-hover:visible", { hasText: "test_scores.py" });
      await must(async () => {
        await page.mouse.move(500, 40);
        await page.mouse.move(...(await parts.word("def scores", "scores")), { steps: 5 });
        await page.waitForTimeout(1_500);
        return hover.count();
      }, "the hover");
    },
  },
  switch: {
    file: "overflow.py",
    top: 11,
    size: [860, 520],
    async play({ page, parts }) {
      await must(() => parts.lens("Vec").count(), "the lens");
      await parts.palette("tilefit: Switch planner or target");
      await must(() => page.locator(".quick-input-list .monaco-list-row", { hasText: "ascend950" }).count(), "the list");
    },
  },
  scope: {
    file: "rms_norm.py",
    top: 4,
    size: [1240, 440],
    async play({ page, parts }) {
      await must(() => parts.lens("Vec").count(), "the lens");
      await page.mouse.click(...(await parts.word("pl.rsqrt", "scale")));
      await parts.palette("tilefit: Show allocated IR");
      await must(() => page.locator(".view-line", { hasText: "tile.alloc" }).count(), "the program of tiles");
    },
  },
};

const wanted = process.argv.slice(2);
let failed = false;
for (const [shade, theme] of Object.entries(themes)) {
  const state = path.join(out, shade);
  const editor = await start({ out: state, project, settings: { ...settings, "workbench.colorTheme": theme } });
  for (const [name, { file, top, size: [width, height], height: room = height, play }] of Object.entries(scenes)) {
    if (wanted.length > 0 && !wanted.includes(name)) {
      continue;
    }
    const page = await editor.browser.newPage({ viewport: { width, height: room }, deviceScaleFactor: 1.5 });
    try {
      await page.goto(editor.url([["openFile", `${editor.remote}${path.join(project, file)}`]]));
      const parts = workbench(page);
      await page.locator(".monaco-editor .view-lines").first().waitFor({ timeout: 60_000 });
      await parts.palette("View: Close Primary Side Bar");
      await page.locator(".view-line").first().click();
      for (let line = 1; line < top; line++) {
        await page.keyboard.press("Control+ArrowDown");
      }
      await play({ page, parts });
      await page.waitForTimeout(500);
      await page.screenshot({ path: path.join(out, `vscode-${name}-${shade}.png`), clip: { x: 0, y: 0, width, height } });
      console.log(`ok - ${name}, ${shade}`);
    } catch (error) {
      failed = true;
      console.log(`not ok - ${name}, ${shade}: ${error.message}`);
      await page.screenshot({ path: path.join(state, `${name}-failed.png`) });
    }
    await page.close();
  }
  await editor.close();
}
process.exit(failed ? 1 : 0);
