// The extension in VS Code for the web, with no machine behind the window: what works in a window with a machine works there, as far as it needs none.
//
//   cargo xtask test site
//
// Needs TILEFIT_MODULES (the node_modules with VS Code for the web), TILEFIT_CHROMIUM, TILEFIT_VSIX (that of the web), TILEFIT_EXAMPLES, and TILEFIT_OUT,
// where pictures go.

import fs from "node:fs";
import path from "node:path";

import { env, eventually, launch, limit, workbench } from "../editor.mjs";
import { flags, serve } from "./serve.mjs";

limit(240_000);
const out = env("TILEFIT_OUT");
fs.rmSync(out, { recursive: true, force: true });
fs.mkdirSync(out, { recursive: true });

let failed = 0;
const ok = (condition, name, detail) => {
  console.log(`${condition ? "ok" : "not ok"} - ${name}`);
  if (!condition) {
    failed++;
    console.log(`  # ${String(detail).replaceAll("\n", "\n  # ").slice(0, 2000)}`);
  }
};

const overflow = fs.readFileSync(path.join(env("TILEFIT_EXAMPLES"), "overflow.py"), "utf8");
const files = {
  "/project/overflow.py": overflow,
  "/project/tilefit.toml": 'planner = "packed"\n',
  "/project/imports.py": overflow.replace(/^ROWS, COLS = .*$/m, "from sizes.tiles import COLS, ROWS"),
  "/project/sizes/tiles.py": "ROWS, COLS = 64, 256\n",
  "/project/autotuned.py": fs.readFileSync(new URL("../autotuned.py", import.meta.url), "utf8"),
  "/large/overflow.py": overflow,
  "/large/tilefit.toml": 'target = "ascend950"\n',
  "/both.code-workspace": JSON.stringify({ folders: [{ uri: "kernels:/large" }, { uri: "kernels:/project" }] }),
};
const web = await serve(files);
const browser = await launch(flags);
const context = await browser.newContext({ viewport: { width: 1500, height: 900 } });
const outside = [];
context.on("request", (request) => new URL(request.url()).hostname.endsWith(".vscode.test") || /^(blob|data):/.test(request.url()) || outside.push(request.url()));
const page = await context.newPage();
const said = [];
page.on("console", (message) => said.push(message.text()));
const shot = (name) => page.screenshot({ path: path.join(out, `${name}.png`) });
const { palette, offered, squiggles, line, word, lens, boxes, map, panel } = workbench(page);

const row = (name) => page.getByRole("treeitem", { name, exact: true });
/** By its path in the explorer: nothing searches files of this scheme. */
const open = async (name) => {
  const folders = name.split("/");
  const file = folders.pop();
  for (const folder of folders) {
    if ((await row(folder).getAttribute("aria-expanded", { timeout: 60_000 })) === "false") {
      await row(folder).click();
    }
  }
  await row(file).last().dblclick({ timeout: 60_000 });
  await page.locator(".tab.active", { hasText: file }).first().waitFor();
};
const atEndOf = async (text) => {
  await line(text).click({ position: { x: 5, y: 5 } });
  await page.keyboard.press("End");
};
const erase = async (count) => {
  for (let nth = 0; nth < count; nth++) {
    await page.keyboard.press("Backspace");
  }
};

const status = page.locator(".statusbar-item[id*='tilefit']");
const inForce = (text) => eventually(async () => (await status.innerText()).trim() === text);

async function author() {
  const asked = performance.now();
  await page.goto(web.url("/project"), { waitUntil: "domcontentloaded" });
  await open("overflow.py");
  await line("pl.exp(gate)").waitFor();
  const text = performance.now();
  const found = await eventually(squiggles);
  const seconds = (from, to) => ((to - from) / 1000).toFixed(1);
  ok(found, `a squiggle under the tile that does not fit (window to text ${seconds(asked, text)} s, text to squiggle ${seconds(text, performance.now())} s)`, said.join("\n"));
  ok(await inForce("ascend910b, packed"), "the planner is that of tilefit.toml", await status.innerText());
  ok(await eventually(async () => (await lens("Vec").count()) > 0), "a lens with the use of memory");
  const hints = () => page.locator(".view-line", { hasText: "pl.load(x" }).first().innerText();
  ok(await eventually(async () => (await hints()).includes("64")), "hints tell the sizes", await hints());
  await shot("1-overflow");

  await page.evaluate(() => {
    // From the key to the frame in which the squiggle is there.
    addEventListener("keydown", ({ key }) => {
      if (key !== "6") {
        return;
      }
      const start = performance.now();
      const look = () => {
        if (document.querySelector(".monaco-editor .squiggly-error")) {
          (window.seen ??= []).push(performance.now() - start);
        } else if (performance.now() - start < 5_000) {
          requestAnimationFrame(look);
        }
      };
      requestAnimationFrame(look);
    }, true);
  });
  await atEndOf("ROWS, COLS = 64,");
  const seen = () => page.evaluate(() => window.seen ?? []);
  const rounds = 10;
  let gone = 0;
  for (let round = 0; round < rounds; round++) {
    await erase(1);
    gone += (await eventually(async () => (await squiggles()) === 0)) ? 1 : 0;
    await page.keyboard.type("6");
    // Not by the squiggle: it may be there a frame before the page has looked for it.
    await eventually(async () => (await seen()).length > round);
  }
  const times = (await seen()).sort((a, b) => a - b);
  const told = [times[Math.floor(times.length / 2)], times.at(-1)].map((time) => time?.toFixed(0)).join(" / ");
  ok(gone === rounds && times.length === rounds, `the squiggle goes and comes as a digit does (key to squiggle, middle / most of ${rounds}: ${told} ms)`, times);

  await page.mouse.move(...(await word("pl.load(x", "value")));
  const hover = page.locator(".monaco-hover", { hasText: "0x" });
  ok(await eventually(async () => (await hover.innerText()).includes("65536")), "hover tells address and bytes", await page.locator(".monaco-hover").allInnerTexts());
  await shot("2-hover");
  await page.mouse.move(5, 500);

  await line("pl.load(g").click();
  await palette("tilefit: Show memory map");
  ok(await eventually(async () => (await boxes())?.length > 0), "the memory map opens beside", await boxes());
  ok((await boxes())?.some((label) => label.includes("over the capacity")), "it says what is over", await boxes());
  await atEndOf("ROWS, COLS = 64,");
  await erase(3);
  await page.keyboard.type("128");
  ok(await eventually(async () => (await boxes())?.every((label) => !label.includes("over the capacity"))), "the map follows the keys", await boxes());
  const here = async () => (await boxes("g.box.here"))?.map((label) => label.split(":")[0]);
  await (await map()).locator('g.box[aria-label^="mixed:"]').click();
  ok(await eventually(async () => (await here())?.join() === "mixed"), "a click in it goes to the source", await here());
  await shot("3-map");

  await line("pl.add(mixed").click();
  await palette("tilefit: Show generated C++");
  ok(await eventually(async () => (await page.locator(".view-line", { hasText: "TSTORE" }).count()) > 0), "the C++ opens beside");
  await shot("4-code");
  await palette("View: Close Editors in Other Groups");
  await atEndOf("ROWS, COLS = 64,");
  await erase(3);
  await page.keyboard.type("256");
  await eventually(squiggles);
  await page.keyboard.press("F8");
  const zone = page.locator(".zone-widget .marker-widget");
  await zone.waitFor();
  await zone.locator("a.code-link, .code-link").first().click();
  ok(await eventually(async () => (await page.locator(".tab.active", { hasText: "capacity-exceeded.md" }).count()) > 0), "the code leads to its page");
  await shot("5-page");
  await open("overflow.py");
  const actions = page.locator(".action-widget .monaco-list-row");
  // A click into a window that still changes is not heard, so it is done again.
  const fixesOffered = async () => {
    await page.keyboard.press("Escape");
    await page.mouse.click(...(await word("pl.exp(gate", "squashed")));
    await page.keyboard.press("Control+.");
    await actions.first().waitFor({ timeout: 5_000 });
    return true;
  };
  ok(await eventually(fixesOffered), "quick fixes are offered");
  const fixes = await actions.allInnerTexts();
  await page.keyboard.press("Escape");
  const commands = await offered("tilefit:");
  ok(commands.some((command) => command.includes("memory map")) && !commands.some((command) => command.includes("Confirm")), "what needs a machine is not offered", commands);
  ok(!fixes.some((fix) => /confirm/i.test(fix)), "nor in quick fixes", fixes);

  await open("tilefit.toml");
  await atEndOf("planner");
  await page.keyboard.press("Enter");
  await page.keyboard.type('target = "ascend950"');
  await page.keyboard.press("Control+s");
  await open("overflow.py");
  ok(await inForce("ascend950, packed"), "a settings file that is saved counts", await status.innerText());
  ok(await eventually(async () => (await squiggles()) === 0), "a larger target has room");
  await open("tilefit.toml");
  await palette("View: Close Editor");
  await page.keyboard.press("Escape");

  await palette("tilefit: Restart server");
  await open("imports.py");
  ok(await eventually(async () => (await lens("Vec").count()) > 0), "a lens after a restart");
  const before = await lens("Vec").first().innerText();
  ok(/\d+ %/.test(before), "with sizes that are imported from a file that is not open", before);
  await shot("6-imports");
  await open("sizes/tiles.py");
  await atEndOf("ROWS, COLS");
  await erase(3);
  await page.keyboard.type("128");
  await open("imports.py");
  ok(await eventually(async () => (await lens("Vec").first().innerText()) !== before), "which is edited in another editor", before);

  await open("overflow.py");
  await page.keyboard.press("Control+Home");
  await atEndOf("ROWS, COLS = 64,");
  const workers = () => web.asked.filter((path) => path.endsWith("worker.js")).length;
  const started = workers();
  await page.keyboard.type(`# ${web.trap}`);
  ok(await eventually(async () => workers() > started), "a module that fails is started again");
  // Not Enter: it takes what is suggested, where a list of that is open.
  await page.keyboard.press("Control+Enter");
  await page.keyboard.type("ROWS, COLS = 64, 25");
  ok(await eventually(async () => /\d+ %/.test(await lens("Vec").innerText())), "and knows the text", said.slice(-10).join("\n"));

  await open("autotuned.py");
  await lens("of 227 KiB").first().waitFor();
  await line("tl.cdiv(K").click();
  await palette("tilefit: Show configurations");
  const caption = async () => (await panel("#configurations"))?.locator("caption").innerText();
  ok(await eventually(async () => /of 4 fit sm_90/.test(await caption())), "the configurations open beside", await caption());
  await shot("7-configurations");
}

/** Each folder has a module of its own, with its settings. */
async function folders() {
  await page.goto(web.url("/both.code-workspace"), { waitUntil: "domcontentloaded" });
  await row("project").waitFor({ timeout: 60_000 });
  await open("project/autotuned.py"); // no other folder has it
  await open("project/overflow.py");
  ok(await eventually(squiggles), "in a window with two folders, the one without a target overflows");
  ok(await inForce("ascend910b, packed"), "by its own settings", await status.innerText());
  await row("project").click(); // leaves one file of the name in sight
  await open("large/overflow.py");
  ok(await inForce("ascend950, auto"), "the other one has its own", await status.innerText());
  ok(await eventually(async () => (await lens("Vec").count()) > 0 && (await squiggles()) === 0), "and has room");
}

for (const play of [author, folders]) {
  try {
    await play();
  } catch (error) {
    ok(false, `${play.name} runs to its end`, `${error.stack}\n${said.slice(-20).join("\n")}`);
    await shot(`failed-${play.name}`);
  }
}
ok(outside.length === 0, "no request leaves the window's own server", outside.join("\n"));
await browser.close();
web.close();
console.log(`screenshots: ${out}`);
process.exit(failed === 0 ? 0 : 1);
