// A plain web server: files as they are, from a sub-folder. It compresses nothing and sets no header but the type.

import fs from "node:fs";
import http from "node:http";
import path from "node:path";

const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

/** Answers the address of the folder, and what was asked for: method and URL. */
export async function serve(folder) {
  const asked = [];
  const base = "/some/where/";
  const server = http.createServer((request, response) => {
    asked.push({ url: request.url, bytes: 0 });
    const { pathname } = new URL(request.url, "http://localhost");
    const file = path.join(folder, pathname.slice(base.length));
    if (!pathname.startsWith(base) || !file.startsWith(folder) || !fs.existsSync(file) || fs.statSync(file).isDirectory()) {
      response.writeHead(404).end();
      return;
    }
    const body = fs.readFileSync(file);
    asked.at(-1).bytes = body.length;
    response.writeHead(200, { "Content-Type": types[path.extname(file)] ?? "application/octet-stream" }).end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}${base}`, asked, close: () => server.close() };
}
