// For what runs inside of the extension host: TAP lines into `.report` of a folder.

const fs = require("node:fs");
const path = require("node:path");

let file;

exports.report = (folder) => {
  file = path.join(folder, ".report");
  fs.writeFileSync(file, "");
};

exports.ok = (condition, name, detail) => {
  fs.appendFileSync(file, `${condition ? "ok" : "not ok"} - ${name}\n`);
  if (!condition && detail !== undefined) {
    fs.appendFileSync(file, `  # ${JSON.stringify(detail)?.slice(0, 1500)}\n`);
  }
};

/** Asks until there is an answer that counts, or half a minute is over. */
exports.eventually = async (probe) => {
  for (const end = Date.now() + 30_000; Date.now() < end; ) {
    const value = await probe();
    if (value) {
      return value;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return undefined;
};
