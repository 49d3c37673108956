// Packages the extension for browsers, after `npm run bundle:browser`: node web.mjs VSIX MODULE PAGES IMAGES
//
// MODULE is the server as WebAssembly; what the README names is below the address PAGES, and its pictures below IMAGES.

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { createVSIX } from "@vscode/vsce";

const [vsix, module, pages, images] = process.argv.slice(2);
const here = path.dirname(fileURLToPath(import.meta.url));
const out = path.join(here, "dist/web");

/** What needs a machine: programs to run, a folder to search. */
const commands = ["tilefit.confirmFile"];
const settings = ["tilefit.server.path", "tilefit.confirm", "tilefit.python", "tilefit.include", "tilefit.exclude"];

const parts = {
  "dist/browser": "dist/browser",
  "dist/webview": "dist/webview",
  "dist/walkthrough": "dist/walkthrough",
  "dist/tilefit.schema.json": "dist/tilefit.schema.json",
  "../../docs/diagnostics": "dist/diagnostics",
  walkthrough: "walkthrough",
  "README.md": "README.md",
  "../../CHANGELOG.md": "CHANGELOG.md",
  LICENSE: "LICENSE",
  "icon.png": "icon.png",
};
fs.rmSync(out, { recursive: true, force: true });
for (const [from, to] of Object.entries(parts)) {
  fs.cpSync(path.join(here, from), path.join(out, to), { recursive: true });
}
fs.copyFileSync(module, path.join(out, "dist/browser/server.wasm"));
const desktop = JSON.parse(fs.readFileSync(path.join(here, "package.json"), "utf8"));
fs.writeFileSync(path.join(out, "package.json"), JSON.stringify(manifest(desktop), null, 2));
await createVSIX({ cwd: out, packagePath: vsix, target: "web", dependencies: false, baseContentUrl: pages, baseImagesUrl: images });

function manifest({ main: _main, extensionKind: _kind, scripts: _scripts, dependencies: _all, devDependencies: _tools, ...rest }) {
  const { contributes } = rest;
  contributes.commands = contributes.commands.filter(({ command }) => left(commands, command));
  for (const [menu, items] of Object.entries(contributes.menus)) {
    contributes.menus[menu] = items.filter(({ command }) => left(commands, command));
  }
  for (const { properties } of [contributes.configuration].flat()) {
    Object.keys(properties).filter((key) => !left(settings, key)).forEach((key) => delete properties[key]);
  }
  return {
    ...rest,
    files: ["**"],
    browser: "./dist/browser/main.js",
    // Nothing is run, and no path is needed.
    capabilities: { untrustedWorkspaces: { supported: true }, virtualWorkspaces: true },
  };
}

function left(absent, name) {
  return !absent.includes(name);
}
