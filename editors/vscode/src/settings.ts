import * as vscode from "vscode";

import { keys } from "./schema";

/** One setting, if the user or the workspace chose it. */
export function chosen<T>(key: string, scope?: vscode.Uri): T | undefined {
  const values = vscode.workspace.getConfiguration("tilefit", scope).inspect<T>(key);
  return values?.workspaceFolderValue ?? values?.workspaceValue ?? values?.globalValue;
}

/** Of the API of the Python extension, what is used. */
interface PythonEnvironments {
  getActiveEnvironmentPath(scope?: vscode.Uri): { path: string } | undefined;
  onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
}

/** The Python extension's, once that runs; it is not waited for longer than it should take. */
export async function pythonExtension(): Promise<PythonEnvironments | undefined> {
  const python = vscode.extensions.getExtension("ms-python.python");
  const late = new Promise((resolve) => setTimeout(resolve, 10_000));
  await Promise.race([late, Promise.resolve(python?.activate()).catch(() => undefined)]);
  return python?.isActive ? python.exports?.environments : undefined;
}

/** The interpreter that the Python extension has selected, or its environment; nothing as long as that extension does not run. */
export function selectedPython(scope?: vscode.Uri): string | undefined {
  const python = vscode.extensions.getExtension("ms-python.python");
  const environments: PythonEnvironments | undefined = python?.isActive ? python.exports?.environments : undefined;
  return environments?.getActiveEnvironmentPath?.(scope)?.path;
}

/** The section as the server gets it. Defaults stay out of it: they would hide what `tilefit.toml` says. */
export function section(scope?: vscode.Uri): object {
  const result: Record<string, unknown> = {};
  for (const key of keys) {
    // Confirming runs what the workspace holds.
    const value = key === "confirm" && !vscode.workspace.isTrusted ? "never" : (chosen(key, scope) ?? fallback(key, scope));
    if (value === undefined) {
      continue;
    }
    const [name = key, inner] = key.split(".");
    result[name] = inner ? { ...(result[name] as object | undefined), [inner]: value } : value;
  }
  return result;
}

function fallback(key: string, scope?: vscode.Uri): string | undefined {
  return key === "python" ? selectedPython(scope) : undefined;
}

/** Sets something for the workspace where there is one, else for the user; undefined leaves it to the project. */
export async function choose(key: string, value: string | undefined, scope?: vscode.Uri): Promise<void> {
  const where = vscode.workspace.workspaceFolders ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global;
  await vscode.workspace.getConfiguration("tilefit", scope).update(key, value, where);
}
