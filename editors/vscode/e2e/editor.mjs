// A real VS Code (code-server) with the packaged extension, and a browser to look at it with.
//
// Needs TILEFIT_MODULES (the node_modules with it), TILEFIT_CHROMIUM, and TILEFIT_VSIX, which is installed into a fresh VS Code.

import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import net from "node:net";
import path from "node:path";

const fail = (message) => {
  throw new Error(message);
};
export const env = (name) => process.env[name] ?? fail(`${name} is not set`);

const modules = env("TILEFIT_MODULES");
const { chromium } = createRequire(path.join(modules, "x.js"))("playwright-core");

/** Everything has to be over by then; a hang fails. */
export function limit(milliseconds) {
  setTimeout(() => {
    console.log(`not ok - the session takes longer than ${milliseconds / 60_000} minutes`);
    process.exit(1);
  }, milliseconds).unref();
}

export function launch(flags = []) {
  return chromium.launch({
    executablePath: env("TILEFIT_CHROMIUM"),
    headless: true,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", ...flags],
  });
}

/** Nothing that asks, greets, updates or reports. */
export const quiet = {
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

/** The server that the extension has logged as found, the last one that it was. */
export function logged(out) {
  const logs = path.join(out, "user/logs");
  const texts = fs.readdirSync(logs, { recursive: true }).filter((name) => /tilefit[^/]*\.log$/.test(name)).map((name) => fs.readFileSync(path.join(logs, name), "utf8"));
  return texts.flatMap((text) => [...text.matchAll(/server: (.+) \(tilefit /g)]).at(-1)?.[1];
}

/**
 * Starts both. `project` is a folder, or a `.code-workspace` with several. `out` takes the state of VS Code; `settings` are the user's, `flags` those of code-server. With `extensions`, a folder of
 * installed ones, nothing is installed.
 */
export async function start({ out, project, settings = {}, flags = ["--disable-workspace-trust"], extensions }) {
  const user = path.join(out, "user");
  fs.mkdirSync(path.join(user, "User"), { recursive: true });
  fs.writeFileSync(path.join(user, "User/settings.json"), JSON.stringify({ ...quiet, ...settings }));
  const entry = path.join(modules, "code-server/out/node/entry.js");
  const common = ["--user-data-dir", user, "--extensions-dir", extensions ?? path.join(out, "extensions"), "--config", "/dev/null"];
  if (!extensions) {
    const installed = spawnSync(process.execPath, [entry, ...common, "--install-extension", env("TILEFIT_VSIX")], { encoding: "utf8" });
    if (installed.status !== 0) {
      fail(`the extension cannot be installed: ${installed.stdout}${installed.stderr}`);
    }
  }
  const port = await freePort();
  const log = fs.openSync(path.join(out, "code-server.log"), "w");
  const silent = ["--auth", "none", "--disable-telemetry", "--disable-update-check", "--disable-getting-started-override"];
  const server = spawn(process.execPath, [entry, ...common, "--bind-addr", `127.0.0.1:${port}`, ...silent, ...flags, project], {
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
  const browser = await launch();
  const remote = `vscode-remote://127.0.0.1:${port}`;
  /** The address of a window on the project; `payload` are pairs that VS Code takes. */
  const kind = project.endsWith(".code-workspace") ? "workspace" : "folder";
  const url = (payload = []) => `${base}/?${kind}=${project}&payload=${encodeURIComponent(JSON.stringify(payload))}`;
  const close = async () => {
    await browser.close();
    server.kill();
  };
  return { browser, remote, url, close };
}

function freePort() {
  return new Promise((resolve) => {
    const probe = net.createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

/** Asks until there is an answer that counts, or half a minute is over. */
export async function eventually(probe) {
  for (const end = Date.now() + 30_000; Date.now() < end; ) {
    const value = await probe().catch(() => undefined);
    if (value) {
      return value;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return undefined;
}

/** The parts of a window of VS Code. */
export function workbench(page) {
  const parts = {
    /** Runs a command of the palette, which lists what there is when it opens. */
    async palette(text) {
      const row = page.locator(".quick-input-list .monaco-list-row", { hasText: text.replace(/^.*: /, "") }).first();
      for (let tries = 5; ; tries--) {
        await page.keyboard.press("F1");
        const input = page.locator(".quick-input-box input");
        await input.waitFor({ state: "visible" });
        await input.fill(`>${text}`);
        const isThere = await row.waitFor({ timeout: 5_000 }).then(() => true, () => false);
        if (isThere) {
          return page.keyboard.press("Enter");
        }
        if (tries === 0) {
          throw new Error(`the palette has no ${text}`);
        }
        await page.keyboard.press("Escape");
      }
    },
    /** What the palette offers for a text; it closes when an editor takes the focus, and knows an extension only once that runs. */
    async offered(text) {
      const offered = await eventually(async () => {
        await page.keyboard.press("Escape");
        await page.keyboard.press("F1");
        const input = page.locator(".quick-input-box input");
        await input.waitFor({ state: "visible", timeout: 2_000 });
        await input.fill(`>${text}`);
        await page.waitForTimeout(1_000);
        const rows = await page.locator(".quick-input-list .monaco-list-row").allInnerTexts();
        const found = rows.map((row) => row.split("\n")[0]).filter((row) => row.includes(text));
        return found.length > 0 && found;
      });
      await page.keyboard.press("Escape");
      return offered ?? [];
    },
    squiggles: () => page.locator(".monaco-editor .squiggly-error").count(),
    line: (text) => page.locator(".view-line", { hasText: text }).first(),
    /** The middle of a word on the screen, in the first line that has `text`. */
    word: (text, word) =>
      parts.line(text).evaluate((line, word) => {
        const texts = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
        for (let node = texts.nextNode(); node; node = texts.nextNode()) {
          const start = node.data.indexOf(word);
          if (start >= 0) {
            const range = new Range();
            range.setStart(node, start);
            range.setEnd(node, start + word.length);
            const { x, y, width, height } = range.getBoundingClientRect();
            return [x + width / 2, y + height / 2];
          }
        }
        throw new Error(`no ${word} in ${line.textContent}`);
      }, word),
    lens: (text) => page.locator(".codelens-decoration", { hasText: text }),
    /** The frame of a panel, by what only that one has. */
    async panel(selector) {
      for (const frame of page.frames()) {
        if (await frame.locator(selector).count().catch(() => 0)) {
          return frame;
        }
      }
      return undefined;
    },
    /** The frame of the memory map. */
    map: () => parts.panel("#map"),
    /** What the boxes of the map are for a screen reader. */
    async boxes(which = "g.box") {
      return (await parts.map())?.locator(which).evaluateAll((all) => all.map((box) => box.getAttribute("aria-label")));
    },
    /** How many editors have lines that belong together marked. */
    marked: () => page.locator(".editor-instance", { has: page.locator('.view-overlays [class*="TextEditorDecorationType"]') }).count(),
  };
  return parts;
}
