import * as vscode from "vscode";
import { RequestType } from "vscode-languageclient/browser";
import type { BaseLanguageClient } from "vscode-languageclient/browser";

/** The first of some files that exists. */
interface FirstFile {
  uri: string;
  /** Null for one that cannot be read; `why` says more. */
  text: string | null;
  why?: string;
}

const firstFile = new RequestType<{ uris: string[] }, FirstFile | null, void>("tilefit/firstFile");

/** As many bytes as the program reads of a file. */
const most = 4 << 20;

/** The module has no files: it asks for those that settings and imports need. */
export function filesFor(client: BaseLanguageClient): void {
  client.registerFeature({
    fillClientCapabilities: (capabilities) => {
      capabilities.experimental = { ...capabilities.experimental, tilefitFiles: true };
    },
    initialize: () => undefined,
    getState: () => ({ kind: "static" }),
    clear: () => undefined,
  });
  client.onRequest(firstFile, async ({ uris }) => {
    for (const uri of uris) {
      const found = await read(vscode.Uri.parse(uri));
      if (found) {
        return { uri, ...found };
      }
    }
    return null;
  });
}

/** Undefined where there is no such file. Nothing outside of the workspace is read. */
async function read(uri: vscode.Uri): Promise<Omit<FirstFile, "uri"> | undefined> {
  if (!vscode.workspace.getWorkspaceFolder(uri)) {
    return undefined;
  }
  try {
    const { type, size } = await vscode.workspace.fs.stat(uri);
    if ((type & vscode.FileType.File) === 0) {
      return undefined;
    }
    if (size > most) {
      return { text: null, why: `it has ${size} bytes, more than ${most}` };
    }
    return { text: new TextDecoder().decode(await vscode.workspace.fs.readFile(uri)) };
  } catch (error) {
    const isMissing = error instanceof vscode.FileSystemError && error.code === "FileNotFound";
    return isMissing ? undefined : { text: null, why: error instanceof Error ? error.message : String(error) };
  }
}
