#!/usr/bin/env python3
"""Asks TileLang about the kernels of tilelang_kernels.py, and compares what tilefit says with its answers.

usage: PYTHON tilelang_judge.py ask DIR… [--deadline SECONDS]     PYTHON has tilelang; answers are kept in DIR, and what is answered is not asked again
       tilelang_judge.py compare DIR… --bin tilefit [-v] [--wrong DIR2] [--show KIND]

Each answer falls into one of (the wrong ones first):
  WRONG total       one number, and not the compiler's
  WRONG outside     the compiler's total is outside low..high
  WRONG offsets     an exact plan whose buffers lie elsewhere
  WRONG refused     an error, although the compiler accepts and the memory fits
  WRONG columns     another number of columns of tensor memory
  crash             no plan at all
  refusal not said  the compiler refuses, and no error is shown; `exact` behind it: although the plan says that it is exact
  refused both, exact, bounded (with an upper bound), open (without one), absent (no such kernel is shown)
"""
import argparse
import collections
import glob
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DRIVER = os.path.join(HERE, "..", "..", "server", "src", "confirm")
NAMES = {"sm_80": "cuda:80", "sm_90": "cuda:90", "sm_100": "cuda:100", "gfx942": "hip:gfx942", "gfx950": "hip:gfx950"}


def records(folders):
    for folder in folders:
        for path in sorted(glob.glob(os.path.join(folder, "*.json")), key=lambda path: int(path[:-5].rpartition("_")[2])):
            with open(path) as file:
                yield path, json.load(file)


def keep(path, record):
    with open(path + ".part", "w") as out:
        json.dump(record, out, indent=1)
    os.replace(path + ".part", path)


# ---- the compiler
def columns_of(device):
    """Of tensor memory, in the order of its allocations."""
    return [int(n) for n in re.findall(r"ptx_init_tensor_memory\(.*, (\d+)\)", "\n".join(str(f) for f in device.functions.values()))]


def answers_of(path, record, compiler):
    """Of one file, in a child: the compiler may end its process."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        out = os.fdopen(write, "w")
        for n, case in enumerate(record["cases"]):
            if "answer" not in case:
                out.write(json.dumps([n, answer(path, record, case, compiler)]) + "\n")
                out.flush()
        os._exit(0)
    os.close(write)
    given = []
    with os.fdopen(read) as lines:
        for line in lines:
            given.append(json.loads(line))
    os.waitpid(child, 0)
    for n, one in given:
        record["cases"][n]["answer"] = one
    missing = [case for case in record["cases"] if "answer" not in case]
    if missing:  # the one that ended the process
        missing[0]["answer"] = {"error": "the compiler ended", "kind": "died"}
    return len(given)


def answer(path, record, case, compiler):
    import signal

    def late(*_):
        raise TimeoutError("too slow")

    module, loaded = compiler
    question = {"file": path, "kernel": record["kernel"], "target": NAMES[case["target"]], "constexprs": case["constexprs"]}
    seen = {}
    lower = loaded.lower

    def watching(function, context):
        result = lower(function, context)
        seen["columns"] = columns_of(result[1])
        return result
    loaded.lower = watching
    module_load, module.load = module.load, lambda gpu: loaded
    signal.signal(signal.SIGALRM, late)
    signal.alarm(60)
    try:
        got = module.answer(question, {"version": "0.1.15", "known": True}, lambda _: None)
        return {"shared": got["shared"], "buffers": [[b["op"], b["size"], b["offset"]] for b in got["buffers"]], **seen}
    except BaseException as error:
        return {"error": (getattr(error, "message", None) or f"{type(error).__name__}: {error}")[:300], "kind": getattr(error, "kind", "died"),
                "details": (getattr(error, "details", "") or "")[-700:], "line": getattr(error, "line", None)}
    finally:
        signal.alarm(0)
        module.load, loaded.lower = module_load, lower


def ask(args):
    import time
    sys.path[:] = [place for place in sys.path if os.path.abspath(place or ".") != HERE] + [DRIVER]
    from driver import tilelang_compiler
    compiler = tilelang_compiler, tilelang_compiler.load(None)
    begun, count = time.time(), 0
    for path, record in records(args.folders):
        started = time.time()
        if all("answer" in case for case in record["cases"]):
            continue
        if args.deadline and time.time() - begun > args.deadline:
            break
        source = os.path.join(os.path.dirname(os.path.abspath(path)), record["file"])
        while any("answer" not in case for case in record["cases"]):
            count += answers_of(source, record, compiler)
        keep(path, record)
        print(f"{record['file']}: {time.time() - started:.1f} s", flush=True)
    print(f"{count} answers in {time.time() - begun:.0f} s")


# ---- the product
def planned(binary, path, kernel, target):
    try:
        run = subprocess.run([binary, "plan", "--format", "json", "--target", target, f"{path}:{kernel}"], capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "timeout"
    try:
        whole = json.loads(run.stdout)
    except ValueError:
        return f"exit {run.returncode}: {run.stderr.strip()[-300:]}"
    found = [one for one in whole.get("kernels", [whole]) if one.get("name") == kernel]
    # Several launches of one function: the largest is asked about.
    return max(found, key=lambda one: one["spaces"].get("smem", {}).get("low", 0)) if found else "no such kernel: " + run.stderr.strip()[-300:]


def verdict(case, plan, has_views=False):
    answer = case["answer"]
    if isinstance(plan, str):
        return "absent" if "no such kernel" in plan and answer.get("error") else "crash", plan
    errors = [one["message"] for one in plan["diagnostics"] if one["severity"] == "error"]
    limit = plan["spaces"].get("smem", {}).get("capacity", 1 << 60)
    if answer.get("error"):
        said = plan["status"] == "rejected" or bool(errors)
        return ("refused both", errors) if said else ("refusal not said" + (" exact" if plan["status"] == "exact" else ""), answer["error"])
    memory = plan["spaces"].get("smem", {})
    low, high, theirs = memory.get("low", 0), memory.get("high", 0 if not memory else None), answer["shared"]
    if errors and not (theirs > limit or any("columns" in one for one in errors)):
        return "WRONG refused", errors
    if plan["status"] == "rejected" and theirs <= limit:
        return "WRONG refused", errors
    columns = plan["spaces"].get("tmem", {})
    if columns and columns.get("low") == columns.get("high") and columns["low"] != sum(answer.get("columns", [])):
        return "WRONG columns", (columns, answer["columns"])
    mine = sorted(("workspace" if "scratch of" in tile["name"] else tile["name"], tile["bytes"], tile["address"] or 0) for tile in plan["tiles"] if tile["space"] == "smem")
    got = sorted(map(tuple, answer["buffers"]))
    if has_views:  # the compiler calls a buffer by the name of its last view
        mine, got = (sorted(("", *rest) for _, *rest in buffers) for buffers in (mine, got))
    if low != high:
        if low > theirs or high is not None and high < theirs:
            return "WRONG outside", (low, high, theirs, mine, got)
        return "open" if high is None else "bounded", (low, high, theirs, plan["reasons"])
    if low != theirs:
        return "WRONG total", (low, theirs, mine, got)
    if plan["status"] == "exact" and mine != got:
        return "WRONG offsets", (mine, got)
    return "exact", ()


ORDER = ["WRONG total", "WRONG outside", "WRONG offsets", "WRONG refused", "WRONG columns", "crash", "refusal not said exact", "refusal not said", "refused both", "exact", "bounded", "open", "absent"]


def compare(args):
    counts, by, reasons = collections.Counter(), collections.defaultdict(collections.Counter), collections.Counter()
    for path, record in records(args.folders):
        source = os.path.join(os.path.dirname(path), record["file"])
        for case in record["cases"]:
            if "answer" not in case or case["answer"].get("kind") in ("died", "argument"):
                counts["not answered"] += "answer" in case
                continue
            plan = planned(args.bin, source, record["kernel"], case["target"])
            with open(source) as text:
                has_views = bool(re.search(r"T\.(view|reshape)\(", text.read()))
            found, why = verdict(case, plan, has_views)
            counts[found] += 1
            by[record["family"]][found] += 1
            by[case["target"]][found] += 1
            if found in ("bounded", "open"):
                reasons.update({re.sub(r"`[^`]*`|\d+", "_", reason)[:110] for reason in why[3]})
            if found.startswith("WRONG") or found == "crash" or found.startswith("refusal") or args.show == found or args.v:
                print(f"{found}: {source}:{record['kernel']} {case['target']}: {str(why)[:600]}")
                if args.wrong:
                    os.makedirs(args.wrong, exist_ok=True)
                    with open(source) as text, open(os.path.join(args.wrong, f"{record['file'][:-3]}_{case['target']}.py"), "w") as out:
                        out.write(f"# {found}, {case['target']}: {why}\n".replace("\n", " ").rstrip() + "\n" + text.read())
    total = sum(counts.values())
    print(f"{total} answers: " + ", ".join(f"{kind} {counts[kind]}" for kind in ORDER + ["not answered"] if counts[kind]))
    for name, own in sorted(by.items()):
        print(f"  {name:14} {sum(own.values()):5}: " + ", ".join(f"{kind} {own[kind]}" for kind in ORDER if own[kind]))
    for reason, count in reasons.most_common(30):
        print(f"  {count:5} {reason}")
    sys.exit(any(counts[kind] for kind in ORDER[:7]))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = ap.add_subparsers(dest="command", required=True)
    asking, comparing = sub.add_parser("ask"), sub.add_parser("compare")
    asking.add_argument("folders", nargs="+")
    asking.add_argument("--deadline", type=float, default=0)
    comparing.add_argument("folders", nargs="+")
    comparing.add_argument("--bin", default="tilefit")
    comparing.add_argument("-v", action="store_true")
    comparing.add_argument("--wrong", help="folder for the kernels about which it is wrong")
    comparing.add_argument("--show", help="a kind of answer to print, too")
    args = ap.parse_args()
    ask(args) if args.command == "ask" else compare(args)


if __name__ == "__main__":
    main()
