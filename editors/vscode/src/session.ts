import * as vscode from "vscode";
import { DidChangeConfigurationNotification, LanguageClient, State } from "vscode-languageclient/node";

import { linked } from "./diagnosticPages";
import { memoryMapChanged, settingsInForce } from "./protocol";
import type { MemoryMapChanged } from "./protocol";
import { findServer } from "./server";
import { section } from "./settings";
import { StatusItem } from "./status";

const documents = [
  { language: "python", scheme: "file" },
  { language: "python", scheme: "untitled" },
  // Cells: the client sends them with their notebook.
  { language: "python", notebook: "jupyter-notebook" },
];

/** One server for the window, from its start to its end, over restarts. */
export class Session implements vscode.Disposable {
  readonly output = vscode.window.createOutputChannel("tilefit", { log: true });
  readonly trace = vscode.window.createOutputChannel("tilefit trace");
  private readonly status = new StatusItem();
  private readonly didChangeAnswers = new vscode.EventEmitter<void>();
  private readonly didChangeMemoryMap = new vscode.EventEmitter<MemoryMapChanged>();
  private readonly didStart = new vscode.EventEmitter<void>();
  private readonly configuration = vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration("tilefit")) {
      void this.sendSettings();
    }
  });
  /** Starts and stops, one after the other: two quick restarts must not leave two servers. */
  private queue = Promise.resolve();
  private current?: LanguageClient;

  /** The program that runs as the server, or ran last. */
  serverPath?: string;

  /** What the server answers about a document may differ now, though no text changed. */
  readonly onDidChangeAnswers = this.didChangeAnswers.event;

  /** A memory map that is watched is drawn anew. */
  readonly onDidChangeMemoryMap = this.didChangeMemoryMap.event;

  /** A new server runs; it knows nothing of what the one before was told to watch. */
  readonly onDidStart = this.didStart.event;

  constructor(private readonly context: vscode.ExtensionContext) {}

  /** The client, once its server knows the open documents; undefined when there is no server. */
  async ready(): Promise<LanguageClient | undefined> {
    const client = this.current;
    if (!client || client.state === State.Stopped) {
      return undefined;
    }
    await client.start();
    // A starting client announces the open documents in promises of its own; a request must not overtake them.
    await new Promise(setImmediate);
    return client;
  }

  start(): Promise<void> {
    return this.enqueue(() => this.startNow());
  }

  stop(): Promise<void> {
    return this.enqueue(() => this.stopNow());
  }

  restart(): Promise<void> {
    return this.enqueue(async () => {
      await this.stopNow();
      await this.startNow();
    });
  }

  dispose(): void {
    this.configuration.dispose();
    this.didChangeAnswers.dispose();
    this.didChangeMemoryMap.dispose();
    this.didStart.dispose();
    this.status.dispose();
    this.trace.dispose();
    this.output.dispose();
  }

  /** A server that is going away needs no settings; the next one asks for them. */
  private async sendSettings(): Promise<void> {
    try {
      const client = await this.ready();
      await client?.sendNotification(DidChangeConfigurationNotification.type, { settings: { tilefit: section() } });
      this.didChangeAnswers.fire();
    } catch (error) {
      this.output.info(`settings not sent: ${error}`);
    }
  }

  private enqueue(work: () => Promise<void>): Promise<void> {
    this.queue = this.queue.then(work).catch((error) => this.fail(String(error)));
    return this.queue;
  }

  private async startNow(): Promise<void> {
    this.status.starting();
    const server = await findServer(this.context, this.output);
    if (typeof server === "string") {
      this.fail(server);
      return;
    }
    this.serverPath = server.path;
    const client = new LanguageClient(
      "tilefit",
      "tilefit",
      { command: server.path, args: ["server"] },
      {
        documentSelector: documents,
        outputChannel: this.output,
        traceOutputChannel: this.trace,
        initializationOptions: section(),
        middleware: {
          handleDiagnostics: (uri, diagnostics, next) => next(uri, linked(diagnostics)),
          provideDiagnostics: async (document, previous, token, next) => {
            const report = await next(document, previous, token);
            return report?.kind === "full" ? { ...report, items: linked(report.items) } : report;
          },
          provideWorkspaceDiagnostics: (ids, token, report, next) =>
            next(ids, token, (chunk) => {
              chunk?.items.forEach((item) => item.kind === "full" && linked(item.items));
              report(chunk);
            }),
          workspace: {
            configuration: ({ items }) =>
              items.map((item) => section(item.scopeUri ? vscode.Uri.parse(item.scopeUri) : undefined)),
          },
        },
      },
    );
    this.current = client;
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Running) {
        this.status.running(server.version);
      } else if (newState === State.Stopped) {
        this.status.stopped();
      }
      this.didChangeAnswers.fire();
    });
    client.registerFeature({
      fillClientCapabilities: (capabilities) => {
        capabilities.experimental = { ...capabilities.experimental, tilefitSettings: true };
      },
      initialize: () => undefined,
      getState: () => ({ kind: "static" }),
      clear: () => undefined,
    });
    client.onNotification(settingsInForce, (settings) => this.status.inForce(settings));
    client.onNotification(memoryMapChanged, (changed) => this.didChangeMemoryMap.fire(changed));
    await client.start();
    this.didStart.fire();
  }

  private async stopNow(): Promise<void> {
    const client = this.current;
    this.current = undefined;
    // A client that failed to start refuses to stop.
    await client?.dispose().catch((error) => this.output.warn(`stopping: ${error}`));
  }

  private fail(reason: string): void {
    this.output.error(reason);
    this.status.failed(reason);
  }
}
