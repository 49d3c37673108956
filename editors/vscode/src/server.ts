import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { homedir } from "node:os";
import { promisify } from "node:util";
import * as vscode from "vscode";

export interface Server {
  path: string;
  /** As `tilefit --version` prints it. */
  version: string;
}

const binary = process.platform === "win32" ? "tilefit.exe" : "tilefit";

/**
 * The first of: the setting, the binary inside the extension, the one on PATH. The setting is binding: when it does not
 * work, nothing else is tried. Answers with the reason when there is no server.
 */
export async function findServer(
  context: vscode.ExtensionContext,
  log: vscode.LogOutputChannel,
): Promise<Server | string> {
  const configured = vscode.workspace.getConfiguration("tilefit").get<string>("server.path", "").trim();
  if (configured) {
    const path = configured.replace(/^~(?=\/)/, homedir());
    return (await validate(path, log)) ?? `tilefit.server.path: "${path}" does not run as a tilefit server`;
  }
  const bundled = vscode.Uri.joinPath(context.extensionUri, "server", binary).fsPath;
  if (await isExecutable(bundled)) {
    const server = await validate(bundled, log);
    if (server) {
      return server;
    }
  }
  return (
    (await validate(binary, log)) ??
    "no server: neither the extension nor PATH has one. Run `cargo xtask install --vscode`, or set tilefit.server.path"
  );
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function validate(path: string, log: vscode.LogOutputChannel): Promise<Server | undefined> {
  try {
    const { stdout } = await promisify(execFile)(path, ["--version"], { timeout: 10_000 });
    const version = stdout.trim();
    if (version.startsWith("tilefit ")) {
      log.info(`server: ${path} (${version})`);
      return { path, version };
    }
    log.warn(`${path} --version answers "${version}"`);
  } catch (error) {
    log.info(`${path} is not usable: ${error instanceof Error ? error.message : error}`);
  }
  return undefined;
}
