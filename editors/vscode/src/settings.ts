import * as vscode from "vscode";

/** What the server reads of the section `tilelens`. */
const keys = [
  "target",
  "planner",
  "capacity",
  "severity",
  "include",
  "exclude",
  "inlayHints.enable",
  "codeLens.enable",
  "tlx.arch",
  "tlx.rules",
  "tlx.scenarios",
];

/** One setting, if the user or the workspace chose it. */
export function chosen<T>(key: string, scope?: vscode.Uri): T | undefined {
  const values = vscode.workspace.getConfiguration("tilelens", scope).inspect<T>(key);
  return values?.workspaceFolderValue ?? values?.workspaceValue ?? values?.globalValue;
}

/** The section as the server gets it. Defaults stay out of it: they would hide what `tilelens.toml` says. */
export function section(scope?: vscode.Uri): object {
  const result: Record<string, unknown> = {};
  for (const key of keys) {
    const value = chosen(key, scope);
    if (value === undefined) {
      continue;
    }
    const [name = key, inner] = key.split(".");
    result[name] = inner ? { ...(result[name] as object | undefined), [inner]: value } : value;
  }
  return result;
}
