// Puts the page together: node build.mjs OUT MODULE XZ PRESET
//
// OUT is the folder of the page, MODULE the server as WebAssembly, XZ the program that
// makes it small, and PRESET how small (-9e, or -1 for a test).

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import zlib from "node:zlib";

import * as esbuild from "esbuild";

const [out, module, xz, preset] = process.argv.slice(2);
const here = path.dirname(fileURLToPath(import.meta.url));

const others = {
  worker: "src/worker/worker.ts",
  map: "src/frame.ts",
  "page.style": "src/page.css",
  "map.style": "src/map.css",
  "editor.style": "src/editor.css",
};
const bundled = (entryPoints, more) => esbuild.build({
  absWorkingDir: here,
  entryPoints,
  outdir: path.resolve(out),
  bundle: true,
  format: "esm",
  target: "es2023",
  minify: true,
  metafile: true,
  loader: { ".py": "text" },
  logLevel: "warning",
  ...more,
});
// In parts: what it imports while it runs is a file by itself.
const page = await bundled({ page: "src/page.ts" }, { splitting: true });
const rest = await bundled(others, {});
fs.cpSync(path.join(here, "public"), out, { recursive: true });
preload(page.metafile);
fs.writeFileSync(path.join(out, "server.wasm.xz"), compressed(module));
fs.writeFileSync(path.join(out, "licenses.txt"), licenses([page, rest].flatMap(({ metafile }) => Object.keys(metafile.inputs))));

/** Has the browser ask for the parts that the page begins with together with it, not once it has read it. */
function preload({ outputs }) {
  const file = path.join(out, "index.html");
  const [, { imports }] = Object.entries(outputs).find(([name]) => path.basename(name) === "page.js");
  const parts = imports.filter(({ kind }) => kind === "import-statement").map(({ path: part }) => path.basename(part));
  const links = parts.map((part) => `<link rel="modulepreload" href="${part}">\n`).join("");
  const script = '<script type="module"';
  fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace(script, links + script));
}

function compressed(file) {
  const { status, stdout, stderr, error } = spawnSync(xz, [preset, "--check=crc32", "--stdout", "--keep", file], { maxBuffer: 2 ** 26 });
  if (status !== 0) {
    throw error ?? new Error(`xz: ${stderr}`);
  }
  return stdout;
}

/** Of the packages that are in the page: what each comes with. */
function licenses(inputs) {
  const names = inputs.flatMap((input) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? []);
  const texts = [...new Set(names)].sort().map((name) => {
    const folder = path.join(here, "node_modules", name);
    const file = fs.readdirSync(folder).find((file) => /^licen[sc]e/i.test(file));
    const { license, author, homepage } = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"));
    const text = file ? fs.readFileSync(path.join(folder, file), "utf8") : `${license}, ${author?.name ?? author}, ${homepage}\n`;
    return `${name}\n\n${text}`;
  });
  return texts.join(`\n${"-".repeat(72)}\n\n`);
}

let [all, zipped] = [0, 0];
for (const file of fs.readdirSync(out)) {
  const bytes = fs.readFileSync(path.join(out, file));
  if (file !== "licenses.txt") {
    all += bytes.length;
    zipped += Math.min(bytes.length, zlib.gzipSync(bytes, { level: 9 }).length);
  }
}
const kb = (bytes) => `${Math.round(bytes / 1000)} kB`;
console.log(`playground: ${kb(fs.statSync(module).size)} of WebAssembly; ${kb(all)} to load as the files are, ${kb(zipped)} from a server that compresses (gzip)`);
