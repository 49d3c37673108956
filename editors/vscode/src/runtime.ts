import type * as vscode from "vscode";
import type { BaseLanguageClient, LanguageClientOptions } from "vscode-languageclient";

/** What the extension asks of the place that it runs in: a machine (`node/`) or a browser (`browser/`). Everything else is the same in both. */
export interface Runtime {
  /** Text says why there is no server. */
  findServer(log: vscode.LogOutputChannel): Promise<Server | string>;
}

export interface Server {
  /** As `tilefit -V` prints it. */
  version: string;
  /** Whether it reads the cells of a notebook as one text. */
  takesNotebooks: boolean;
  /** A client that starts a server of its own. */
  client(options: LanguageClientOptions): BaseLanguageClient;
  /** The page of a diagnostic, as Markdown. */
  page(code: string): Promise<string>;
}
