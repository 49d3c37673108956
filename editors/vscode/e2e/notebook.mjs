// A kernel in a cell of a notebook, in the browser.

import { eventually, workbench } from "./editor.mjs";

export async function notebook({ page, url, ok, shot }) {
  const { palette, lens: lensWith } = workbench(page);
  const open = (file) => page.locator(".explorer-folders-view .monaco-list-row", { hasText: file }).dblclick({ timeout: 60_000 });
  await page.goto(url, { waitUntil: "domcontentloaded" });
  // A window that has just opened shows notebooks as text, until it knows its extensions.
  await open("elementwise.py");
  await lensWith("Vec").first().waitFor({ timeout: 60_000 });
  await open("notebook.ipynb");
  const cells = page.locator(".notebookOverlay .code-cell-row");
  const cell = (text) => cells.filter({ hasText: text });
  await cell("def").first().waitFor({ timeout: 60_000 });
  const squiggles = () => page.locator(".notebookOverlay .code-cell-row .squiggly-error").count();
  ok(await eventually(async () => (await squiggles()) > 0), "an overflow is underlined in its cell");
  const lens = page.locator(".notebookOverlay .codelens-decoration", { hasText: "Vec" });
  ok(await eventually(async () => (await lens.count()) === 1), "a lens is above the kernel in the cell", await lens.allInnerTexts());
  await shot("14-notebook");
  await cell(/ROWS,\sCOLS\s=/).locator(".view-line").first().click();
  await page.keyboard.press("End");
  for (let left = 0; left < ", 256".length; left++) {
    await page.keyboard.press("ArrowLeft");
  }
  for (let digit = 0; digit < "128".length; digit++) {
    await page.keyboard.press("Backspace");
  }
  const typed = Date.now();
  await page.keyboard.type("64");
  const fits = async () => (await squiggles()) === 0 && (await lens.innerText()).includes("70 %");
  ok(await eventually(fits), `it fits when a number in another cell is smaller (${Date.now() - typed} ms)`, await lens.allInnerTexts());
  await palette("File: Revert File");
  await palette("View: Close Editor");
}
