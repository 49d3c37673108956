#!/usr/bin/env python3
"""The lenses of every kernel below a folder, as an editor shows them when a file is opened, and what comes of a click on one that asks for values.

usage: lenses.py FOLDER… --bin tilefit [--click] [--show KIND…]

Each lens falls into one of:
  known       a number or a range of bytes
  at least    only a least size
  asks        values are missing, and a click writes examples into a comment
  in the way  what stands in the way, which no value would help with
  other       whatever else is said
`--click` applies the edit of each lens that asks, and counts what it says then.
"""
import argparse, collections, json, os, re, subprocess, time

ASKS = re.compile(r"to see its memory, give (.*?)(?: and (\d+) more)? values?$")
KINDS = ("known", "at least", "asks", "in the way", "other")


CONTENT_MODIFIED = -32801


def kind_of(title):
    if title.startswith("to see its memory"):
        return "asks"
    if title.startswith("memory not known"):
        return "in the way"
    if re.search(r"≥ [\d.,]+ [KM]?i?B", title):
        return "at least"
    return "known" if re.search(r"\d [KM]?i?B\b|no shared memory|\d%", title) else "other"


def names_asked(title):
    named, more = ASKS.search(title).groups()
    return len(re.split(r", | and ", named)) + int(more or 0)


PAUSE = 0.5
MOST_PAUSES = 10


class Server:
    """A language server over stdio; requests are answered in order, and what it asks itself gets `null`."""

    def __init__(self, binary, root):
        self.process = subprocess.Popen([binary, "server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.number, self.edits = 0, []
        capabilities = dict(workspace=dict(applyEdit=True, workspaceEdit=dict(documentChanges=True)))
        self.ask("initialize", dict(processId=None, rootUri="file://" + root, workspaceFolders=[dict(uri="file://" + root, name="root")], capabilities=capabilities))
        self.tell("initialized", {})

    def send(self, message):
        body = json.dumps(dict(jsonrpc="2.0", **message)).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def tell(self, method, params):
        self.send(dict(method=method, params=params))

    def receive(self):
        length = 0
        while (line := self.process.stdout.readline().strip()):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return json.loads(self.process.stdout.read(length))

    def ask(self, method, params):
        self.number += 1
        self.send(dict(id=self.number, method=method, params=params))
        mine = self.number
        while True:
            message = self.receive()
            if "method" in message and "id" in message:
                if message["method"] == "workspace/applyEdit":
                    self.edits.append(message["params"]["edit"])
                many = message["method"] == "workspace/configuration"
                result = [None] * len(message["params"]["items"]) if many else dict(applied=True) if message["method"] == "workspace/applyEdit" else None
                self.send(dict(id=message["id"], result=result))
            elif message.get("id") == mine:
                # What was known changed while it was answered: an editor asks again.
                if message.get("error", {}).get("code") == CONTENT_MODIFIED:
                    return self.ask(method, params)
                return message.get("result")

    def edits_of(self, command):
        self.edits = []
        self.ask("workspace/executeCommand", dict(command=command["command"], arguments=command.get("arguments", [])))
        # The edit is a request of the server's own, which may come behind the answer.
        for _ in range(MOST_PAUSES):
            self.ask("textDocument/foldingRange", dict(textDocument=dict(uri="file:///none.py")))
            if self.edits:
                break
            time.sleep(PAUSE)
        changes = [change for edit in self.edits for change in edit.get("documentChanges", [])]
        plain = [dict(textDocument=dict(uri=uri), edits=edits) for edit in self.edits for uri, edits in (edit.get("changes") or {}).items()]
        return changes + plain


def sources(root):
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if not f.startswith("."))
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.endswith(".py") and re.search(r"\bjit\b", open(path, errors="replace").read()):
                yield path


def lenses(server, uri):
    """(line, title, command) of each memory lens, once it says something"""
    found = server.ask("textDocument/codeLens", dict(textDocument=dict(uri=uri))) or []
    for lens in found:
        lens = lens if "command" in lens else server.ask("codeLens/resolve", lens) or lens
        command = lens.get("command") or {}
        if command.get("title") and not command["title"].startswith(("show generated", "open dump")):
            yield lens["range"]["start"]["line"], command["title"], command


def clicked(server, uri, line, command):
    """What the lens says after its edit, which is taken back; None where no edit came or the lens is gone"""
    changes = server.edits_of(command)
    edit = next((edit for change in changes for edit in change["edits"]), None)
    if not edit:
        return None
    server.tell("textDocument/didChange", dict(textDocument=dict(uri=uri, version=2), contentChanges=[dict(range=edit["range"], text=edit["newText"])]))
    after = line + edit["newText"].count("\n")
    # What takes longer is told behind the first answer, as an editor is told to ask again.
    list(lenses(server, uri))
    time.sleep(PAUSE)
    said = next((title for at, title, _ in lenses(server, uri) if at == after), None)
    start = edit["range"]["start"]
    rows = edit["newText"].split("\n")
    end = dict(line=start["line"] + len(rows) - 1, character=len(rows[-1]) + (start["character"] if len(rows) == 1 else 0))
    server.tell("textDocument/didChange", dict(textDocument=dict(uri=uri, version=3), contentChanges=[dict(range=dict(start=start, end=end), text="")]))
    return said


def census(root, args):
    server = Server(args.bin, root)
    counts, after, asked, begun = collections.Counter(), collections.Counter(), [], time.time()
    for path in sources(root):
        uri = "file://" + path
        text = open(path, errors="replace").read()
        server.tell("textDocument/didOpen", dict(textDocument=dict(uri=uri, languageId="python", version=1, text=text)))
        for line, title, command in list(lenses(server, uri)):
            kind = kind_of(title)
            counts[kind] += 1
            said = None
            if kind == "asks":
                asked.append(names_asked(title))
                if args.click:
                    said = clicked(server, uri, line, command)
                    after[kind_of(said) if said else "no lens"] += 1
            if args.show and (kind in args.show or said and kind_of(said) in args.show):
                print(f"{os.path.relpath(path, root)}:{line + 1}: {title}" + (f" -> {said}" if said else ""), flush=True)
        server.tell("textDocument/didClose", dict(textDocument=dict(uri=uri)))
    server.process.stdin.close()
    used = os.wait4(server.process.pid, 0)[2]
    cpu = used.ru_utime + used.ru_stime
    print(f"{os.path.basename(root)}: {sum(counts.values())} lenses: " + ", ".join(f"{kind} {counts[kind]}" for kind in KINDS)
          + (f"; names asked for: {sum(asked)}, median {sorted(asked)[len(asked) // 2]}" if asked else "")
          + (f"; after a click: " + ", ".join(f"{k} {n}" for k, n in after.most_common()) if after else "") + f"; {cpu:.1f} s of CPU, {used.ru_maxrss // 1024} MiB, {time.time() - begun:.0f} s")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("folders", nargs="+"); ap.add_argument("--bin", default="tilefit"); ap.add_argument("--click", action="store_true"); ap.add_argument("--show", nargs="*")
    args = ap.parse_args()
    for folder in args.folders:
        census(os.path.abspath(folder), args)


if __name__ == "__main__":
    main()
