#!/usr/bin/env python3
"""Random plain Triton kernels as people write them, and questions about each: device, types, sizes, options.

usage: triton_kernels.py DIR [-n CELLS] [--seed SEED] [--kind NAME …]

Writes DIR/NNNN_NAME.py and NNNN_NAME.json, the questions in the form of the recorded answers (tests/conformance/triton/README.md) without
the answers; `judge.py` fills those in and compares. The same seed gives the same kernels.
"""
import argparse, json, os, random

from plain import blocks, cells, combined, free, indirect, linked, numbers, products, rows

KINDS = {**products.KINDS, **combined.KINDS, **rows.KINDS, **free.KINDS, **linked.KINDS, **indirect.KINDS}
# Of Triton up to 3.8; they are written where they are asked for.
OLDER = blocks.KINDS
CELLS_OF_A_KERNEL = (1, 2, 2, 3)


def kernel(seed, number, only=None):
    """(draft, its kind) of one number; numbers do not influence each other, so that any one can be made again alone."""
    r = random.Random(f"{seed}/{number}")
    kinds = {k: w for k, w in {**KINDS, **OLDER}.items() if k.__name__ in only} if only else KINDS
    kind = cells.weighted(r, kinds)
    return kind(r), kind.__name__, r


def questions(draft, r):
    drawn = (cells.cell(r, draft) for _ in range(r.choice(CELLS_OF_A_KERNEL)))
    return [q for q in drawn if q]


def write(folder, seed, count, only=None):
    """Kernels until there are `count` cells"""
    os.makedirs(folder, exist_ok=True)
    made = number = 0
    while made < count:
        draft, kind, r = kernel(seed, number, only)
        asked = questions(draft, r)[:count - made]
        if asked:
            name = f"{number:04}_{kind}"
            with open(os.path.join(folder, name + ".py"), "w") as out:
                out.write(numbers.name_numbers(draft.source(), random.Random(f"{seed}/{number}/numbers")))
            record = dict(file=name + ".py", kernel=draft.name, language="triton", kind=kind, seed=f"{seed}/{number}", cases=asked)
            with open(os.path.join(folder, name + ".json"), "w") as out:
                json.dump(record, out, indent=1)
        made += len(asked)
        number += 1
    return number, made


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("folder")
    ap.add_argument("-n", type=int, default=100, help="cells")
    ap.add_argument("--seed", default="1")
    ap.add_argument("--kind", nargs="*", choices=[k.__name__ for k in {**KINDS, **OLDER}])
    args = ap.parse_args()
    kernels, made = write(args.folder, args.seed, args.n, args.kind)
    print(f"{made} cells of {kernels} kernels in {args.folder}")


if __name__ == "__main__":
    main()
