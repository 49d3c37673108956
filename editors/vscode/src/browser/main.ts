/** The extension in a browser: the server is a module of WebAssembly, which has the files that the extension reads for it. */

import type * as vscode from "vscode";

import { begin } from "../extension";
import type { Session } from "../session";
import { findServer } from "./server";

let session: Session | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  session = begin(context, { findServer: (log) => findServer(context, log) });
  await session.start();
}

export async function deactivate(): Promise<void> {
  await session?.stop();
}
