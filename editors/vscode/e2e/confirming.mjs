// The compiler is asked about every configuration of a kernel, in the browser: how far that is, and how it is ended.

import fs from "node:fs";
import path from "node:path";

import { eventually, workbench } from "./editor.mjs";

/** An interpreter that is none: it answers two questions at once, and takes longer for others than any step below. */
const PYTHON = `#!/usr/bin/env python3
import json, select, sys
def say(answer):
    print(json.dumps(answer), flush=True)
say({"hello": 1, "packages": {}})
told = open(0, "rb", buffering=0)
answered = 0
for line in iter(told.readline, b""):
    asked = json.loads(line)
    # What is told meanwhile cancels the question.
    if "cancel" in asked or select.select([told], [], [], 1 if answered < 2 else 120)[0]:
        continue
    answered += 1
    say({"id": asked["id"], "by": {"name": "triton", "version": "3.9.0"}, "shared": 0, "buffers": []})
`;

/** Another text each time: answers about the same one are kept. */
const KERNEL = `# ${Date.now()}
import triton
import triton.language as tl


# tilefit: x=fp16 y=fp16 arch=sm_90
@triton.autotune([triton.Config({"N": 2 ** n}) for n in range(16)], key=[])
@triton.jit
def copy(x, y, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(y + at, tl.load(x + at))
`;

export async function confirming({ page, url, project, ok, shot }) {
  const { palette, lens, word } = workbench(page);
  const python = path.join(project, "python");
  fs.writeFileSync(python, PYTHON, { mode: 0o755 });
  fs.writeFileSync(path.join(project, "copied.py"), KERNEL);
  const settings = path.join(project, ".vscode/settings.json");
  const before = fs.readFileSync(settings, "utf8");
  fs.writeFileSync(settings, JSON.stringify({ ...JSON.parse(before), "tilefit.confirm": "command", "tilefit.python": python }));
  await page.goto(url, { waitUntil: "domcontentloaded" });
  await page.locator(".explorer-folders-view .monaco-list-row", { hasText: "copied.py" }).dblclick({ timeout: 60_000 });
  // The kernel takes no memory, and has no lens; the item says what it is planned for.
  await page.locator(".statusbar-item[id*='tilefit']", { hasText: "sm_90" }).first().waitFor({ timeout: 60_000 });
  await page.mouse.click(...(await word("def copy", "copy")));
  // VS Code shows it in the status bar, which leads to a notification with the button.
  const bar = page.locator(".statusbar-item", { hasText: "confirming copied.py" });
  const says = () => eventually(async () => /\d+ of 16 configurations/.exec(await bar.first().innerText())?.[0]);

  await palette("tilefit: Confirm with the compiler");
  const first = await says();
  ok(first !== undefined, `the editor shows how far the compiler is: ${first}`);
  ok(await eventually(() => lens("confirmed").count()), "the plan that is shown is confirmed before that is over");
  await shot("20-confirming");
  // While another notification is shown, this one is, too, and the status bar has no item.
  const notification = page.locator(".notification-list-item", { hasText: "confirming copied.py" });
  const opened = async () => {
    if ((await notification.count()) === 0) {
      await bar.first().click({ timeout: 2_000 }).catch(() => undefined);
    }
    return (await notification.count()) > 0;
  };
  ok(await eventually(opened), "how far it is leads to a button");
  await notification.getByText("Cancel").click({ timeout: 10_000 });
  const isOver = async () => (await bar.count()) === 0 && (await notification.count()) === 0;
  ok(await eventually(isOver), "which ends it");

  await palette("tilefit: Confirm with the compiler");
  ok((await says()) !== undefined, "it can be asked again");
  await page.mouse.click(...(await word("def copy", "copy")));
  await page.keyboard.press("End");
  await page.keyboard.type("  # x");
  ok(await eventually(async () => (await bar.count()) === 0), "an edit ends it");
  ok(await eventually(async () => (await lens("confirmed").count()) === 0), "and takes the word of the compiler away");
  await palette("File: Revert File");
  fs.writeFileSync(settings, before);
  fs.rmSync(path.join(project, "copied.py"));
  fs.rmSync(python);
}
