// The installed extension in a real VS Code (code-server) and a real browser: first through the API of VS Code inside the extension host,
// then as a user sees it, with screenshots.
//
//   cargo xtask test browser
//
// Needs TILELENS_CODE_SERVER (its node_modules), TILELENS_VSIX, TILELENS_CHROMIUM, TILELENS_EXAMPLES and TILELENS_OUT.

import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import net from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { author } from "./author.mjs";

const env = (name) => process.env[name] ?? fail(`${name} is not set`);
const fail = (message) => {
  throw new Error(message);
};
const here = path.dirname(fileURLToPath(import.meta.url));
const modules = env("TILELENS_CODE_SERVER");
const out = env("TILELENS_OUT");
const { chromium } = createRequire(path.join(modules, "x.js"))("playwright-core");

/** Everything has to be over by then; a hang fails. */
const patience = 240_000;
setTimeout(() => {
  console.log("not ok - the session takes longer than four minutes");
  process.exit(1);
}, patience).unref();

fs.rmSync(out, { recursive: true, force: true });
const project = path.join(out, "project");
fs.cpSync(env("TILELENS_EXAMPLES"), project, { recursive: true });
fs.writeFileSync(path.join(project, "plain.py"), "print('no kernel here')\n");
const user = path.join(out, "user");
fs.mkdirSync(path.join(user, "User"), { recursive: true });

const settings = {
  "workbench.startupEditor": "none",
  "security.workspace.trust.enabled": false,
  "telemetry.telemetryLevel": "off",
  "extensions.autoCheckUpdates": false,
  "extensions.autoUpdate": false,
  "update.mode": "none",
  "workbench.enableExperiments": false,
  "chat.commandCenter.enabled": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "git.enabled": false,
  "editor.minimap.enabled": false,
};
fs.writeFileSync(path.join(user, "User/settings.json"), JSON.stringify(settings));
const setTheme = (theme) => {
  fs.mkdirSync(path.join(project, ".vscode"), { recursive: true });
  fs.writeFileSync(path.join(project, ".vscode/settings.json"), JSON.stringify({ "workbench.colorTheme": theme }));
};
setTheme("Default Light Modern");

const entry = path.join(modules, "code-server/out/node/entry.js");
const common = ["--user-data-dir", user, "--extensions-dir", path.join(out, "extensions"), "--config", "/dev/null"];
const installed = spawnSync(process.execPath, [entry, ...common, "--install-extension", env("TILELENS_VSIX")], { encoding: "utf8" });
if (installed.status !== 0) {
  fail(`the extension cannot be installed: ${installed.stdout}${installed.stderr}`);
}

const port = await new Promise((resolve) => {
  const probe = net.createServer().listen(0, "127.0.0.1", () => {
    const { port } = probe.address();
    probe.close(() => resolve(port));
  });
});
const log = fs.openSync(path.join(out, "code-server.log"), "w");
const flags = ["--bind-addr", `127.0.0.1:${port}`, "--auth", "none", "--disable-telemetry", "--disable-update-check"];
const server = spawn(process.execPath, [entry, ...common, ...flags, "--disable-workspace-trust", "--disable-getting-started-override", project], {
  stdio: ["ignore", log, log],
});
process.on("exit", () => server.kill());

const base = `http://127.0.0.1:${port}`;
for (let attempt = 0; !(await fetch(`${base}/healthz`).catch(() => undefined))?.ok; attempt++) {
  if (attempt > 300) {
    fail("code-server does not start");
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
}

const browser = await chromium.launch({
  executablePath: env("TILELENS_CHROMIUM"),
  headless: true,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

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

/** Runs host.cjs inside of the extension host. */
async function inHost() {
  const remote = `vscode-remote://127.0.0.1:${port}`;
  const payload = [
    ["extensionTestsPath", `${remote}${path.join(here, "host.cjs")}`],
    ["extensionDevelopmentPath", `${remote}${here}`],
  ];
  const page = await browser.newPage();
  const lines = [];
  const exit = new Promise((resolve) => void page.exposeFunction("codeAutomationExit", resolve));
  await page.exposeFunction("codeAutomationLog", (_kind, args) => lines.push(...args));
  const report = path.join(project, ".report");
  await page.goto(`${base}/?folder=${project}&payload=${encodeURIComponent(JSON.stringify(payload))}`);
  const code = await Promise.race([exit, new Promise((resolve) => setTimeout(() => resolve("late"), 120_000))]);
  const text = fs.existsSync(report) ? fs.readFileSync(report, "utf8") : "";
  for (const line of text.split("\n").filter(Boolean)) {
    console.log(line);
    failed += line.startsWith("not ok") ? 1 : 0;
  }
  ok(code === 0, "the tests inside the extension host end well", `${code}\n${lines.join("\n")}`);
  await page.close();
  fs.rmSync(report, { force: true });
}

await inHost();
const page = await browser.newPage({ viewport: { width: 1500, height: 900 } });
try {
  const shot = (name) => page.screenshot({ path: path.join(out, `${name}.png`) });
  await author({ page, url: `${base}/?folder=${project}`, ok, shot, setTheme });
} catch (error) {
  ok(false, "the author's session runs to its end", error.stack);
  await page.screenshot({ path: path.join(out, "error.png") });
}
await browser.close();
console.log(`screenshots: ${out}`);
process.exit(failed === 0 ? 0 : 1);
