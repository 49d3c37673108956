/** The language server: a module of WebAssembly, in a thread of its own. Every message in and out is one JSON text of the protocol. */

import { XzReadableStream } from "xz-decompress";

import { Turns } from "../../../vscode/src/browser/turns";
import type { Exports } from "../../../vscode/src/browser/turns";

const turns = new Turns(load(), (message) => postMessage(message), (ended, hadBegun) => {
  postMessage({ ended, hadBegun });
  close();
});

onmessage = ({ data }: MessageEvent<string>) => turns.take(data);

/** The module is shipped compressed, so that it is small from every web server; with xz, since it is a quarter smaller than with gzip. */
async function load(): Promise<Exports> {
  const response = await fetch("server.wasm.xz");
  if (!response.ok || !response.body) {
    throw new Error(`server.wasm.xz: ${response.status} ${response.statusText}`);
  }
  const module = new XzReadableStream(response.body);
  const source = new Response(module, { headers: { "Content-Type": "application/wasm" } });
  const { instance } = await WebAssembly.instantiateStreaming(source);
  return instance.exports as Exports;
}
