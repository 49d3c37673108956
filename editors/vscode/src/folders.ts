import type { Uri, WorkspaceFolder } from "vscode";

/** What one server of the window serves: a workspace folder, or, where there is at most one, everything. */
export interface Served {
  folder?: WorkspaceFolder;
  selector: { language: string; scheme: string; pattern?: string }[];
}

/** A server reads the settings files of one folder: a window with several folders has as many servers. */
export function servers(all: readonly WorkspaceFolder[] = []): Served[] {
  const python = (scheme: string, pattern?: string) => ({ language: "python", scheme, pattern });
  const folders = all.filter((folder) => outermost(folder.uri, all) === folder);
  if (folders.length <= 1) {
    const schemes = new Set(["file", ...folders.map(({ uri }) => uri.scheme), "untitled"]);
    return [{ selector: [...schemes].map((scheme) => python(scheme)) }];
  }
  return folders.map((folder, at) => {
    const selector = [python(folder.uri.scheme, within(folder))];
    return { folder, selector: at === 0 ? [...selector, python("untitled")] : selector };
  });
}

/** The cells that it serves, which are sent with their notebook. */
export function cells({ folder }: Served) {
  const notebook = { notebookType: "jupyter-notebook", ...(folder && { pattern: within(folder) }) };
  return { language: "python", notebook };
}

/** Of these, the one for a document: that of its folder, else the first. */
export function servedBy<T extends { folder?: WorkspaceFolder }>(served: readonly T[], uri: Uri | undefined): T | undefined {
  return served.find(({ folder }) => folder && uri && contains(folder.uri, uri)) ?? served[0];
}

/** Of folders within folders, only the outer one has a server. */
function outermost(uri: Uri, folders: readonly WorkspaceFolder[]): WorkspaceFolder | undefined {
  const around = folders.filter((folder) => contains(folder.uri, uri));
  return around.sort((one, other) => one.uri.path.length - other.uri.path.length)[0];
}

/** The path of a cell is that of its notebook. */
function contains(folder: Uri, uri: Uri): boolean {
  return (uri.scheme === folder.scheme || uri.scheme === "vscode-notebook-cell") && `${uri.path}/`.startsWith(folder.path.replace(/\/*$/, "/"));
}

function within(folder: WorkspaceFolder): string {
  return `${literal(folder.uri.fsPath)}/**`;
}

/** A path as a glob pattern that means only itself. */
function literal(path: string): string {
  return path.replace(/\\/g, "/").replace(/[[\]{}*?]/g, "[$&]");
}
