// Stands in for a repository on a web site: files of the scheme `kernels`, which are in memory and on no disk.

const vscode = require("vscode");

const { FileChangeType, FileSystemError, FileType } = vscode;

exports.activate = async (context) => {
  const project = await (await fetch(new URL("/kernels.json", context.extensionUri.toString(true)))).json();
  const files = new Map(Object.entries(project).map(([path, text]) => [path, new TextEncoder().encode(text)]));
  const changed = new vscode.EventEmitter();
  const inside = (folder) => [...files.keys()].filter((path) => path.startsWith(`${folder.replace(/\/$/, "")}/`));
  const fail = (uri) => {
    throw FileSystemError.FileNotFound(uri);
  };
  const provider = {
    onDidChangeFile: changed.event,
    watch: () => ({ dispose() {} }),
    stat(uri) {
      const bytes = files.get(uri.path);
      if (!bytes && inside(uri.path).length === 0) {
        throw FileSystemError.FileNotFound(uri);
      }
      return { type: bytes ? FileType.File : FileType.Directory, ctime: 0, mtime: 0, size: bytes?.length ?? 0 };
    },
    readDirectory(uri) {
      const below = inside(uri.path).map((path) => path.slice(uri.path.replace(/\/$/, "").length + 1).split("/"));
      return [...new Map(below.map(([name, ...rest]) => [name, rest.length > 0 ? FileType.Directory : FileType.File]))];
    },
    readFile(uri) {
      return files.get(uri.path) ?? fail(uri);
    },
    writeFile(uri, content) {
      const type = files.has(uri.path) ? FileChangeType.Changed : FileChangeType.Created;
      files.set(uri.path, content);
      changed.fire([{ type, uri }]);
    },
    delete(uri) {
      files.delete(uri.path);
      changed.fire([{ type: FileChangeType.Deleted, uri }]);
    },
    createDirectory() {},
    rename: fail,
  };
  context.subscriptions.push(vscode.workspace.registerFileSystemProvider("kernels", provider, { isCaseSensitive: true }));
};
