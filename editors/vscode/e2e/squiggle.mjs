// Opens the overflow in a VS Code with the extension, and says how long it takes until the squiggle is there, and by which server.
//
//   cargo xtask clock, cargo xtask release
//
// Needs what editor.mjs needs, TILEFIT_OUT, and TILEFIT_PROJECT, a folder with the example. With TILEFIT_EXTENSIONS instead of TILEFIT_VSIX, the
// extension is installed there already.

import path from "node:path";

import { env, eventually, limit, logged, start, workbench } from "./editor.mjs";

limit(120_000);
const [out, project] = [env("TILEFIT_OUT"), env("TILEFIT_PROJECT")];
const editor = await start({ out, project, extensions: process.env.TILEFIT_EXTENSIONS });
const page = await editor.browser.newPage();
const opened = performance.now();
await page.goto(editor.url([["openFile", `${editor.remote}${path.join(project, "overflow.py")}`]]));
await page.locator(".view-line", { hasText: "pl.exp(gate)" }).first().waitFor({ timeout: 60_000 });
const text = performance.now();
const found = await eventually(workbench(page).squiggles);
const seconds = (from, to) => ((to - from) / 1000).toFixed(1);
console.log(`window to text: ${seconds(opened, text)} s, text to squiggle: ${seconds(text, performance.now())} s`);
await editor.close();
console.log(`${found ? "ok" : "not ok"} - the overflow is underlined, by ${logged(out) ?? "no server"}`);
process.exit(found ? 0 : 1);
