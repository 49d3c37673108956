// The extension that has no server inside, in a workspace without one: what it tells, and that it finds the server of an environment that is made
// then.
//
//   cargo xtask release
//
// Needs what editor.mjs needs, TILEFIT_OUT, and TILEFIT_ENVIRONMENT: a Python environment with tilefit.

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { env, eventually, limit, logged, start, workbench } from "./editor.mjs";

limit(120_000);
const out = env("TILEFIT_OUT");
const example = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../../docs/examples/overflow.py");
const project = path.join(out, "project");
fs.mkdirSync(project, { recursive: true });
fs.copyFileSync(example, path.join(project, "overflow.py"));
delete process.env.VIRTUAL_ENV;
const has = (folder) => fs.existsSync(path.join(folder, "tilefit"));
process.env.PATH = env("PATH").split(path.delimiter).filter((folder) => !has(folder)).join(path.delimiter);

const editor = await start({ out, project });
const page = await editor.browser.newPage();
await page.goto(editor.url([["openFile", `${editor.remote}${path.join(project, "overflow.py")}`]]));
const told = page.locator(".notification-list-item", { hasText: "pip install tilefit" });
await told.waitFor({ timeout: 60_000 });
console.log("ok - without a server, it tells how to get one");
fs.symlinkSync(env("TILEFIT_ENVIRONMENT"), path.join(project, ".venv"));
await told.hover();
await told.getByRole("button", { name: "Restart server" }).click();
const found = await eventually(workbench(page).squiggles);
await editor.close();
const server = logged(out);
const passed = found && server === path.join(project, ".venv/bin/tilefit");
console.log(`${passed ? "ok" : "not ok"} - once there is a .venv with one, the overflow is underlined, by ${server ?? "no server"}`);
process.exit(passed ? 0 : 1);
