/** The language server in its worker, as the client of the editor sees it. */

import type { Transport } from "@codemirror/lsp-client";

type Said = string | { ended: string; hadBegun: boolean };

export class Server implements Transport {
  private readonly worker = new Worker("worker.js");
  private readonly handlers = new Set<(message: string) => void>();

  /** `ended` hears why, once, and whether the server ran before; it takes no messages after that. */
  constructor(ended: (why: string, hadBegun: boolean) => void) {
    const end = (why: string, hadBegun: boolean): void => {
      this.stop();
      ended(why, hadBegun);
    };
    this.worker.onmessage = ({ data }: MessageEvent<Said>) => {
      if (typeof data === "string") {
        this.handlers.forEach((handler) => handler(data));
      } else {
        end(data.ended, data.hadBegun);
      }
    };
    this.worker.onerror = (event) => end(event.message || "worker.js", false);
  }

  send(message: string): void {
    this.worker.postMessage(message);
  }

  subscribe(handler: (message: string) => void): void {
    this.handlers.add(handler);
  }

  unsubscribe(handler: (message: string) => void): void {
    this.handlers.delete(handler);
  }

  private stop(): void {
    this.worker.onmessage = this.worker.onerror = null;
    this.worker.terminate();
  }
}
