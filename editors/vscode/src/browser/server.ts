import * as vscode from "vscode";
import { AbstractMessageReader, BaseLanguageClient, BrowserMessageWriter } from "vscode-languageclient/browser";
import type { DataCallback, Disposable, LanguageClientOptions, Message, MessageTransports } from "vscode-languageclient/browser";

import type { Server } from "../runtime";
import { filesFor } from "./files";
import type { Ended } from "./worker";

/** The one inside of the extension; there is no other. It is compiled once, for all folders and restarts. */
export async function findServer(context: vscode.ExtensionContext, log: vscode.LogOutputChannel): Promise<Server | string> {
  const inside = (...path: string[]) => vscode.Uri.joinPath(context.extensionUri, "dist", ...path);
  const version = `tilefit ${context.extension.packageJSON.version}`;
  try {
    const module = await WebAssembly.compile((await vscode.workspace.fs.readFile(inside("browser", "server.wasm"))) as BufferSource);
    log.info(`server: WebAssembly (${version})`);
    const start = (): Worker => {
      const worker = new Worker(inside("browser", "worker.js").toString(true), { name: "tilefit" });
      worker.postMessage(module);
      return worker;
    };
    return {
      version,
      takesNotebooks: false,
      client: (options) => new Client(options, start),
      page: async (code) => new TextDecoder().decode(await vscode.workspace.fs.readFile(inside("diagnostics", `${code}.md`))),
    };
  } catch (error) {
    return `the server inside of the extension cannot be loaded: ${error instanceof Error ? error.message : error}`;
  }
}

/** Starts a worker for each connection: one that has failed is replaced, as a program is. */
class Client extends BaseLanguageClient {
  constructor(
    options: LanguageClientOptions,
    private readonly startWorker: () => Worker,
  ) {
    super("tilefit", "tilefit", options);
    filesFor(this);
  }

  protected override createMessageTransports(): Promise<MessageTransports> {
    const worker = this.startWorker();
    const reader = new Reader(worker, (why) => this.error(`the server ended: ${why}`, undefined, false));
    return Promise.resolve({ reader, writer: new BrowserMessageWriter(worker) });
  }
}

/** Unlike the library's, it hears that the worker has ended. That closes the connection: the client would not start anew after an error of it. */
class Reader extends AbstractMessageReader {
  constructor(
    private readonly worker: Worker,
    private readonly ended: (why: string) => void,
  ) {
    super();
    worker.onerror = (event) => this.end(event.message);
  }

  listen(callback: DataCallback): Disposable {
    this.worker.onmessage = ({ data }: MessageEvent<Message | Ended>) => {
      if ("ended" in data) {
        this.end(data.ended);
      } else {
        callback(data);
      }
    };
    return { dispose: () => (this.worker.onmessage = null) };
  }

  private end(why: string): void {
    this.worker.terminate();
    this.ended(why);
    this.fireClose();
  }
}
