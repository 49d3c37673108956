#!/usr/bin/env python3
"""Asks the compiler about kernels, and compares what tilefit says with its answers.

usage: judge.py ask DIR… --oracle ORACLE.py [--limit N]    fills answers into the questions of DIR/*.json
       judge.py compare DIR… --bin tilefit [-v] [--untyped] [--json OUT] [--wrong DIR]

The oracle is a module as kernel_writer.py asks it; its answers have the form of the recorded ones (tests/conformance/triton/README.md), `error`
when the compiler refuses. What is answered is on disk and is not asked again. `--untyped` leaves the element types of pointers
out, as most files do.

Each cell is planned as a copy of the kernel with a scenario comment, and falls into one of:
  exact        low = high = the compiler's total
  EXACT-WRONG  low = high, but not the compiler's total
  BOUND-WRONG  the compiler's total is outside low..high
  inside       low <= the total <= high; its width is high / low - 1
  no-bound     low <= the total, no upper bound
  absent       the kernel or its shared memory is not shown
  refused-ok   the compiler refuses, and nothing is said to be exact, or an error is shown
  REFUSED-FITS the compiler refuses, and the plan is exact and has no error
  FALSE-ERROR  an error, although the compiler accepts and the memory fits
  FALSE-FITS   a total that cannot exceed the capacity, although it does (also counted as wrong above where it is)
  CAPACITY     the capacity of another device
and for tensor memory, on top: tmem-exact, tmem-inside, TMEM-WRONG, tmem-absent.
"""
import argparse, collections, glob, json, os, re, subprocess, sys, tempfile

import kernel_writer

TENSOR_MEMORY = 512
BAD = ("EXACT-WRONG", "BOUND-WRONG", "REFUSED-FITS", "FALSE-ERROR", "FALSE-FITS", "CAPACITY", "TMEM-WRONG")
ORDER = BAD + ("exact", "inside", "no-bound", "absent", "refused-ok", "assumed-otherwise", "tmem-exact", "tmem-inside", "tmem-absent")


# ---- the oracle ----------------------------------------------------------------------------------------------------------
def records(folders):
    for folder in folders:
        paths = [folder] if folder.endswith(".json") else sorted(glob.glob(os.path.join(folder, "**", "*.json"), recursive=True))
        for path in paths:
            with open(path) as file:
                record = json.load(file)
            if isinstance(record, dict) and "cases" in record:
                yield path, record


def answered(case):
    return "error" in case


def ask(folders, oracle, limit):
    """Fills in what is not answered. Answers are written after each kernel, so that an interrupted run is continued."""
    asked = refused = 0
    for path, record in records(folders):
        open_cases = [case for case in record["cases"] if not answered(case)]
        if not open_cases or limit and asked >= limit:
            continue
        source = os.path.join(os.path.dirname(os.path.abspath(path)), record["file"])
        record["compiler"] = oracle.version()
        for case in open_cases:
            answer = kernel_writer.ask(oracle, source, record["kernel"], case)
            if answer is None:  # not in time: it stays open
                continue
            case.update(answer)
            asked += 1
            refused += bool(case["error"])
        kernel_writer.keep(path, record)
    return asked, refused


# ---- the scenario comment ------------------------------------------------------------------------------------------------
def said_type(kind, all_said=False):
    """An argument's type in a comment, None where nothing needs to be said: `all_said` where a launch in the file would say otherwise"""
    if kind.startswith("*"):
        return kind[1:]
    block = re.match(r"tensordesc<(\w+)\[([\d,]+)\]>$", kind)
    if block:
        return f"{block[1]}[{block[2]}]"
    return None if kind == "constexpr" or not all_said and kind in ("i32", "fp32") else f'"{kind}"'


def comment(case, compiler, untyped=False, all_said=False):
    text = lambda value: f'"{value}"' if isinstance(value, str) else str(value)
    words = [f"{name}={text(value)}" for name, value in case["constexprs"].items()]
    words += [f"{name}={said_type(kind, all_said)}" for name, kind in case["signature"].items() if name not in case["constexprs"] and said_type(kind, all_said) and not (untyped and kind.startswith("*"))]
    backend, arch = case["target"].split(":")
    words.append(f"arch={'sm_' + arch if backend == 'cuda' else arch}")
    # What is not given to the compiler is its default, whatever a launch in the file says.
    options = {"num_warps": 4, "num_stages": 3} | case["options"] if all_said else case["options"]
    words += [f"{name}={value}" for name, value in options.items()]
    if case["divisible"]:
        words.append("divisible=" + ",".join(case["divisible"]))
    words.append("triton=" + re.search(r"triton (\d+\.\d+)", compiler)[1])
    return "# tilefit: " + " ".join(words)


def with_comment(source, kernel, text):
    lines = source.split("\n")
    at = next(i for i, line in enumerate(lines) if re.match(rf"def {re.escape(kernel)}\b", line))
    while lines[at - 1].startswith("@"):
        at -= 1
    return "\n".join(lines[:at] + [text] + lines[at:])


# ---- the product ---------------------------------------------------------------------------------------------------------
def planned(binary, path, kernel):
    """(the kernel's part of the plan, None; or None and why it has none)"""
    try:
        run = subprocess.run([binary, "plan", path, "--format", "json"], capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return None, "timeout"
    try:
        found = [k for k in json.loads(run.stdout)["kernels"] if k["name"].split(".")[-1] == kernel]
    except (ValueError, KeyError):
        return None, f"exit {run.returncode}: {run.stderr.strip()[-200:]}"
    return (found[0], None) if found else (None, "no such kernel")


def bounds(space):
    """(low, high) of a memory, high None without a bound; None where nothing is known"""
    if not space or space.get("low", space.get("used")) is None:
        return None
    return space.get("low", space.get("used")), space.get("high", space.get("used") if "low" not in space else None)


def verdicts(case, plan):
    """The categories of a cell, the worst of shared memory first"""
    errors = [e for e in plan.get("diagnostics", []) if e.get("severity") == "error"]
    spaces = plan.get("spaces", {})
    shared = bounds(spaces.get("smem"))
    if case["error"]:
        certain = plan.get("status") == "exact" and not errors
        return ["REFUSED-FITS" if certain else "refused-ok"]
    if shared is None and case["shared"] == 0 and plan.get("status") == "exact":
        shared = (0, 0)
    found = [of_shared(case, shared)] + of_tensor_memory(case, bounds(spaces.get("tmem")))
    over = case["shared"] > case["limit"] or case["tmem_columns"] > TENSOR_MEMORY
    if errors and not over:
        found.append("FALSE-ERROR")
    capacity = (spaces.get("smem") or {}).get("capacity", case["limit"])
    if capacity != case["limit"]:
        found.append("CAPACITY")
    if case["shared"] > case["limit"] and shared and shared[1] is not None and shared[1] <= capacity and not errors:
        found.append("FALSE-FITS")
    return found


def assumes_otherwise(case, plan):
    """Whether a plan rests on element types, each named, of other widths than those that the compiler was asked about"""
    for said in plan.get("assumes", []):
        about = re.match(r"the elements of (.*?) have (\d+) bits", said)
        for name in re.findall(r"`(\w+)`", about.group(1)) if about else []:
            width = re.search(r"\d+", case["signature"].get(name, ""))
            if width and width.group() != about.group(2):
                return True
    return False


def of_shared(case, shared):
    if shared is None:
        return "absent"
    low, high = shared
    inside = low <= case["shared"] and (high is None or case["shared"] <= high)
    if low == high:
        return "exact" if inside else "EXACT-WRONG"
    return "BOUND-WRONG" if not inside else "no-bound" if high is None else "inside"


def of_tensor_memory(case, columns):
    truth = case["tmem_columns"]
    if columns is None:
        return ["tmem-absent"] if truth else []
    low, high = columns
    if truth < low or high is not None and truth > high:
        return ["TMEM-WRONG"]
    return (["tmem-exact"] if low == high else ["tmem-inside"]) if truth or low != high else []


# ---- the comparison ------------------------------------------------------------------------------------------------------
def cell_result(args, folder, path, record, n, case):
    with open(os.path.join(os.path.dirname(path), record["file"])) as file:
        source = file.read()
    text = with_comment(source, record["kernel"], comment(case, record["compiler"], args.untyped))
    planned_file = os.path.join(folder, f"{os.path.basename(path)[:-5]}_{n}.py")
    with open(planned_file, "w") as out:
        out.write(text)
    plan, why = planned(args.bin, planned_file, record["kernel"])
    if plan and assumes_otherwise(case, plan):
        found = ["assumed-otherwise"]
    else:
        found = verdicts(case, plan) if plan else ["refused-ok" if case["error"] else "absent"]
    spaces = (plan or {}).get("spaces", {})
    return dict(path=path, case=n, kind=record.get("kind"), target=case["target"], verdicts=found, why=why, truth=case.get("shared"), limit=case.get("limit"), error=case["error"],
                said=bounds(spaces.get("smem")), tmem=case.get("tmem_columns"), tmem_said=bounds(spaces.get("tmem")), status=(plan or {}).get("status"), text=text)


def width(result):
    low, high = result["said"]
    return high / low - 1 if low else float("inf") if high else 0.0


def summary(results):
    counts = collections.Counter(v for r in results for v in r["verdicts"])
    lines = [f"{len(results)} cells: " + ", ".join(f"{k} {counts[k]}" for k in ORDER if counts[k] or k in BAD)]
    wide = sorted(width(r) for r in results if "inside" in r["verdicts"])
    if wide:
        lines.append(f"width of the inside: median {wide[len(wide) // 2]:.1%}, at most 15 %: {sum(w <= .15 for w in wide)} of {len(wide)}, above 100 %: {sum(w > 1 for w in wide)}")
    for column in ("kind", "target"):
        lines.append(f"by {column}:")
        groups = collections.defaultdict(list)
        for r in results:
            groups[r[column]].append(r)
        for name, group in sorted(groups.items(), key=lambda g: -sum(v in BAD for r in g[1] for v in r["verdicts"])):
            own = collections.Counter(v for r in group for v in r["verdicts"])
            lines.append(f"  {name or 'other':20} {len(group):5}: " + ", ".join(f"{k} {own[k]}" for k in ORDER if own[k]))
    return "\n".join(lines)


def compare(args):
    results = []
    folder = tempfile.mkdtemp()
    for path, record in records(args.folders):
        for n, case in enumerate(record["cases"]):
            if answered(case):
                results.append(cell_result(args, folder, path, record, n, case))
    for r in results:
        if args.v or any(v in BAD for v in r["verdicts"]):
            print(f"{' '.join(r['verdicts']):24} {os.path.basename(r['path'])} #{r['case']} {r['target']}: said {r['said']}, compiler {r['truth']} of {r['limit']}"
                  + (f"; columns said {r['tmem_said']}, compiler {r['tmem']}" if r["tmem"] else "") + (f"; {r['error'][:90]}" if r["error"] else "") + (f"; {r['why']}" if r["why"] else ""))
            if args.wrong and any(v in BAD for v in r["verdicts"]):
                os.makedirs(args.wrong, exist_ok=True)
                with open(os.path.join(args.wrong, f"{os.path.basename(r['path'])[:-5]}_{r['case']}.py"), "w") as out:
                    out.write(f"# {' '.join(r['verdicts'])}: said {r['said']}, compiler {r['truth']}; columns {r['tmem_said']}, {r['tmem']}; {r['error'] or ''}\n".replace("\n", " ").rstrip() + "\n" + r["text"])
    print(summary(results))
    if args.json:
        with open(args.json, "w") as out:
            json.dump([{k: v for k, v in r.items() if k != "text"} for r in results], out, indent=0)
    sys.exit(any(v in BAD for r in results for v in r["verdicts"]))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = ap.add_subparsers(dest="command", required=True)
    asking, comparing = sub.add_parser("ask"), sub.add_parser("compare")
    asking.add_argument("folders", nargs="+"); asking.add_argument("--oracle", required=True); asking.add_argument("--limit", type=int)
    comparing.add_argument("folders", nargs="+"); comparing.add_argument("--bin", default="tilefit"); comparing.add_argument("-v", action="store_true")
    comparing.add_argument("--untyped", action="store_true"); comparing.add_argument("--json"); comparing.add_argument("--wrong", help="folder for the cells that are wrong, as they were planned")
    args = ap.parse_args()
    if args.command == "ask":
        print("%d cells asked, %d refused" % ask(args.folders, kernel_writer.load_oracle(args.oracle), args.limit))
    else:
        compare(args)


if __name__ == "__main__":
    main()
