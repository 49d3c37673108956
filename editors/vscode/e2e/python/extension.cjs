// Stands in for the Python extension, which no registry of packages has: its API, as far as tilefit asks it, and a way to select.

const vscode = require("vscode");

exports.activate = () => {
  const changed = new vscode.EventEmitter();
  let selected;
  return {
    environments: {
      getActiveEnvironmentPath: () => selected && { id: selected, path: selected },
      onDidChangeActiveEnvironmentPath: changed.event,
    },
    select(path) {
      selected = path;
      changed.fire({ path });
    },
  };
};
