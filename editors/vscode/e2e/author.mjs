// What the author of a kernel sees and does, in the browser.

import fs from "node:fs";
import path from "node:path";

import { eventually, workbench } from "./editor.mjs";

export async function author({ page, url, project, ok, shot, setTheme }) {
  const { palette, offered, squiggles, line, word, map: panel, boxes: labels, marked } = workbench(page);
  /** Puts the cursor behind the `256` of the fixture. */
  const atNumber = async () => {
    await page.locator(".view-line", { hasText: "ROWS, COLS = 64," }).first().click({ position: { x: 5, y: 5 } });
    await page.keyboard.press("End");
  };

  await page.goto(url, { waitUntil: "domcontentloaded" });
  await page.waitForSelector(".monaco-workbench", { timeout: 60_000 });
  await page.locator(".explorer-folders-view .monaco-list-row", { hasText: "plain.py" }).dblclick();
  await page.waitForSelector(".monaco-editor .view-lines");
  const status = page.locator(".statusbar-item[id*='tilefit']");
  ok(!(await status.isVisible().catch(() => false)), "no status item in plain Python");
  const plain = await offered("tilefit:");
  await shot("0-plain");
  ok(plain.length > 0 && !plain.some((command) => command.includes("memory map")), "the palette offers no map in plain Python", plain);
  await page.getByRole("treeitem", { name: "overflow.py", exact: true }).dblclick();
  ok(await eventually(squiggles), "a squiggle under the tile that does not fit");
  ok(await eventually(async () => (await status.innerText()).trim() === "ascend910b, auto"), "the status item tells target and planner", await status.innerText());
  const inKernel = await offered("tilefit:");
  ok(inKernel.some((command) => command.includes("memory map")), "the palette offers the map in a kernel", inKernel);
  ok(!inKernel.some((command) => /lowered|configurations/.test(command)), "it offers nothing that PyPTO kernels do not have", inKernel);
  ok(
    await eventually(async () => (await page.locator(".codelens-decoration", { hasText: "Vec" }).count()) > 0),
    "a lens with the use of memory",
  );
  await shot("1-overflow");

  await atNumber();
  for (let i = 0; i < 3; i++) {
    await page.keyboard.press("Backspace");
  }
  await page.keyboard.type("192");
  ok(await eventually(async () => (await squiggles()) === 0), "it goes while a smaller number is typed");
  for (let i = 0; i < 3; i++) {
    await page.keyboard.press("Backspace");
  }
  await page.keyboard.type("256");
  ok(await eventually(squiggles), "it comes back while a larger one is typed", await labels());

  await status.click();
  const pick = page.locator(".quick-input-list .monaco-list-row", { hasText: "ascend950" }).first();
  await pick.click();
  ok(await eventually(async () => (await squiggles()) === 0), "a click on the status item switches the target");
  ok(await eventually(async () => (await status.innerText()).trim() === "ascend950, auto"), "the status item says so", await status.innerText());
  setTheme("Default Light Modern");
  fs.writeFileSync(path.join(project, "tilefit.toml"), 'planner = "packed"\n');
  ok(await eventually(async () => (await status.innerText()).trim() === "ascend910b, packed"), "it tells what the project says", await status.innerText());
  fs.rmSync(path.join(project, "tilefit.toml"));
  ok(await eventually(squiggles), "what is set can be taken back");

  await page.mouse.move(...(await word("pl.load(x", "value")), { steps: 4 });
  const hover = await eventually(async () => (await page.locator(".monaco-hover:visible").allInnerTexts()).join("\n").match(/0x0[\s\S]*/)?.[0]);
  ok(hover !== undefined, "a hover with the address", hover);
  await shot("2-hover");
  await page.mouse.move(5, 500);

  await line("pl.load(g").click();
  await palette("tilefit: Show memory map");
  ok(await eventually(async () => (await labels())?.length === 6), "the memory map opens beside", await labels());
  ok((await labels())?.some((label) => label.startsWith("squashed: Vec") && label.includes("over the capacity")), "it says what is over", await labels());
  await shot("3-map");

  const here = async () => (await labels("g.box.here")).map((label) => label.split(":")[0]);
  await page.mouse.click(...(await word("pl.add(gated", "mixed")));
  ok(await eventually(async () => (await here()).join() === "mixed"), "the tile under the cursor is outlined", await here());
  await page.mouse.click(...(await word("pl.exp(gate", "squashed")));
  ok(await eventually(async () => (await here()).join() === "squashed"), "the outline follows the cursor", await here());

  const before = await labels();
  await atNumber();
  for (let i = 0; i < 3; i++) {
    await page.keyboard.press("Backspace");
  }
  await page.keyboard.type("128");
  ok(await eventually(async () => (await labels())?.some((label) => label.includes("32 KiB"))), "the map changes as a number is typed", before);
  await shot("4-map-after-typing");

  const frame = await panel();
  await frame.locator("g.box[tabindex='0']").focus();
  const focused = () => frame.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? "");
  const first = await focused();
  await page.keyboard.press("ArrowRight");
  ok((await focused()) !== first && (await focused()) !== "", "arrow keys go from tile to tile", `${first} / ${await focused()}`);
  const told = () => frame.locator("#tip:visible").innerText({ timeout: 1_000 }).catch(() => "");
  ok((await told()).split("\n")[0] === (await focused()).split(":")[0], "the tile with the focus is told in words", await told());
  const goal = (await focused()).split(":")[0];
  await page.keyboard.press("Enter");
  ok(
    await eventually(async () => (await page.locator(".monaco-editor.focused").count()) > 0 && (await here()).includes(goal)),
    "Enter goes to the source",
    await here(),
  );

  const box = (name) => frame.locator(`g.box[aria-label^="${name}:"]`);
  await box("gated").hover();
  ok(await eventually(async () => (await told()).startsWith("gated\nVec [0x")), "the pointer on a tile tells it in words", await told());
  const apart = () => frame.evaluate(() => {
    const [tip, of] = [document.querySelector("#tip"), document.querySelector('g.box[aria-label^="gated:"]')].map((it) => it.getBoundingClientRect());
    return Math.max(of.left - tip.right, tip.left - of.right, of.top - tip.bottom, tip.top - of.bottom);
  });
  // The map is drawn again where the cursor went, maybe under the pointer.
  const isBeside = async () => {
    await box("gated").hover();
    return (await apart()) < 20;
  };
  ok(await eventually(isBeside), "beside the pointer", await apart());
  const used = await frame.evaluate(() => document.querySelector("svg.tilefit-map").getBoundingClientRect().bottom / window.innerHeight);
  ok(used > 0.6 && used <= 1, "rows use the height of the panel", used);
  await frame.evaluate(() => document.querySelector("svg.tilefit-map").setAttribute("data-old", ""));
  // It is set once the server has answered, and `check` looks at once.
  await frame.locator("#one-scale").click();
  const redrawn = async () => (await frame.locator("svg.tilefit-map:not([data-old])").count()) > 0 && frame.locator("#one-scale").isChecked();
  ok(await eventually(redrawn), "one scale for all memories is the server's answer");
  await frame.locator("#one-scale").click();
  await box("mixed").click();
  const inSource = async () => (await here()).join() === "mixed" && (await page.locator(".monaco-editor.focused").count()) > 0;
  ok(await eventually(inSource), "a click goes to the source", await here());
  const reachable = await frame.locator("g.box").evaluateAll((all) => ({
    named: all.every((each) => each.getAttribute("role") === "button" && each.getAttribute("aria-label")),
    stops: all.filter((each) => each.getAttribute("tabindex") === "0").length,
    current: all.filter((each) => each.getAttribute("aria-current") === "true").length,
    group: document.querySelector("svg.tilefit-map").getAttribute("aria-label"),
  }));
  ok(reachable.named && reachable.stops === 1 && reachable.current === 1, "every tile has a name, and one is the stop of the Tab key", JSON.stringify(reachable));
  ok(reachable.group.includes("Vec 96 KiB of 184 KiB"), "the picture says what it is of", reachable.group);

  await frame.locator("#target").selectOption("ascend950");
  ok(await eventually(async () => (await frame.locator("#compare").textContent()).includes("→")), "a trial shows before and after", await frame.locator("#compare").textContent());
  ok(await frame.locator("#keep").isVisible(), "it can be kept");
  await shot("5-trial");
  await frame.locator("#target").selectOption("");
  ok(await eventually(async () => (await frame.locator("#compare").textContent()) === ""), "and left");

  for (const [theme, name] of [["Default Dark Modern", "6-dark"], ["Default High Contrast", "7-high-contrast"]]) {
    setTheme(theme);
    const red = async () => {
      const fill = await frame.locator("g.b0 .tile").first().evaluate((tile) => getComputedStyle(tile).fill);
      return Number(/rgb\((\d+), /.exec(fill)?.[1]);
    };
    ok(await eventually(async () => (await red()) < 90), `the map follows the theme ${theme}`, await red());
    await page.waitForTimeout(500);
    await shot(name);
  }
  setTheme("Default Light Modern");

  await line("pl.add(mixed").click();
  await palette("tilefit: Show generated C++");
  ok(await eventually(async () => (await page.locator(".view-line", { hasText: "TSTORE" }).count()) > 0), "the C++ opens beside");
  await line("pl.store(result").click();
  ok(await eventually(async () => (await marked()) === 2), "matching lines are marked in both", await marked());
  await shot("8-code");
  // From the other side: the last line belongs to no statement. By keys, since clicks that follow each other select words and lines.
  // A click that falls into a layout that still settles does not focus the editor, and a hover may lie over the line, so all is done until it is heard.
  const atEndOfCode = async () => {
    await page.mouse.move(0, 0);
    await page.keyboard.press("Escape");
    await line("TSTORE").click({ timeout: 3_000 });
    await page.waitForTimeout(1_000);
    await page.keyboard.press("Control+End");
    await page.waitForTimeout(1_000);
    return (await marked()) === 0;
  };
  ok(await eventually(atEndOfCode), "a line without a statement marks none", await marked());
  await page.waitForTimeout(1_000);
  await line("TSTORE").click();
  ok(await eventually(async () => (await marked()) === 2), "a line of the C++ marks its statement", await marked());
}
