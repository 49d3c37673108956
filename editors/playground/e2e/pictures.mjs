// Pictures of the page, in light and dark.
//
//   cargo xtask pictures
//
// Needs what run.mjs needs; `playground-light.png` and `playground-dark.png` go into TILEFIT_OUT.

import fs from "node:fs";
import path from "node:path";

import { chromium } from "playwright-core";

import { serve } from "./serve.mjs";

const out = process.env.TILEFIT_OUT;
fs.mkdirSync(out, { recursive: true });
const web = await serve(process.env.TILEFIT_SITE);
const browser = await chromium.launch({ executablePath: process.env.TILEFIT_CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
for (const colorScheme of ["light", "dark"]) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 }, deviceScaleFactor: 1.5, colorScheme });
  await page.goto(`${web.url}playground/index.html`);
  await page.locator("#source .hint").first().waitFor();
  await page.locator("#source .cm-line", { hasText: "pl.exp(gate)" }).click({ position: { x: 80, y: 8 } });
  await page.locator("#product .match").first().waitFor();
  await page.frame({ url: /map\.html/ }).locator(".outline.here").first().waitFor({ state: "attached" });
  await page.mouse.move(5, 600); // no hover in the picture
  await page.waitForTimeout(1_000);
  await page.screenshot({ path: path.join(out, `playground-${colorScheme}.png`), caret: "initial" });
  await page.close();
}
await browser.close();
web.close();
