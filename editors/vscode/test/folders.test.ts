import assert from "node:assert/strict";
import { test } from "node:test";
import type { Uri, WorkspaceFolder } from "vscode";

import { cells, servedBy, servers } from "../src/folders";

const uri = (path: string, scheme = "file") => ({ scheme, path, fsPath: path, toString: () => `${scheme}://${path}` }) as Uri;
const folder = (path: string, scheme?: string) => ({ uri: uri(path, scheme), name: path, index: 0 }) as WorkspaceFolder;
const served = (...paths: string[]) => servers(paths.map((path) => folder(path)));
const patterns = (...paths: string[]) => served(...paths).map(({ selector }) => selector.map(({ scheme, pattern }) => pattern ?? scheme));

test("a window with at most one folder has one server, for every file", () => {
  for (const paths of [[], ["/a"]]) {
    assert.deepEqual(patterns(...paths), [["file", "untitled"]]);
    assert.equal(served(...paths)[0]?.folder, undefined);
  }
});

test("one with several folders has a server for each", () => {
  assert.deepEqual(patterns("/a", "/b"), [["/a/**", "untitled"], ["/b/**"]]);
});

test("a folder that is on no disk is served as one that is", () => {
  const schemes = (...folders: WorkspaceFolder[]) => servers(folders).map(({ selector }) => selector.map(({ scheme }) => scheme));
  assert.deepEqual(schemes(folder("/a", "vscode-vfs")), [["file", "vscode-vfs", "untitled"]]);
  assert.deepEqual(schemes(folder("/a", "vscode-vfs"), folder("/b")), [["vscode-vfs", "untitled"], ["file"]]);
});

test("a folder within another one has none of its own", () => {
  assert.deepEqual(patterns("/a/inner", "/a", "/ab"), [["/a/**", "untitled"], ["/ab/**"]]);
  assert.deepEqual(patterns("/a", "/a/inner"), [["file", "untitled"]]);
});

test("a folder with the letters of patterns means itself", () => {
  assert.deepEqual(patterns("/a", "/[b]*"), [["/a/**", "untitled"], ["/[[]b[]][*]/**"]]);
});

test("a document belongs to the server of its folder, else to the first", () => {
  const all = served("/a", "/ab");
  const of = (document: Uri | undefined) => servedBy(all, document)?.folder?.name;
  assert.equal(of(uri("/ab/kernel.py")), "/ab");
  assert.equal(of(uri("/a/deep/kernel.py")), "/a");
  assert.equal(of(uri("/ab/notebook.ipynb", "vscode-notebook-cell")), "/ab");
  assert.equal(of(uri("/elsewhere.py")), "/a");
  assert.equal(of(uri("/ab/kernel.py", "untitled")), "/a");
  assert.equal(of(undefined), "/a");
});

test("of several servers each has the cells of its folder", () => {
  const notebooks = (...paths: string[]) => served(...paths).map((one) => cells(one).notebook);
  assert.deepEqual(notebooks("/a"), [{ notebookType: "jupyter-notebook" }]);
  assert.deepEqual(
    notebooks("/a", "/b").map((notebook) => "pattern" in notebook && notebook.pattern),
    ["/a/**", "/b/**"],
  );
});
