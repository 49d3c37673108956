// What the author of a kernel sees and does, in the browser.

export async function author({ page, url, ok, shot, setTheme }) {
  const palette = async (text) => {
    await page.keyboard.press("F1");
    const input = page.locator(".quick-input-widget input");
    await input.waitFor({ state: "visible" });
    await input.fill(`>${text}`);
    await page.locator(".quick-input-list .monaco-list-row", { hasText: text.replace(/^.*: /, "") }).first().waitFor();
    await page.keyboard.press("Enter");
  };
  const eventually = async (probe) => {
    for (const end = Date.now() + 30_000; Date.now() < end; ) {
      const value = await probe().catch(() => undefined);
      if (value) {
        return value;
      }
      await page.waitForTimeout(50);
    }
    return undefined;
  };
  const squiggles = () => page.locator(".monaco-editor .squiggly-error").count();
  const line = (text) => page.locator(".view-line", { hasText: text }).first();
  /** The frame of the webview. */
  const panel = async () => {
    for (const frame of page.frames()) {
      if (await frame.locator("#map").count().catch(() => 0)) {
        return frame;
      }
    }
    return undefined;
  };
  const boxes = async () => (await panel())?.locator("g.box");
  const labels = async () => (await boxes())?.evaluateAll((all) => all.map((box) => box.getAttribute("aria-label")));
  /** Puts the cursor behind the `256` of the fixture. */
  const atNumber = async () => {
    await page.locator(".view-line", { hasText: "ROWS, COLS = 64," }).first().click({ position: { x: 5, y: 5 } });
    await page.keyboard.press("End");
  };

  await page.goto(url, { waitUntil: "domcontentloaded" });
  await page.waitForSelector(".monaco-workbench", { timeout: 60_000 });
  await page.locator(".explorer-folders-view .monaco-list-row", { hasText: "plain.py" }).dblclick();
  await page.waitForSelector(".monaco-editor .view-lines");
  ok(!(await page.locator("#tilelens\\.tilelens\\.tilelens\\.status").isVisible().catch(() => false)), "no status item in plain Python");
  await page.locator(".explorer-folders-view .monaco-list-row", { hasText: "overflow.py" }).dblclick();
  ok(await eventually(squiggles), "a squiggle under the tile that does not fit");
  ok(await eventually(async () => (await page.locator(".statusbar-item", { hasText: "tilelens" }).count()) > 0), "the status item is there");
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

  await line("pl.load(x").hover({ position: { x: 80, y: 8 } });
  const hover = await eventually(async () => (await page.locator(".monaco-hover:visible").allInnerTexts()).join("\n").match(/0x0[\s\S]*/)?.[0]);
  ok(hover !== undefined, "a hover with the address", hover);
  await shot("2-hover");
  await page.mouse.move(5, 500);

  await line("pl.load(g").click();
  await palette("tilelens: Show memory map");
  ok(await eventually(async () => (await labels())?.length === 6), "the memory map opens beside", await labels());
  ok((await labels())?.some((label) => label.startsWith("squashed: Vec") && label.includes("over the capacity")), "it says what is over", await labels());
  await shot("3-map");

  const here = async () => (await panel()).locator("g.box.here").evaluateAll((all) => all.map((box) => box.getAttribute("aria-label").split(":")[0]));
  await line("pl.add(gated").locator("span", { hasText: "mixed" }).first().click();
  ok(await eventually(async () => (await here()).join() === "mixed"), "the tile under the cursor is outlined", await here());
  await line("pl.exp(gate").locator("span", { hasText: "squashed" }).first().click();
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
  ok((await frame.locator("#detail").textContent()) === (await focused()), "the tile is told in words", await frame.locator("#detail").textContent());
  const goal = (await focused()).split(":")[0];
  await page.keyboard.press("Enter");
  ok(
    await eventually(async () => (await page.locator(".monaco-editor.focused").count()) > 0 && (await here()).includes(goal)),
    "Enter goes to the source",
    await here(),
  );

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
  await palette("tilelens: Show generated C++");
  ok(await eventually(async () => (await page.locator(".view-line", { hasText: "TSTORE" }).count()) > 0), "the C++ opens beside");
  await line("pl.store(result").click();
  /** How many editors have marked lines. */
  const marked = () => page.locator(".editor-instance", { has: page.locator('.view-overlays [class*="TextEditorDecorationType"]') }).count();
  ok(await eventually(async () => (await marked()) === 2), "matching lines are marked in both", await marked());
  await shot("8-code");
  // A line that belongs to no statement takes the marks away; one of the C++ brings them back from the other side.
  await line("// Function body").click();
  ok(await eventually(async () => (await marked()) === 0), "a line without a statement marks none", await marked());
  await line("TSTORE").click();
  ok(await eventually(async () => (await marked()) === 2), "a line of the C++ marks its statement", await marked());
}
