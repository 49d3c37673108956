/** The language server in its worker, as the client of the editor sees it. */

import type { Transport } from "@codemirror/lsp-client";

type Said = string | { ended: string };

export class Server implements Transport {
  private readonly worker = new Worker("worker.js");
  private readonly handlers = new Set<(message: string) => void>();

  /** `ended` hears why, once; the server takes no messages after that. */
  constructor(ended: (why: string) => void) {
    const end = (why: string): void => {
      this.stop();
      ended(why);
    };
    this.worker.onmessage = ({ data }: MessageEvent<Said>) => {
      if (typeof data === "string") {
        this.handlers.forEach((handler) => handler(data));
      } else {
        end(data.ended);
      }
    };
    this.worker.onerror = (event) => end(event.message || "its program cannot be loaded");
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

  stop(): void {
    this.worker.onmessage = this.worker.onerror = null;
    this.worker.terminate();
  }
}
