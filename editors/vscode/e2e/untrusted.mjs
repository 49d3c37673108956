// A workspace that is not trusted: what it has in its settings must not choose which program is run.

import fs from "node:fs";
import path from "node:path";

import { eventually, workbench } from "./editor.mjs";

export async function stranger({ page, url, project, ok, shot }) {
  const marker = path.join(project, "run-by-the-workspace");
  const trap = path.join(project, "tilefit");
  fs.writeFileSync(trap, `#!/bin/sh\ntouch "${marker}"\n`, { mode: 0o755 });
  fs.mkdirSync(path.join(project, ".vscode"), { recursive: true });
  fs.writeFileSync(path.join(project, ".vscode/settings.json"), JSON.stringify({ "tilefit.server.path": trap }));
  const { squiggles, palette } = workbench(page);
  await page.goto(url, { waitUntil: "domcontentloaded" });
  await page.getByRole("treeitem", { name: "overflow.py", exact: true }).dblclick({ timeout: 60_000 });
  ok(await eventually(squiggles), "diagnostics arrive in a workspace that is not trusted");
  const restricted = page.locator(".statusbar-item", { hasText: "Restricted Mode" });
  ok(await eventually(async () => (await restricted.count()) > 0), "VS Code restricts it");
  ok(!fs.existsSync(marker), "its settings run nothing");
  await shot("9-untrusted");
  await palette("Workspaces: Manage Workspace Trust");
  await page.locator(".workspace-trust-editor .monaco-button", { hasText: "Trust" }).first().click();
  ok(await eventually(async () => fs.existsSync(marker)), "once it is trusted, they count");
}
