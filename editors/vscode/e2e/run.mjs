// The installed extension in a real VS Code (code-server) and a real browser: first through the API of VS Code inside the extension host,
// then as a user sees it, with screenshots, in a window with two folders, and at last in a workspace that is not trusted.
//
//   cargo xtask test browser
//
// Needs what editor.mjs needs, TILEFIT_EXAMPLES and TILEFIT_OUT.

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { author } from "./author.mjs";
import { configurations } from "./configurations.mjs";
import { confirming } from "./confirming.mjs";
import { env, limit, start } from "./editor.mjs";
import { notebook } from "./notebook.mjs";
import { stranger } from "./untrusted.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const out = env("TILEFIT_OUT");
limit(480_000);

fs.rmSync(out, { recursive: true, force: true });
const project = path.join(out, "project");
const copyExamples = () => fs.cpSync(env("TILEFIT_EXAMPLES"), project, { recursive: true });
copyExamples();
fs.writeFileSync(path.join(project, "plain.py"), "print('no kernel here')\n");
/** Of the workspace: code-server does not look at the user's settings again while it runs. */
const setTheme = (theme) => {
  fs.mkdirSync(path.join(project, ".vscode"), { recursive: true });
  fs.writeFileSync(path.join(project, ".vscode/settings.json"), JSON.stringify({ "workbench.colorTheme": theme }));
};
setTheme("Default Light Modern");

/** A server that says that it was run, and from where. */
const standIn = (name) => {
  const file = path.join(out, name, "tilefit");
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, `#!/bin/sh\necho "$@" >> "${file}.log"\nexec "$TILEFIT_REAL" "$@"\n`, { mode: 0o755 });
  return file;
};
process.env.TILEFIT_BY_SETTING = standIn("by-setting");
process.env.TILEFIT_ON_PATH = standIn("on-path");
process.env.TILEFIT_OF_FOLDER = standIn("of-folder/bin");
process.env.TILEFIT_SELECTED = standIn("selected/bin");

let failed = 0;
const ok = (condition, name, detail) => {
  console.log(`${condition ? "ok" : "not ok"} - ${name}`);
  if (!condition) {
    failed++;
    if (detail !== undefined) {
      console.log(`  # ${String(detail).replaceAll("\n", "\n  # ").slice(0, 2000)}`);
    }
  }
};

/** Runs a script inside of the extension host, where it reports into a folder. */
async function inHost(script, folder, { browser, remote, url }) {
  const page = await browser.newPage();
  const lines = [];
  const exit = new Promise((resolve) => void page.exposeFunction("codeAutomationExit", resolve));
  await page.exposeFunction("codeAutomationLog", (_kind, args) => lines.push(...args));
  const report = path.join(folder, ".report");
  await page.goto(
    url([
      ["extensionTestsPath", `${remote}${path.join(here, script)}`],
      ["extensionDevelopmentPath", `${remote}${here}`],
      ["extensionDevelopmentPath", `${remote}${path.join(here, "python")}`],
    ]),
  );
  const code = await Promise.race([exit, new Promise((resolve) => setTimeout(() => resolve("late"), 180_000))]);
  const text = fs.existsSync(report) ? fs.readFileSync(report, "utf8") : "";
  for (const line of text.split("\n").filter(Boolean)) {
    console.log(line);
    failed += line.startsWith("not ok") ? 1 : 0;
  }
  ok(code === 0, `${script} ends well inside the extension host`, `${code}\n${lines.join("\n")}`);
  await page.close();
  fs.rmSync(report, { force: true });
}

/** A session in a window of its own; what it throws fails. */
async function session(name, { browser, url }, play) {
  const page = await browser.newPage({ viewport: { width: 1500, height: 900 } });
  try {
    const shot = (picture) => page.screenshot({ path: path.join(out, `${picture}.png`) });
    await play({ page, url: url(), project, ok, shot, setTheme });
  } catch (error) {
    ok(false, `${name} runs to its end`, error.stack);
    await page.screenshot({ path: path.join(out, `${name}-failed.png`) });
  }
  await page.close();
}

const trusted = await start({ out: path.join(out, "trusted"), project });
await inHost("host.cjs", project, trusted);
await session("author", trusted, author);
fs.copyFileSync(path.join(here, "autotuned.py"), path.join(project, "autotuned.py"));
await session("configurations", trusted, configurations);
fs.rmSync(path.join(project, "autotuned.py"));
await session("confirming", trusted, confirming);
await session("notebook", trusted, notebook);
await trusted.close();

const roots = path.join(out, "roots");
for (const folder of ["large", "small"]) {
  fs.mkdirSync(path.join(roots, folder), { recursive: true });
  fs.copyFileSync(path.join(env("TILEFIT_EXAMPLES"), "overflow.py"), path.join(roots, folder, "overflow.py"));
  const cells = fs.readFileSync(path.join(env("TILEFIT_EXAMPLES"), "notebook.ipynb"), "utf8");
  fs.writeFileSync(path.join(roots, folder, "notebook.ipynb"), cells.replace("ROWS, COLS = 128", "ROWS, COLS = 112"));
}
fs.writeFileSync(path.join(roots, "large/tilefit.toml"), 'target = "ascend950"\n');
const both = path.join(roots, "both.code-workspace");
fs.writeFileSync(both, JSON.stringify({ folders: [{ path: "large" }, { path: "small" }] }));
const several = await start({ out: path.join(out, "several"), project: both });
await inHost("roots.cjs", roots, several);
await several.close();

copyExamples(); // an author saves
const trust = { "security.workspace.trust.enabled": true, "security.workspace.trust.startupPrompt": "never" };
const untrusted = await start({ out: path.join(out, "untrusted"), project, settings: trust, flags: [] });
await session("untrusted", untrusted, stranger);
await untrusted.close();

console.log(`screenshots: ${out}`);
process.exit(failed === 0 ? 0 : 1);
