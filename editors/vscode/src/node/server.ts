import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { homedir } from "node:os";
import { promisify } from "node:util";
import * as vscode from "vscode";

import { ExecuteCommandRequest, LanguageClient } from "vscode-languageclient/node";

import type { Server } from "../runtime";
import { pythonExtension, selectedPython } from "../settings";
import { programs } from "./environments";

const binary = process.platform === "win32" ? "tilefit.exe" : "tilefit";

const none = "no server: neither the extension, nor the Python environment, nor PATH has one. Run `pip install tilefit` there, or set tilefit.server.path";

/**
 * The first of: the setting, the binary inside the extension, those of Python environments, the one on PATH. The setting is binding: when it
 * does not work, nothing else is tried. Answers with the reason when there is no server.
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
  const working = async (path: string) => ((await isExecutable(path)) ? validate(path, log) : undefined);
  const bundled = await working(vscode.Uri.joinPath(context.extensionUri, "server", binary).fsPath);
  if (bundled) {
    return bundled;
  }
  for (const path of await inEnvironments()) {
    const server = await working(path);
    if (server) {
      return server;
    }
  }
  return (await validate(binary, log)) ?? none;
}

/** An environment in a workspace that is not trusted runs nothing. */
async function inEnvironments(): Promise<string[]> {
  if (!vscode.workspace.isTrusted) {
    return [];
  }
  await pythonExtension();
  const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file");
  const places = { selected: selectedPython(folders[0]?.uri), virtualEnv: process.env.VIRTUAL_ENV };
  return programs({ ...places, folders: folders.map(({ uri }) => uri.fsPath) }, binary);
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function validate(path: string, log: vscode.LogOutputChannel): Promise<Server | undefined> {
  try {
    const { stdout } = await promisify(execFile)(path, ["-V"], { timeout: 10_000 });
    const version = stdout.trim();
    if (version.startsWith("tilefit ")) {
      log.info(`server: ${path} (${version})`);
      return serverAt(path, version);
    }
    log.warn(`${path} -V answers "${version}"`);
  } catch (error) {
    log.info(`${path} is not usable: ${error instanceof Error ? error.message : error}`);
  }
  return undefined;
}

function serverAt(path: string, version: string): Server {
  return {
    version,
    takesNotebooks: true,
    client: (options) => new Client("tilefit", "tilefit", { command: path, args: ["server"] }, options),
    page: async (code) => (await promisify(execFile)(path, ["explain", code], { timeout: 10_000 })).stdout,
  };
}

/** Leaves the commands to the session: two clients cannot register the same ones. */
class Client extends LanguageClient {
  override registerFeature(feature: Parameters<LanguageClient["registerFeature"]>[0]): void {
    if (!("registrationType" in feature) || feature.registrationType.method !== ExecuteCommandRequest.method) {
      super.registerFeature(feature);
    }
  }
}
