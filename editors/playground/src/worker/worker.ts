/** The language server: a module of WebAssembly, in a thread of its own. Every message in and out is one JSON text of the protocol. */

import { XzReadableStream } from "xz-decompress";

/** What the module offers; `server/browser/src/exports.rs` says what each does. */
interface Server extends WebAssembly.Exports {
  memory: WebAssembly.Memory;
  start(): void;
  room(length: number): number;
  receive(): number;
  turn(): number;
  rest(): number;
  said(): number;
}

/** After this long without a message the server looks further. Nothing interrupts it then. */
const QUIET_MILLISECONDS = 1_000;

const server = load();
let turning: number | undefined;
let resting: number | undefined;

onmessage = ({ data }: MessageEvent<string>) => {
  void server.then((server) => {
    run(server, () => {
      const message = new TextEncoder().encode(data);
      const address = server.room(message.length);
      new Uint8Array(server.memory.buffer, address, message.length).set(message);
      return server.receive();
    });
    // Messages that wait come first: a flood of edits costs one round of diagnostics.
    turning ??= setTimeout(() => {
      turning = undefined;
      run(server, server.turn);
    }, 0);
    rest(server);
  }, (error) => end(error, false));
};

/** The module is shipped compressed, so that it is small from every web server; with xz, since it is a quarter smaller than with gzip. */
async function load(): Promise<Server> {
  const response = await fetch("server.wasm.xz");
  if (!response.ok || !response.body) {
    throw new Error(`server.wasm.xz: ${response.status} ${response.statusText}`);
  }
  const module = new XzReadableStream(response.body);
  const source = new Response(module, { headers: { "Content-Type": "application/wasm" } });
  const { instance } = await WebAssembly.instantiateStreaming(source);
  const server = instance.exports as Server;
  server.start();
  return server;
}

function rest(server: Server): void {
  clearTimeout(resting);
  resting = setTimeout(() => run(server, server.rest) && rest(server), QUIET_MILLISECONDS);
}

/** Passes on what a call says; answers whether it said anything. A call that fails leaves a module that is not to be used any more. */
function run(server: Server, call: () => number): boolean {
  try {
    const length = call();
    const said = new TextDecoder().decode(new Uint8Array(server.memory.buffer, server.said(), length));
    said.split("\n").forEach((message) => message && postMessage(message));
    return length > 0;
  } catch (error) {
    end(error, true);
    return false;
  }
}

function end(error: unknown, hadBegun: boolean): void {
  postMessage({ ended: error instanceof Error ? error.message : String(error), hadBegun });
  close();
}
