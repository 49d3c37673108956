// Opens the overflow in a VS Code that has the extension installed already, and says how long it takes until the squiggle is there.
//
//   cargo xtask stranger
//
// Needs what editor.mjs needs, but TILEFIT_EXTENSIONS instead of TILEFIT_VSIX, and TILEFIT_OUT.

import path from "node:path";
import { fileURLToPath } from "node:url";

import { env, eventually, limit, start, workbench } from "./editor.mjs";

limit(120_000);
const examples = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../../docs/examples");
const editor = await start({ out: env("TILEFIT_OUT"), project: examples, extensions: env("TILEFIT_EXTENSIONS") });
const page = await editor.browser.newPage();
const opened = performance.now();
await page.goto(editor.url([["openFile", `${editor.remote}${path.join(examples, "overflow.py")}`]]));
await page.locator(".view-line", { hasText: "pl.exp(gate)" }).first().waitFor({ timeout: 60_000 });
const text = performance.now();
const found = await eventually(workbench(page).squiggles);
const seconds = (from, to) => ((to - from) / 1000).toFixed(1);
console.log(`window to text: ${seconds(opened, text)} s, text to squiggle: ${seconds(text, performance.now())} s`);
await editor.close();
process.exit(found ? 0 : 1);
