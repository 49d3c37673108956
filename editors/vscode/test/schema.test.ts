import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

// As the extension "Even Better TOML" reads `tilefit.toml`: with taplo, and the schema that the extension contributes.
const schema = path.resolve("../../docs/tilefit.schema.json");

function check(text: string): { valid: boolean; report: string } {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "tilefit-schema-"));
  fs.writeFileSync(path.join(folder, "tilefit.toml"), text);
  const taplo = path.resolve("node_modules/@taplo/cli/dist/cli.js");
  const arguments_ = [taplo, "check", "--schema", pathToFileURL(schema).href, "tilefit.toml"];
  const { status, stdout, stderr } = spawnSync(process.execPath, arguments_, { cwd: folder, encoding: "utf8" });
  fs.rmSync(folder, { recursive: true });
  return { valid: status === 0, report: stdout + stderr };
}

test("the example of the book is valid", () => {
  const page = fs.readFileSync("../../docs/guide/configuration.md", "utf8");
  const example = /```toml\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
  assert.match(example, /\[severity\]/);
  const { valid, report } = check(example.replace(/^#:schema.*\n/, ""));
  assert.ok(valid, report);
});

test("what the server does not understand is told where it stands", () => {
  const { valid, report } = check('target = "ascend911"\nplaner = "auto"\n[severity]\nnot-modelled = "of"\n');
  assert.ok(!valid);
  for (const part of ['"ascend911" is not one of ["ascend910b","ascend950","sm_70"', "planer", '"of" is not one of']) {
    assert.ok(report.includes(part), report);
  }
});

test("the extension hands the schema to editors of TOML", () => {
  const { contributes, scripts } = JSON.parse(fs.readFileSync("package.json", "utf8"));
  assert.deepEqual(contributes.tomlValidation, [{ fileMatch: "tilefit.toml", url: "./dist/tilefit.schema.json" }]);
  assert.ok(scripts["bundle:shared"].includes("tilefit.schema.json"));
  assert.ok([scripts.bundle, scripts["bundle:browser"]].every((script: string) => script.includes("bundle:shared")));
});
