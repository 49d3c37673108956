"""What runs have recorded against what tilefit says of the same launches: `python recorded.py launches.jsonl ROOT --bin tilefit`.

Each launch is asked about by itself. Wrong is a total outside the bounds, and a word that it denies: `fits` of what takes more than there is,
`does not fit` of what takes less, `refused` of what was compiled.
"""
import argparse
import ast
import collections
import functools
import json
import os
import subprocess

BATCH = 64


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records")
    parser.add_argument("root", help="the folder that the files of the records are named from")
    parser.add_argument("--bin", default="tilefit")
    parser.add_argument("--versions", default="3.8,3.9", help="only records of these versions of the compiler")
    parser.add_argument("--show", type=int, default=20, help="wrong ones that are printed")
    arguments = parser.parse_args()
    versions = tuple(arguments.versions.split(","))
    with open(arguments.records) as file:
        records = [json.loads(line) for line in file if line.strip()]
    records = [it for it in records if "shared" in it and it["by"]["version"].startswith(versions)]
    program = subprocess.Popen([arguments.bin, "ask"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    counts, wrong, unknown = collections.Counter(), [], collections.Counter()
    for (path, kernel, _, target), group in sorted(grouped(records).items()):
        for at in range(0, len(group), BATCH):
            batch = group[at:at + BATCH]
            file = os.path.join(arguments.root, path)
            said = ask(program, file, whole_names(file).get(batch[0]["line"], kernel), target, batch)
            for nth, record in enumerate(batch):
                judged = judge(record, said[nth] if isinstance(said, list) else None)
                counts[judged] += 1
                if judged.startswith("wrong"):
                    wrong.append((path, kernel, record, said[nth]))
                elif judged in ("unknown", "not asked"):
                    unknown[path, kernel, said if isinstance(said, str) else said[nth]["reason"]] += 1
    print(len(records), "records of", len({(it["file"], it["kernel"]) for it in records}), "kernels:", dict(counts))
    for (path, kernel, why), count in unknown.most_common(arguments.show):
        print("unknown", count, path, kernel, why)
    for path, kernel, record, fit in wrong[:arguments.show]:
        print("WRONG", path, kernel, json.dumps(record), json.dumps(fit))


def grouped(records):
    groups = collections.defaultdict(list)
    for record in records:
        groups[record["file"], record["kernel"], record["line"], record["target"]].append(record)
    return groups


@functools.lru_cache(maxsize=None)
def whole_names(path):
    """The functions of a file by the line of `def`, with the functions and classes around them."""
    found = {}

    def visit(node, around):
        for child in ast.iter_child_nodes(node):
            is_named = isinstance(child, (ast.FunctionDef, ast.ClassDef))
            names = [*around, child.name] if is_named else around
            if is_named:
                found[child.lineno] = ".".join(names)
            visit(child, names)

    with open(path, encoding="utf-8") as file:
        visit(ast.parse(file.read()), [])
    return found


def ask(program, path, kernel, target, batch):
    """A list of what is said of each launch, or why nothing is."""
    launches = [{key: it[key] for key in ("signature", "constexprs", "divisible", "options")} for it in batch]
    question = {"id": 1, "file": path, "kernel": kernel, "devices": [target], "launches": launches}
    program.stdin.write(json.dumps(question) + "\n")
    program.stdin.flush()
    answer = json.loads(program.stdout.readline())
    return answer["fits"][0] if "fits" in answer else answer["error"]


def judge(record, fit):
    if fit is None:
        return "not asked"
    used, low, high, capacity = record["shared"], fit["low"], fit["high"], fit["capacity"]
    if fit["verdict"] == "refused":
        return "wrong: refused"
    if fit["verdict"] == "fits" and used > capacity or fit["verdict"] == "does not fit" and used <= capacity and not record.get("tensor_columns"):
        return "wrong: " + fit["verdict"]
    if low is not None and used < low or high is not None and used > high:
        return "wrong: bound" if low != high else "wrong: exact"
    if high is None:
        return "unknown"
    return "exact" if low == high else "inside"


if __name__ == "__main__":
    main()
