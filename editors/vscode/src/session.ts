import * as vscode from "vscode";
import { DidChangeConfigurationNotification, ExecuteCommandRequest, State } from "vscode-languageclient";
import type { BaseLanguageClient } from "vscode-languageclient";

import { linked } from "./diagnosticPages";
import { memoryMapChanged, plannedFor, settingsInForce } from "./protocol";
import type { KernelPlannedFor, MemoryMapChanged } from "./protocol";
import { cells, servedBy, servers } from "./folders";
import type { Served } from "./folders";
import type { Runtime, Server } from "./runtime";
import { section } from "./settings";
import { StatusItem } from "./status";

interface Running extends Served {
  client: BaseLanguageClient;
}

/** The servers of the window, from their start to their end, over restarts. */
export class Session implements vscode.Disposable {
  readonly output = vscode.window.createOutputChannel("tilefit", { log: true });
  readonly trace = vscode.window.createOutputChannel("tilefit trace");
  private readonly status = new StatusItem((document) => this.plannedFor(document));
  private readonly didChangeAnswers = new vscode.EventEmitter<void>();
  private readonly didChangeMemoryMap = new vscode.EventEmitter<MemoryMapChanged>();
  private readonly didStart = new vscode.EventEmitter<void>();
  private readonly didFindNone = new vscode.EventEmitter<void>();
  private readonly configuration = vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration("tilefit")) {
      void this.sendSettings();
    }
  });
  /** Starts and stops, one after the other: two quick restarts must not leave two servers. */
  private queue = Promise.resolve();
  private running: Running[] = [];
  /** Of the servers; each is registered once for all of them. */
  private readonly commands = new Map<string, vscode.Disposable>();

  /** What runs, or ran last. */
  server?: Server;

  /** What the server answers about a document may differ now, though no text changed. */
  readonly onDidChangeAnswers = this.didChangeAnswers.event;

  /** A memory map that is watched is drawn anew. */
  readonly onDidChangeMemoryMap = this.didChangeMemoryMap.event;

  /** A new server runs; it knows nothing of what the one before was told to watch. */
  readonly onDidStart = this.didStart.event;

  /** There is no server to start. */
  readonly onDidFindNone = this.didFindNone.event;

  constructor(private readonly runtime: Runtime) {}

  /** The client for a document, once its server knows the open documents; undefined when there is no server. */
  async ready(uri: vscode.Uri): Promise<BaseLanguageClient | undefined> {
    return this.started(servedBy(this.running, uri)?.client);
  }

  /** Undefined where the server does not run, or an edit overtook the question. */
  private async plannedFor(document: vscode.TextDocument): Promise<KernelPlannedFor[] | undefined> {
    const textDocument = { uri: document.uri.toString() };
    try {
      const client = await this.ready(document.uri);
      return (await client?.sendRequest(plannedFor, { textDocument }))?.kernels;
    } catch {
      return undefined;
    }
  }

  private async started(client: BaseLanguageClient | undefined): Promise<BaseLanguageClient | undefined> {
    if (!client || client.state === State.Stopped) {
      return undefined;
    }
    await client.start();
    // A starting client announces the open documents in promises of its own; a request must not overtake them.
    await new Promise((resolve) => setTimeout(resolve, 0));
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
    this.commands.forEach((command) => command.dispose());
    this.didChangeAnswers.dispose();
    this.didChangeMemoryMap.dispose();
    this.didStart.dispose();
    this.didFindNone.dispose();
    this.status.dispose();
    this.trace.dispose();
    this.output.dispose();
  }

  /** A server that is going away needs no settings; the next one asks for them. */
  private async sendSettings(): Promise<void> {
    try {
      for (const { client, folder } of this.running) {
        const settings = { tilefit: section(folder?.uri) };
        await (await this.started(client))?.sendNotification(DidChangeConfigurationNotification.type, { settings });
      }
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
    const server = await this.runtime.findServer(this.output);
    if (typeof server === "string") {
      this.fail(server);
      this.didFindNone.fire();
      void this.offerRestart(server);
      return;
    }
    this.server = server;
    this.running = servers(vscode.workspace.workspaceFolders).map((served) => ({ ...served, client: this.clientOf(server, served) }));
    await Promise.all(this.running.map(({ client }) => client.start()));
    this.didStart.fire();
  }

  /** Once the user has a server. */
  private async offerRestart(reason: string): Promise<void> {
    const [restart, output] = ["Restart server", "Show output"];
    const answer = await vscode.window.showWarningMessage(`tilefit: ${reason}.`, restart, output);
    if (answer === restart) {
      await this.restart();
    } else if (answer === output) {
      this.output.show();
    }
  }

  private clientOf(server: Server, served: Served): BaseLanguageClient {
    const { folder, selector } = served;
    const client = server.client({
      documentSelector: server.takesNotebooks ? [...selector, cells(served)] : selector,
      notebookDocumentOptions: {
        filterCells: (notebook, found) => (servedBy(this.running, notebook.uri)?.folder === folder ? found : []),
      },
      workspaceFolder: folder,
      outputChannel: this.output,
      traceOutputChannel: this.trace,
      initializationOptions: section(folder?.uri),
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
    });
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Running) {
        this.registerCommands(client.initializeResult?.capabilities.executeCommandProvider?.commands ?? []);
        this.status.running(server.version);
        this.status.changed();
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
    client.onNotification(settingsInForce, (settings) => this.status.inForce(settings, folder));
    client.onNotification(memoryMapChanged, (changed) => this.didChangeMemoryMap.fire(changed));
    return client;
  }

  /** A command goes to the server of the document that it is about. */
  private registerCommands(names: string[]): void {
    for (const command of names.filter((name) => !this.commands.has(name))) {
      const run = async (uri: string, ...rest: unknown[]) => {
        const client = await this.ready(vscode.Uri.parse(uri));
        return client?.sendRequest(ExecuteCommandRequest.type, { command, arguments: [uri, ...rest] });
      };
      this.commands.set(command, vscode.commands.registerCommand(command, run));
    }
  }

  private async stopNow(): Promise<void> {
    const clients = this.running.map(({ client }) => client);
    this.running = [];
    // A client that failed to start refuses to stop.
    const stop = (client: BaseLanguageClient) => client.dispose().catch((error) => this.output.warn(`stopping: ${error}`));
    await Promise.all(clients.map(stop));
  }

  private fail(reason: string): void {
    this.output.error(reason);
    this.status.failed(reason);
  }
}
