// The page in a real browser.
//
//   cargo xtask test site
//
// Needs TILEFIT_SITE, which `cargo xtask site` makes, TILEFIT_CHROMIUM, and TILEFIT_OUT, where pictures go.

import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

import { chromium } from "playwright-core";

import { serve } from "./serve.mjs";

const env = (name) => process.env[name] ?? assert.fail(`${name} is not set`);
const [site, out] = [env("TILEFIT_SITE"), env("TILEFIT_OUT")];
fs.mkdirSync(out, { recursive: true });
const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

setTimeout(() => {
  console.log("not ok - the session takes longer than 5 minutes");
  process.exit(1);
}, 300_000).unref();

const web = await serve(site);
const browser = await chromium.launch({
  executablePath: env("TILEFIT_CHROMIUM"),
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
});
const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
await context.grantPermissions(["clipboard-read", "clipboard-write"]);

/** Every request of the browser, and what its console says. */
const requests = [];
const complaints = [];
context.on("request", (request) => requests.push(request.url()));
context.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(`${message.text()} (${message.location().url}:${message.location().lineNumber})`));
context.on("weberror", (error) => complaints.push(String(error.error())));

let failed = false;
async function test(name, run) {
  try {
    await run();
    console.log(`ok - ${name}`);
  } catch (error) {
    failed = true;
    console.log(`not ok - ${name}\n${error.stack}`);
    await page.screenshot({ path: path.join(out, `failed-${name.replaceAll(/\W+/g, "-")}.png`), caret: "initial" });
  }
}

async function until(probe, what) {
  const end = Date.now() + 20_000;
  for (let last; ; await page.waitForTimeout(20)) {
    last = await probe();
    if (last) {
      return last;
    }
    assert.ok(Date.now() < end, what);
  }
}

/** What the page says of its text. */
const verdict = (kind, of = page) => of.locator(`#verdict[data-kind="${kind}"]`).waitFor({ timeout: 20_000 });
const text = (of = page) => of.evaluate(() => {
  const content = document.querySelector("#source").shadowRoot.querySelector(".cm-content");
  return content.cmTile?.view?.state.doc.toString() ?? content.cmView.rootView.view.state.doc.toString();
});
const put = async (whole) => {
  await page.locator("#source .cm-content").focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(whole);
};
const map = () => page.frame({ url: /map\.html/ });

const page = await context.newPage();
const overflow = fs.readFileSync(new URL("../../../docs/examples/overflow.py", import.meta.url), "utf8");
const lines = overflow.split("\n");
const fits = overflow.replace("COLS = 64,", "COLS = 6,");

await test("the first verdict", async () => {
  await page.goto(`${web.url}playground/index.html`);
  await verdict("error");
  const milliseconds = await page.evaluate(() => performance.getEntriesByName("first verdict")[0].startTime);
  const bytes = web.asked.reduce((sum, { bytes }) => sum + bytes, 0);
  console.log(`    ${Math.round(milliseconds)} ms after the page was asked for; ${Math.round(bytes / 1000)} kB in ${web.asked.length} files`);
  assert.match(await page.locator("#verdict").textContent(), /1 error\. Line \d+: Vec overflow/);
  assert.ok((await page.locator("#source .cm-lintRange-error").count()) > 0, "a squiggle");
  await until(() => map().locator(".excess").count(), "red in the map");
});

const colours = (of = page) => until(() => of.locator('#product [class^="tok-"]').count(), "colours in the C++");

await test("the C++ has colours", async () => {
  await colours();
});

const loaded = requests.length;

await test("an overflow that is typed", async () => {
  await put(fits);
  await verdict("fine");
  await until(async () => (await map().locator(".excess").count()) === 0, "no red in the map");
  const line = lines.findIndex((line) => line.includes("COLS = "));
  await page.locator("#source .cm-line").nth(line).click();
  await page.keyboard.press("Home");
  for (let step = 0; step < lines[line].indexOf(",", lines[line].indexOf("=")) - 1; step++) {
    await page.keyboard.press("ArrowRight");
  }
  await page.evaluate(() => {
    const source = document.querySelector("#source").shadowRoot;
    const map = document.querySelector("#map").contentDocument;
    addEventListener("keydown", ({ key }) => {
      if (key !== "4") {
        return;
      }
      const [start, seen] = [performance.now(), {}];
      const look = () => {
        seen.squiggle ??= source.querySelector(".cm-lintRange-error") ? performance.now() - start : undefined;
        seen.map ??= map.querySelector(".excess") ? performance.now() - start : undefined;
        seen.squiggle && seen.map ? (window.seen = seen) : requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    }, true);
  });
  const all = [];
  for (let round = 0; round < 15; round++) {
    await page.evaluate(() => delete window.seen);
    await page.keyboard.press("4");
    all.push(await until(() => page.evaluate(() => window.seen), "a squiggle and a red map"));
    await page.keyboard.press("Backspace");
    await verdict("fine");
    await until(async () => (await map().locator(".excess").count()) === 0, "no red in the map");
  }
  for (const part of ["squiggle", "map"]) {
    const sorted = all.map((seen) => seen[part]).sort((a, b) => a - b);
    console.log(`    keystroke to ${part}: median ${sorted[7].toFixed(0)} ms, worst of 15 ${sorted[14].toFixed(0)} ms`);
  }
});

await test("a hover has the address", async () => {
  await put(overflow);
  await verdict("error");
  const at = page.locator("#source .cm-line", { hasText: "pl.exp(gate)" });
  await page.mouse.move(10, 300);
  const box = await at.boundingBox();
  await page.mouse.move(box.x + 110, box.y + box.height / 2, { steps: 4 });
  const hover = page.locator("#source .cm-lsp-hover-tooltip");
  await hover.waitFor();
  assert.match(await hover.textContent(), /squashed[\s\S]*0x[0-9a-f]+/i);
  await page.mouse.move(10, 300);
});

await test("the keyboard gets the same, and a screen reader hears it", async () => {
  await page.locator("#source .cm-line", { hasText: "pl.exp(gate)" }).click({ position: { x: 80, y: 8 } });
  // Where the mouse rests there would be a hover, too.
  await page.mouse.move(10, 300);
  // What was typed before is read out when the typing pauses, after whatever is said meanwhile.
  await until(async () => /^1 error/.test(await page.locator("#spoken").textContent()), "the verdict");
  await page.keyboard.press("Control+k");
  await page.keyboard.press("Control+i");
  await until(async () => /squashed[\s\S]*0x20000/.test(await page.locator("#spoken").textContent()), "the words");
  assert.equal(await page.locator("#source .cm-lsp-hover-tooltip").count(), 1);
  await page.keyboard.press("Escape");
  await until(async () => (await page.locator("#source .cm-lsp-hover-tooltip").count()) === 0, "the hover to close");
});

await test("hints stand beside tiles", async () => {
  await until(() => page.locator("#source .hint").count(), "hints");
  assert.match(await page.locator("#source .hint").first().textContent(), /Vec/);
});

await test("a lens says how full each memory is", async () => {
  await put(overflow);
  await verdict("error");
  await until(async () => /^\s*Vec .* 105 %, 8 KiB over$/.test(await page.locator("#source .lens").textContent()), "over the capacity");
  await put(fits);
  await until(async () => !(await page.locator("#source .lens").textContent()).includes("over"), "within it");
});

const split = /Split in two: 32 rows at a time/;
const isSplit = async () => {
  await verdict("fine");
  assert.match(await text(), /ROWS \/\/ 2/);
};

await test("a quick fix is below the message of a finding", async () => {
  await put(overflow);
  await verdict("error");
  await page.mouse.move(10, 300);
  const box = await page.locator("#source .cm-lintRange-error").first().boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 4 });
  await page.locator("#source .cm-diagnostic button", { hasText: split }).click();
  await isSplit();
});

await test("and in a list, for the keyboard", async () => {
  await put(overflow);
  await verdict("error");
  await page.locator("#source .cm-line", { hasText: "pl.exp(gate)" }).click({ position: { x: 80, y: 8 } });
  await page.keyboard.press("Control+.");
  await page.locator("#source .fixes button:focus").waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#source .fixes").count(), 0);
  await page.keyboard.press("Control+.");
  await page.locator("#source .fixes button:focus", { hasText: split }).waitFor();
  await page.keyboard.press("Enter");
  await isSplit();
  await page.keyboard.press("Control+z");
  await verdict("error");
});

await test("a completion", async () => {
  await put(overflow.replace("pl.exp(gate)", "pl.ex"));
  await page.locator("#source .cm-line", { hasText: "pl.ex" }).first().click();
  await page.keyboard.press("End");
  await page.keyboard.type("p");
  const list = page.locator("#source .cm-tooltip-autocomplete");
  await list.waitFor();
  assert.match(await list.textContent(), /exp/);
  await page.keyboard.press("Escape");
});

await test("the C++ follows", async () => {
  await put(fits);
  await verdict("fine");
  const shown = () => page.locator("#product .cm-content").textContent();
  await until(async () => /TEXP\(/.test(await shown()), "C++ with the exponential");
  assert.match(await page.locator("#product-title").textContent(), /Generated C\+\+ of Gate\.gate/);
  await page.locator("#source .cm-line", { hasText: "pl.exp(gate)" }).click();
  await until(() => page.locator("#product .match").count(), "lines that the cursor's line becomes");
});

await test("the map leads to the source", async () => {
  await map().locator("g.box").first().focus();
  await page.keyboard.press("Enter");
  await until(() => page.evaluate(() => document.activeElement?.id === "source"), "the focus in the source");
});

await test("another target", async () => {
  await put(overflow);
  await verdict("error");
  await page.locator("#target").selectOption("ascend950");
  await verdict("fine");
  await page.locator("#target").selectOption("");
  await verdict("error");
});

await test("a kernel for a GPU", async () => {
  await page.locator("#example").selectOption("tlx_hopper_gemm");
  await until(async () => (await page.locator("#product-title").textContent()).startsWith("Lowered IR of product"), "the lowered IR");
  await until(() => map().locator("g.box").count(), "its map");
});

await test("every example is read", async () => {
  const names = await page.locator("#example option").evaluateAll((options) => options.map((option) => option.value).filter(Boolean));
  const files = fs.readdirSync(new URL("../../../docs/examples/", import.meta.url)).filter((file) => file.endsWith(".py"));
  assert.deepEqual([...names].sort(), files.map((file) => file.replace(".py", "")).sort());
  for (const name of names) {
    await page.locator("#example").selectOption(name);
    await until(() => map().locator("g.box").count(), `the map of ${name}`);
  }
});

await test("offline, and without a request", async () => {
  await context.setOffline(true);
  await put(fits);
  await verdict("fine");
  await put(overflow);
  await verdict("error");
  await context.setOffline(false);
  assert.deepEqual(requests.slice(loaded), [], "after the first load nothing is asked for");
  assert.deepEqual(requests.filter((url) => !url.startsWith(web.url)), [], "and before that, nothing elsewhere");
});

await test("a kernel that is too large is given up, and nothing else", async () => {
  // Functions of which each calls the one before ten times: the analysis unwinds when it has taken its steps.
  const tile = "pl.Tile[[16, 16], pl.FP32]";
  const inlined = (level, body) => `    @pl.function(type=pl.FunctionType.Inline)\n    def f${level}(self, x: ${tile}) -> ${tile}:\n${body}        return x\n\n`;
  const levels = Array.from({ length: 11 }, (_, level) => inlined(level + 1, `        x = self.f${level}(x)\n`.repeat(10)));
  const all = ["class Gate:\n", inlined(0, "        x = pl.exp(x)\n"), ...levels].join("");
  const large = overflow.replace("class Gate:\n", all).replace("        result = ", "        small = pl.load(x, [0, 0], [16, 16])\n        small = self.f11(small)\n        result = ");
  await put(large);
  await until(async () => /too large to be analysed/.test(await page.locator("#verdict").textContent()), "it is said");
  assert.equal(await page.locator("#notice").textContent(), "", "the module has not ended");
});

await test("a text without a kernel", async () => {
  await put("x = 1\n");
  await until(async () => (await page.locator("#verdict").textContent()) === "There is no kernel in this text.", "it is said");
});

await test("a link carries text and target", async () => {
  await put(`# naïve 😀\n${fits}`);
  await page.locator("#target").selectOption("ascend950");
  await page.locator("#copy").click();
  await until(() => page.url().includes("#kernel="), "a link in the address bar");
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), page.url());
  const other = await context.newPage();
  await other.goto(page.url());
  await verdict("fine", other);
  assert.equal(await text(other), await text());
  assert.equal(await other.locator("#target").inputValue(), "ascend950");
  await other.close();
  assert.ok(web.asked.every(({ url }) => !url.includes("kernel=")), "no server sees the text");
  const damaged = await context.newPage();
  await damaged.goto(`${web.url}playground/index.html#kernel=AAAA`);
  await verdict("error", damaged);
  assert.match(await damaged.locator("#notice").textContent(), /damaged/);
  await damaged.close();
  await page.locator("#target").selectOption("");
});

/** In the worker: the next thing that it does with a message is a real trap. */
function trap() {
  const bytes = [0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 5, 1, 1, 116, 0, 0, 10, 5, 1, 3, 0, 0, 11];
  const module = new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(bytes)));
  TextEncoder.prototype.encode = () => module.exports.t();
}

await test("a module that traps is started again", async () => {
  await put(overflow);
  await verdict("error");
  await page.workers()[0].evaluate(trap);
  await put(fits);
  await verdict("fine");
  await until(async () => /started again/.test(await page.locator("#notice").textContent()), "it is said");
});

await test("one that traps on the first text waits for another", async () => {
  const other = await context.newPage();
  const worker = fs.readFileSync(path.join(site, "playground/worker.js"), "utf8");
  await other.route("**/worker.js", (route) => route.fulfill({ contentType: "text/javascript", body: `(${trap})();${worker}` }));
  await other.goto(`${web.url}playground/index.html`);
  await other.locator("#notice", { hasText: "ended unexpectedly (unreachable)" }).filter({ hasText: "starts again when you edit" }).waitFor();
  await other.unroute("**/worker.js");
  await other.locator("#source .cm-content").press("Enter");
  await verdict("error", other);
  await other.close();
});

await test("one that does not load is tried again", async () => {
  const other = await context.newPage();
  await other.route("**/server.wasm.xz", (route) => route.fulfill({ status: 503 }));
  await other.goto(`${web.url}playground/index.html`);
  await other.locator("#notice", { hasText: "cannot be loaded (server.wasm.xz: 503" }).waitFor();
  await other.unroute("**/server.wasm.xz");
  await other.locator("#source .cm-content").press("Enter");
  await verdict("error", other);
  await other.close();
  complaints.splice(0, complaints.length, ...complaints.filter((said) => !said.includes("503"))); // the browser's own word
});

// Before axe, which puts styles into the page.
await test("nothing is complained of", async () => assert.deepEqual(complaints, []));

for (const scheme of ["light", "dark"]) {
  await test(`nothing that axe objects to, ${scheme}`, async () => {
    await page.emulateMedia({ colorScheme: scheme });
    await put(overflow);
    await verdict("error");
    await until(() => map().locator(".excess").count(), "red in the map");
    await page.waitForTimeout(300);
    for (const frame of [page.mainFrame(), map()]) {
      await frame.evaluate(axe);
      const { violations } = await frame.evaluate(() => axe.run({ iframes: false }));
      const told = violations.map(({ id, help, nodes }) => `${id}: ${help}\n    ${nodes.map(({ target }) => target.join(" ")).slice(0, 5).join("\n    ")}`);
      assert.deepEqual(told, [], frame.url());
    }
    await page.screenshot({ path: path.join(out, `playground-${scheme}.png`), caret: "initial" });
  });
}

await test("Tab goes through everything, in order, and out of the editor", async () => {
  await page.locator("#example").focus();
  const order = [];
  for (let stop = 0; stop < 11; stop++) {
    const within = await page.evaluate(() => document.activeElement?.id || document.activeElement?.tagName);
    order.push(within === "map" ? `map ${await map().evaluate(() => document.activeElement?.id || document.activeElement?.tagName)}` : within);
    await page.keyboard.press("Tab");
  }
  assert.deepEqual(order, ["example", "target", "planner", "copy", "A", "verdict", "source", "map one-scale", "map g", "map SUMMARY", "product"]);
});

await test("the grammar of C++ is loaded once there is C++", async () => {
  await page.locator("#example").selectOption("tlx_hopper_gemm");
  await page.locator("#copy").click();
  await until(() => page.url().includes("#kernel="), "a link in the address bar");
  const other = await context.newPage();
  const scripts = [];
  other.on("request", (request) => request.resourceType() === "script" && scripts.push(path.basename(request.url())));
  await other.goto(page.url());
  await until(async () => (await other.locator("#product-title").textContent()).startsWith("Lowered IR"), "the lowered IR");
  await other.waitForTimeout(300);
  const before = [...scripts];
  await other.locator("#example").selectOption("overflow");
  await colours(other);
  assert.equal(scripts.length, before.length + 1, `${before} / ${scripts}`);
  await other.close();
});

await browser.close();
web.close();
process.exit(failed ? 1 : 0);
