import * as vscode from "vscode";

import type { Session } from "./session";

const scheme = "tilefit-page";

/** Leads from the code of each diagnostic to its page. */
export function linked(diagnostics: vscode.Diagnostic[]): vscode.Diagnostic[] {
  for (const diagnostic of diagnostics) {
    if (typeof diagnostic.code === "string") {
      const target = vscode.Uri.from({ scheme, path: `/${diagnostic.code}.md` });
      diagnostic.code = { value: diagnostic.code, target };
    }
  }
  return diagnostics;
}

/** The pages, as the server has them. */
export class DiagnosticPages implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(scheme, this);

  constructor(private readonly session: Session) {}

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const code = uri.path.slice(1, -".md".length);
    return this.session.server?.page(code) ?? `No server runs that could explain \`${code}\`.`;
  }

  dispose(): void {
    this.registration.dispose();
  }
}
