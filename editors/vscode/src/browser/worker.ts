/** The language server, in a thread of its own. The first message is the module; those after it are of the protocol, as all are that it sends. */

import { Turns } from "./turns";
import type { Exports } from "./turns";

/** The last that is heard of a worker whose module has failed. */
export interface Ended {
  ended: string;
}

let turns: Turns | undefined;

onmessage = ({ data }: MessageEvent<WebAssembly.Module | { method?: string }>) => {
  if (data instanceof WebAssembly.Module) {
    const server = WebAssembly.instantiate(data).then(({ exports }) => exports as Exports);
    turns = new Turns(server, (message) => postMessage(JSON.parse(message)), end);
  } else if (data.method === "exit") {
    close();
  } else {
    turns?.take(JSON.stringify(data));
  }
};

function end(why: string): void {
  postMessage({ ended: why } satisfies Ended);
  close();
}
