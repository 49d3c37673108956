// The table of configurations of an autotuned kernel, in the browser.

import fs from "node:fs";
import path from "node:path";

import { eventually, workbench } from "./editor.mjs";

export async function configurations({ page, url, project, ok, shot, setTheme }) {
  const { palette, panel, line, word, lens } = workbench(page);
  const toml = path.join(project, "tilefit.toml");
  fs.writeFileSync(toml, 'devices = ["sm_86"]\n');
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(url, { waitUntil: "domcontentloaded" });
  await page.locator(".explorer-folders-view .monaco-list-row", { hasText: "autotuned.py" }).dblclick({ timeout: 60_000 });
  // The palette knows the commands of an extension once that runs.
  await lens("of 227 KiB").first().waitFor({ timeout: 60_000 });
  await line("tl.cdiv(K").click();
  await palette("tilefit: Show configurations");

  const frame = () => panel("#configurations");
  const texts = async (selector) => (await frame())?.locator(selector).allInnerTexts();
  const caption = async () => (await texts("caption"))?.[0];
  const says = (text) => eventually(async () => (await caption()) === text);
  ok(await says("3 of 4 fit sm_90; 3 of 4 fit sm_86"), "the configurations open beside", await caption());
  await shot("10-configurations");
  const heads = await texts("thead button");
  ok(heads?.join() === "BLOCK_K,BLOCK_N,num_stages,bytes,blocks,bytes,blocks", "a column for what differs, two for each device", heads);
  const bytes = () => texts("tbody td.bytes:nth-child(5)");
  ok((await bytes()).join("; ") === "32,768; 98,304; 147,456; 294,912", "rows stand as in the source", await bytes());
  const table = await frame();
  const colour = (row) => table.locator(row).evaluate((it) => getComputedStyle(it).color);
  ok((await colour("tr.exceeds")) !== (await colour("tr.fits >> nth=0")), "what does not fit has a colour of its own");
  const width = () => table.locator("tbody tr >> nth=0").locator(".bar").first().evaluate((bar) => bar.style.width);
  ok((await width()) === "14%", "a bar says how full the device is", await width());
  ok((await table.locator("tr.selected .mark span").count()) === 1, "one of them is marked as shown");

  const head = table.locator("thead button[data-column='bytes sm_90']");
  const order = () => table.locator("th:has([data-column='bytes sm_90'])").getAttribute("aria-sort");
  await head.focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  ok((await order()) === "descending", "a head sorts by the keyboard, and keeps the focus", await order());
  ok((await bytes())[0] === "294,912", "the most comes first", await bytes());

  await table.locator("#copy").click();
  const copied = await eventually(async () => (await page.evaluate(() => navigator.clipboard.readText())).includes("sm_86"));
  const csv = await page.evaluate(() => navigator.clipboard.readText());
  ok(copied && csv.split("\n")[1].startsWith("autotuned.py,16,matmul,BLOCK_K=64 BLOCK_N=256 num_stages=6,sm_90,294912,"), "it is copied as CSV", csv);

  /** The last configuration gets another number of stages. A long line goes out of sight at one of its ends: `seen` is not there. */
  const type = async (seen, old, stages) => {
    await page.mouse.click(...(await word(`num_stages=${old}`, seen)));
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Backspace");
    await page.keyboard.type(stages);
  };
  await type("Config", "6", "4");
  ok(await says("4 of 4 fit sm_90; 3 of 4 fit sm_86"), "the table follows the source", await caption());
  ok((await order()) === "descending", "it stays sorted", await order());
  await palette("tilefit: Restart server");
  await page.waitForTimeout(1_000);
  await type("num_stages", "4", "7");
  ok(await says("3 of 4 fit sm_90; 3 of 4 fit sm_86"), "also after a restart of the server", await caption());
  fs.writeFileSync(toml, "");
  ok(await says("3 of 4 fit sm_90"), "and what the project says", await caption());

  for (const [theme, name] of [["Default Dark Modern", "11-dark"], ["Default High Contrast", "12-high-contrast"]]) {
    const before = await colour("tr.fits >> nth=0");
    setTheme(theme);
    if (name === "11-dark") {
      ok(await eventually(async () => (await colour("tr.fits >> nth=0")) !== before), `the table follows the theme ${theme}`);
    }
    await page.waitForTimeout(1_000);
    await shot(name);
  }
  setTheme("Default Light Modern");

  await line("tl.cdiv(K").click();
  await palette("File: Revert File");
  await palette("View: Close Editor");
  ok(await eventually(async () => (await frame()) === undefined), "it closes with its source");
  fs.rmSync(toml);
}
