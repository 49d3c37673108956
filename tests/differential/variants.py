#!/usr/bin/env python3
"""Variants of kernels that other people wrote: other sizes, element types, options, devices; with the compiler's answers.

usage: variants.py make CHECKOUT OUT --oracle ORACLE.py [--seed 1] [--cells 100] [--each 6] [--part K/N] [--only TEXT] [--skip TEXT]
       variants.py compare OUT… --sources FOLDER --bin tilefit [--untyped] [--wrong DIR] [--json FILE]

CHECKOUT is a repository's files beside other ones, in FOLDER; nothing of it is copied into OUT, which has one NAME.json for each kernel (checkout,
path, first_line, kernel, cases with answers). A kernel is taken whole: its file runs statement by statement with modules that are not here stubbed,
decorators other than `jit` left out, helpers of the same checkout read from their files. What its arguments are is guessed from their use; what the
compiler refuses is a wrong guess, and left out.
`--part K/N` takes the files whose path falls into part K of N (`1,2/3` into parts 1 and 2), so that two sets share no kernel.
"""
import argparse, ast, builtins, collections, hashlib, json, linecache, os, random, re, shutil, subprocess, sys, tempfile, time, types

DEVICES = ["cuda:80", "cuda:86", "cuda:89", "cuda:90", "cuda:90", "cuda:90", "cuda:100", "cuda:100", "cuda:120", "hip:gfx942", "hip:gfx950"]
STUBBED = ("torch", "subprocess", "requests", "yaml", "sqlite3", "sqlalchemy", "multiprocessing", "transformers", "packaging", "einops", "torch_npu")


# ---- files that run without what they import -------------------------------------------------------------------------------
class Stub:
    """Whatever is asked of it, it is there and says nothing."""

    def __init__(self, *args, **kwargs): pass
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Stub()
    def __call__(self, *args, **kwargs): return Stub()
    def __iter__(self): return iter(())
    def __bool__(self): return False
    def __hash__(self): return id(self)
    def __eq__(self, other): return False
    def __lt__(self, other): return False
    __le__ = __gt__ = __ge__ = __lt__
    def __or__(self, other): return self
    __ror__ = __or__
    def __getitem__(self, key): return Stub()
    def __enter__(self): return self
    def __exit__(self, *args): return False
    def __mro_entries__(self, bases): return (object, )


def jit_decorator(node):
    """The `jit` among the decorators of a function, or None"""
    for decorator in node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
        if name == "jit":
            return decorator
    return None


class Files:
    """The modules of a checkout, each run once."""

    def __init__(self, root):
        self.root, self.modules = root, {}
        self.tops = [root] + [os.path.join(root, d) for d in ("src", "python")]

    def path_of(self, name):
        for top in self.tops:
            stem = os.path.join(top, *name.split("."))
            for path in (stem + ".py", os.path.join(stem, "__init__.py")):
                if os.path.exists(path):
                    return path
        return None

    def imported(self, name):
        if name.split(".")[0] in STUBBED:
            return Stub()
        path = self.path_of(name)
        if path and not name.split(".")[0] in ("triton", "numpy"):
            return self.run(path, name)
        try:
            return __import__(name, fromlist=["x"])
        except Exception:
            return Stub()

    def package_of(self, path):
        for top in sorted(self.tops, key=len, reverse=True):
            if path.startswith(top + os.sep):
                parts = os.path.relpath(path, top)[:-3].split(os.sep)
                return parts if parts[-1] == "__init__" else parts
        return []

    def run(self, path, name=None):
        if path in self.modules:
            return self.modules[path]
        module = types.ModuleType(name or path)
        module.__file__, module.__name__ = path, name or re.sub(r"\W", "_", os.path.relpath(path, self.root))
        self.modules[path] = module
        sys.modules.setdefault(module.__name__, module)
        try:
            tree = ast.parse(open(path).read())
        except (SyntaxError, UnicodeDecodeError):
            return module
        self.statements(tree.body, module, path)
        return module

    def statements(self, body, module, path):
        for node in body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self.bring(node, module, path)
            elif isinstance(node, ast.Try):
                self.statements(node.body, module, path)
            elif isinstance(node, ast.If):
                try:
                    chosen = eval(compile(ast.Expression(node.test), path, "eval"), module.__dict__)
                except Exception:
                    chosen = False
                if not "__main__" in ast.unparse(node.test):
                    self.statements(node.body if chosen else node.orelse, module, path)
            elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.ClassDef, ast.FunctionDef, ast.For)):
                if isinstance(node, ast.FunctionDef) and jit_decorator(node):
                    node.decorator_list = [jit_decorator(node)]
                try:
                    exec(compile(ast.Module([node], []), path, "exec"), module.__dict__)
                except BaseException:
                    pass

    def bring(self, node, module, path):
        if isinstance(node, ast.Import):
            for alias in node.names:
                value = self.imported(alias.name)
                if alias.asname or "." not in alias.name:
                    module.__dict__[alias.asname or alias.name] = value
                else:
                    module.__dict__[alias.name.split(".")[0]] = self.imported(alias.name.split(".")[0])
            return
        package = self.package_of(path)
        base = ".".join(package[:len(package) - node.level] if node.level else [])
        name = ".".join(x for x in (base, node.module or "") if x)
        source = self.imported(name)
        for alias in node.names:
            if alias.name == "*":
                module.__dict__.update({k: v for k, v in vars(source).items() if not k.startswith("_")} if isinstance(source, types.ModuleType) else {})
                continue
            try:
                value = getattr(source, alias.name, None) if not isinstance(source, Stub) else Stub()
            except Exception:  # what a module computes on request may need more than is here
                value = Stub()
            if value is None or isinstance(value, Stub):
                path_below = self.path_of(f"{name}.{alias.name}")
                if path_below and name.split(".")[0] != "triton":
                    value = self.run(path_below, f"{name}.{alias.name}")
            module.__dict__[alias.asname or alias.name] = Stub() if value is None else value


# ---- what a kernel's arguments are -------------------------------------------------------------------------------------------
POINTER_NAME = re.compile(r"(ptr|pointer|_addr)s?$|^(p|ptr)_", re.I)
NO_POINTER = re.compile(r"stride|num_|_num|size|^n_|^[MNKTBHCDLSZ]$|numel|shape|offset$|_len$|seqlen$|dim", re.I)
FLOAT_NAME = re.compile(r"eps|scale(?!.*ptr)|alpha|beta|prob|^p$|temperature|theta|^lr$|gamma|softcap|momentum|slope|decay|threshold|smoothing|lambda|coeff|rate|std|mean|^value$|low|high|logit", re.I)
INDEX_NAME = re.compile(r"ind(ex|ices)|idx|_ids?\b|ids_|seqlens|offsets?|lens\b|table|argm|indptr|sorted|count|target|label|chunk_|token_ids|cu_|position|lengths|num_|seed|order|block_map|perm|topk_id|bincount|hist", re.I)
MASK_NAME = re.compile(r"mask|bool|flag", re.I)
WIDE_NAME = re.compile(r"mean|rstd|lse|delta|loss|max|sum|norm|stat|acc|gk|^g$|_g$", re.I)
SIZE_NAME = re.compile(r"block|tile|^b[a-z]{1,2}$|chunk|^bs_|_bs$|rblock|xblock|size", re.I)
BOOLEAN_NAME = re.compile(r"^(has|is|use|enable|with|need|do|store|load|apply|compute|output|save|return|even|allow|causal|reverse|varlen|inplace|no|keep|should)(_|$)|causal|reverse|transpose|training|inner|first|_only|bias$", re.I)


class Use(ast.NodeVisitor):
    """How a function uses its names."""

    def __init__(self, node):
        self.parts, self.pointers, self.calls, self.tests, self.compared, self.called = collections.defaultdict(set), set(), [], set(), collections.defaultdict(set), set()
        self.descriptors, self.has_dot, self.stores = set(), False, False
        self.arith, self.loads, self.inside, self.places = set(), collections.defaultdict(set), collections.defaultdict(set), set()
        for statement in node.body:
            self.visit(statement)

    def terms(self, node):
        """Names of the terms of a sum"""
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            return self.terms(node.left) | self.terms(node.right)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("to", "multiple_of", "max_contiguous", "cast"):
            return self.terms(node.func.value) | (self.terms(node.args[0]) if node.args else set())
        if isinstance(node, ast.IfExp):
            return self.terms(node.body) | self.terms(node.orelse)
        if isinstance(node, ast.Subscript):
            return self.terms(node.value)
        return {node.id} if isinstance(node, ast.Name) else set()

    def names(self, node):
        """All names of an expression but those that only say where something is loaded"""
        if isinstance(node, ast.Call) and (node.func.attr if isinstance(node.func, ast.Attribute) else "") == "load":
            return set()
        found = {node.id} if isinstance(node, ast.Name) else set()
        for child in ast.iter_child_nodes(node):
            found |= self.names(child)
        return found

    def loaded(self, node):
        """Where a value was loaded from, if it is one"""
        while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("to", "cast") and isinstance(node.func.value, ast.Call):
            node = node.func.value
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "load" and node.args:
            return self.terms(node.args[0])
        return set()

    def visit_Assign(self, node):
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.parts[target.id] |= self.terms(node.value)
                self.inside[target.id] |= self.names(node.value)
                self.loads[target.id] |= self.loaded(node.value)
            elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                for t, v in zip(target.elts, node.value.elts):
                    if isinstance(t, ast.Name):
                        self.parts[t.id] |= self.terms(v)
                        self.inside[t.id] |= self.names(v)
                        self.loads[t.id] |= self.loaded(v)
        self.generic_visit(node)

    def visit_AugAssign(self, node):
        if isinstance(node.target, ast.Name):
            self.parts[node.target.id] |= self.terms(node.value)
        self.generic_visit(node)

    def visit_Call(self, node):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in ("load", "store", "make_block_ptr", "make_tensor_descriptor") or name.startswith("atomic_"):
            if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and node.func.value.id not in ("tl", "triton", "language"):
                self.descriptors.add(node.func.value.id)
            elif node.args:
                self.pointers |= self.terms(node.args[0])
                self.places |= self.names(node.args[0])
            self.stores |= name == "store" or name.startswith("atomic_")
        self.has_dot |= name in ("dot", "dot_scaled")
        if isinstance(node.func, ast.Name):
            self.calls.append(node)
        self.generic_visit(node)

    def visit_For(self, node):
        if isinstance(node.iter, ast.Call):
            for argument in node.iter.args:
                self.places |= self.names(argument)
        self.generic_visit(node)

    def visit_Compare(self, node):
        sides = [node.left] + node.comparators
        for side in sides:
            if isinstance(side, ast.Name):
                for other in sides:
                    if isinstance(other, ast.Constant):
                        self.compared[side.id].add(other.value)
        self.generic_visit(node)

    def visit_BinOp(self, node):
        for side in (node.left, node.right):
            if isinstance(side, ast.Name):
                self.arith.add(side.id)
        self.generic_visit(node)

    def visit_If(self, node):
        for name in ast.walk(node.test):
            if isinstance(name, ast.Name):
                self.tests.add(name.id)
        self.generic_visit(node)

    def indices(self):
        """Names of memory whose values say where other values are"""
        seen, todo, found = set(), list(self.places), set()
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                found |= self.loads.get(name, set())
                todo += self.inside.get(name, ())
        todo = list(found)
        while todo:
            for name in self.parts.get(todo.pop(), ()):
                if name not in found:
                    found.add(name)
                    todo.append(name)
        return found

    def pointer_names(self):
        found, todo = set(), list(self.pointers)
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                todo += self.parts.get(name, ())
        return found


def pointer_params(fn, memo, depth=0):
    """The parameters of a jit function that are memory"""
    if id(fn) in memo:
        return memo[id(fn)]
    memo[id(fn)] = set()
    node = fn.parse().body[0]
    use = Use(node)
    names = use.pointer_names()
    if depth < 5:
        for call in use.calls:
            callee = fn.fn.__globals__.get(call.func.id)
            if not hasattr(callee, "arg_names") or not hasattr(callee, "parse"):
                continue
            theirs = pointer_params(callee, memo, depth + 1)
            for given, theirs_name in list(zip(call.args, callee.arg_names)) + [(k.value, k.arg) for k in call.keywords]:
                if theirs_name in theirs:
                    todo = list(use.terms(given))
                    while todo:
                        name = todo.pop()
                        if name not in names:
                            names.add(name)
                            todo += use.parts.get(name, ())
    memo[id(fn)] = {p for p in fn.arg_names if p in names}
    return memo[id(fn)]


def config_values(source):
    """Values that the file's own configurations and launches give to names: {name: [values]}"""
    found = collections.defaultdict(list)
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return found
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values):
                if isinstance(key, ast.Constant) and isinstance(key.value, str) and isinstance(value, ast.Constant) and isinstance(value.value, (int, bool)):
                    found[key.value].append(value.value)
        elif isinstance(node, ast.keyword) and node.arg and isinstance(node.value, ast.Constant) and isinstance(node.value.value, (int, bool, str)):
            found[node.arg].append(node.value.value)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, int):
            found[node.targets[0].id].append(node.value.value)
    return found


class Guess:
    """What the arguments of one kernel can be."""

    def __init__(self, fn, source):
        self.fn, self.node = fn, fn.parse().body[0]
        self.use = Use(self.node)
        self.pointers = pointer_params(fn, {})
        self.indices = self.use.indices()
        self.values = config_values(source)
        annotations = {a.arg: ast.unparse(a.annotation) for a in self.node.args.args + self.node.args.kwonlyargs if a.annotation}
        self.annotations = annotations
        self.fixed = [p.name for p in fn.params if p.is_constexpr]
        self.special = set(fn.do_not_specialize) if getattr(fn, "do_not_specialize", None) else set()

    def usable(self):
        others = [n for n in self.fn.arg_names if n not in self.fixed]
        return bool(self.pointers) and not any(n in self.use.descriptors for n in others)

    def element(self, r, name, main):
        if name in self.indices or INDEX_NAME.search(name):
            return r.choice(["i32", "i64"]) if not re.search("seqlens|cu_|chunk_", name) else "i32"
        if MASK_NAME.search(name):
            return r.choice(["i1", "i8", "i32"])
        return "fp32" if WIDE_NAME.search(name) and r.random() < .6 else main

    def scalar(self, r, name, doubtful=False):
        """The type of a number; `doubtful` after guesses that the compiler refused"""
        said = self.annotations.get(name, "")
        for word, kind in (("float64", "fp64"), ("float", "fp32"), ("int64", "i64"), ("int32", "i32"), ("int", "i32"), ("bool", "i1")):
            if word in said:
                return kind
        if FLOAT_NAME.search(name) and not NO_POINTER.search(name) and name not in self.use.places:
            return "fp32" if not doubtful or r.random() < .8 else "i32"
        return "i32" if not doubtful or r.random() < .9 or name in self.use.places else "fp32"

    def constant(self, r, name, dot):
        default = next((p.default for p in self.fn.params if p.name == name and p.has_default), None)
        if isinstance(default, (int, bool, str)) and not isinstance(default, float) and r.random() < .5:
            return default
        if re.match(r"(has|use|is|store|save|return|enable)_", name, re.I) and name not in self.use.arith:
            return r.random() < .5
        seen = [v for v in self.use.compared.get(name, ()) if v is not None]
        texts = [v for v in seen if isinstance(v, str)]
        if texts:
            return r.choice(texts)
        if isinstance(default, float) or FLOAT_NAME.search(name) and not NO_POINTER.search(name) and not seen:
            return default if isinstance(default, float) and r.random() < .6 else r.choice([0.0, 0.1, 1.0, 1e-5])
        if re.search(r"dtype|_type$", name, re.I):
            return r.choice(["tl.float16", "tl.float32", "tl.bfloat16"])
        if BOOLEAN_NAME.search(name) and name not in self.use.arith or isinstance(default, bool) or any(isinstance(v, bool) for v in self.values.get(name, ())):
            return r.random() < .5
        known = [v for v in self.values.get(name, ()) if isinstance(v, int) and not isinstance(v, bool)]
        if known and r.random() < .6:
            return r.choice(known)
        if re.search(r"num_stages|stages|num_buffers", name, re.I):
            return r.choice([1, 2, 3])
        if re.search(r"num_warps", name, re.I):
            return 4
        if re.search(r"group", name, re.I):
            return r.choice([1, 4, 8])
        if re.search(r"^(even|is)_", name, re.I):
            return r.random() < .5
        if SIZE_NAME.search(name):
            return r.choice([16, 32, 64, 64, 128] if dot else [16, 32, 64, 128, 256, 1024])
        if name in self.use.tests and name not in self.use.arith and not seen:
            return r.random() < .5
        if any(isinstance(v, int) for v in seen) and r.random() < .6:
            return r.choice([v for v in seen if isinstance(v, int)])
        if re.search(r"^(H|HQ|HV|Z|B|G|h|hq|hv)$|heads|split", name):
            return r.choice([1, 2, 4, 8])
        if re.search(r"dim|^[KVDN]$|^d[a-z]?$|hidden|cols|^n_cols$", name, re.I):
            return r.choice([32, 64, 64, 128, 128, 256] if dot else [64, 128, 256, 512, 1024])
        return r.choice([1, 2, 4, 16, 32, 64, 128])

    def first(self, r, target, doubtful=False):
        dot = self.use.has_dot or any(getattr(self.fn.fn.__globals__.get(c.func.id), "parse", None) and Use(self.fn.fn.__globals__[c.func.id].parse().body[0]).has_dot for c in self.use.calls if isinstance(c.func, ast.Name))
        main = r.choice(["fp16", "bf16", "fp32", "fp16"])
        signature, constexprs, divisible = {}, {}, []
        for name in self.fn.arg_names:
            if name in self.fixed:
                constexprs[name] = self.constant(r, name, dot)
            elif name in self.pointers or POINTER_NAME.search(name) and not re.search("stride", name):
                signature[name] = "*" + (r.choice(["i32", "i64"]) if doubtful and r.random() < .2 else self.element(r, name, main))
                if name not in self.special and r.random() < .95:
                    divisible.append(name)
            elif re.search("stride", name) and r.random() < .2:
                constexprs[name] = 1
            else:
                signature[name] = self.scalar(r, name, doubtful)
                if signature[name] in ("i32", "i64") and name not in self.special and r.random() < .6:
                    divisible.append(name)
        options = dict(num_warps=r.choice([1, 2, 4, 4, 4, 8, 8, 16] if not dot else [2, 4, 4, 4, 8, 8]))
        if r.random() < .75:
            options["num_stages"] = r.choice([1, 2, 2, 3, 3, 4, 5])
        for name in ("num_warps", "num_stages"):
            if name in constexprs:
                options[name] = constexprs[name]
        return dict(target=target, options=options, signature=signature, constexprs=constexprs, divisible=divisible)

    def other(self, r, case):
        """Another case near a good one"""
        case = json.loads(json.dumps(case))
        for what in r.sample(["device", "type", "warps", "stages", "size", "size", "flag", "divisible"], r.choice([1, 2, 2, 3])):
            if what == "device":
                case["target"] = r.choice(DEVICES)
            elif what == "type":
                now, then = r.choice(["fp16", "bf16", "fp32"]), r.choice(["fp16", "bf16", "fp32"])
                case["signature"] = {k: v.replace(now, then) if v.startswith("*") else v for k, v in case["signature"].items()}
            elif what == "warps" and "num_warps" not in case["constexprs"]:
                case["options"]["num_warps"] = r.choice([2, 4, 8])
            elif what == "stages" and "num_stages" not in case["constexprs"]:
                case["options"]["num_stages"] = r.choice([1, 2, 3, 4, 5])
            elif what == "size":
                sizes = [k for k, v in case["constexprs"].items() if isinstance(v, int) and not isinstance(v, bool) and v >= 16 and v & (v - 1) == 0]
                if sizes:
                    k = r.choice(sizes)
                    case["constexprs"][k] = max(16, min(2048, case["constexprs"][k] * 2 if r.random() < .5 else case["constexprs"][k] // 2))
            elif what == "flag":
                flags = [k for k, v in case["constexprs"].items() if isinstance(v, bool)]
                if flags:
                    k = r.choice(flags)
                    case["constexprs"][k] = not case["constexprs"][k]
            elif what == "divisible" and case["divisible"]:
                case["divisible"].remove(r.choice(case["divisible"]))
        return case


# ---- asking ----------------------------------------------------------------------------------------------------------------
def kernels_of(files, path, source):
    """The jit functions of a file that write memory, with their lines"""
    module = files.run(path, ".".join(files.package_of(path)))
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and jit_decorator(node):
            fn = module.__dict__.get(node.name)
            if hasattr(fn, "params") and hasattr(fn, "parse"):
                launched = re.search(rf"\b{node.name}\s*\[|\b{node.name}\.(run|warmup)\b", source)
                use = Use(node)
                if launched or (use.stores and len(node.decorator_list) > 1) or (use.stores and "program_id" in ast.unparse(node)):
                    yield node, fn


def answer(oracle, fn, case, path, names, seconds):
    import signal
    # Some libraries set it for devices that are not there.
    os.environ.pop("TRITON_F32_DEFAULT", None)
    constants = {k: oracle.value(v, names) for k, v in case["constexprs"].items()}
    if any(isinstance(v, str) and v.startswith("tl.") for v in constants.values()):
        return dict(error="dtype")
    kinds = {n: "constexpr" if n in constants else case["signature"].get(n) for n in fn.arg_names}
    attrs = {(fn.arg_names.index(n),): [["tt.divisibility", 16]] for n in case["divisible"]}

    def work():
        signal.alarm(seconds)
        return oracle.plan(fn, oracle.parse_target(case["target"]), case["options"], kinds, constants, attrs, os.path.basename(path))[0]
    return oracle.guarded(work)


def make(args):
    from kernel_writer import keep, load_oracle
    oracle = load_oracle(args.oracle)
    import triton
    driver = oracle.NoDevice(oracle.parse_target("cuda:90"))
    driver.utils = oracle.NoDevice(oracle.parse_target("cuda:90"))
    triton.runtime.driver.set_active(driver)
    names = dict(triton=triton, tl=triton.language)
    root = os.path.abspath(args.checkout)
    files = Files(root)
    os.makedirs(args.out, exist_ok=True)
    mine, parts = [int(x) for x in args.part.split("/")[0].split(",")], int(args.part.split("/")[1])
    paths = []
    for folder, _, found in os.walk(root):
        for name in found:
            path = os.path.join(folder, name)
            inside = os.path.relpath(path, root)
            if name.endswith(".py") and re.search(args.only or "", inside) and not (args.skip and re.search(args.skip, inside)):
                if int(hashlib.sha1(inside.encode()).hexdigest(), 16) % parts in mine and "jit" in open(path, errors="replace").read():
                    paths.append(path)
    random.Random(args.seed).shuffle(paths)
    cells = kernels = tried = unusable = 0
    begun = time.time()
    checkout = os.path.basename(root)
    done = set(open(args.done).read().split()) if args.done and os.path.exists(args.done) else set()
    for path in paths:
        if cells >= args.cells or args.deadline and time.time() - begun > args.deadline:
            break
        source = open(path, errors="replace").read()
        inside = os.path.relpath(path, root)
        for node, fn in kernels_of(files, path, source):
            if cells >= args.cells or args.deadline and time.time() - begun > args.deadline:
                break
            r = random.Random(f"{args.seed} {inside} {node.name}")
            stem = re.sub(r"\W+", "_", f"{checkout}_{inside[:-3]}_{node.name}")[-150:]
            if os.path.exists(os.path.join(args.out, stem + ".json")) or stem in done:
                continue
            if args.done:
                with open(args.done, "a") as out:
                    out.write(stem + "\n")
            try:
                guess = Guess(fn, source)
            except Exception:
                unusable += 1
                continue
            if not guess.usable():
                unusable += 1
                continue
            good, began = [], time.time()
            wanted = r.choice([2, 3, 4, args.each])
            for attempt in range(14):
                if len(good) >= wanted or time.time() - began > args.patience or (attempt >= 5 and not good):
                    break
                case = guess.first(r, r.choice(DEVICES), attempt >= 3) if not good or r.random() < .15 else guess.other(r, r.choice(good)["question"])
                if any(g["question"] == case for g in good):
                    continue
                tried += 1
                found = answer(oracle, fn, case, path, names, args.seconds)
                if found["error"]:
                    if args.refusals:
                        with open(args.refusals, "a") as out:
                            out.write(f"{stem} {case} {found['error']}\n")
                    if not good and "SIGALRM" in found["error"]:
                        break
                    continue
                if found["shared"] == 0 and sum(not g["answer"]["shared"] for g in good) >= 1 + (r.random() < .2):
                    continue
                good.append(dict(question=case, answer=found))
            if good:
                kernels += 1
                cells += len(good)
                keep(os.path.join(args.out, stem + ".json"), dict(checkout=checkout, path=inside, first_line=node.lineno, kernel=node.name, language="triton", kind=checkout, compiler=oracle.version(),
                                                                 cases=[dict(g["question"], **g["answer"]) for g in good]))
    print(f"{cells} cells of {kernels} kernels, {tried} tried, {unusable} kernels not usable, {time.time() - begun:.0f} s", flush=True)


# ---- comparing -------------------------------------------------------------------------------------------------------------
def with_comment(source, record, text):
    """(the file with a scenario comment above the kernel's decorators, the line of its `def`)"""
    node = next(n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef) and n.name == record["kernel"] and n.lineno == record["first_line"])
    at = min([node.lineno] + [d.lineno for d in node.decorator_list])
    lines = source.split("\n")
    indent = re.match(r"\s*", lines[at - 1])[0]
    return "\n".join(lines[:at - 1] + [indent + text] + lines[at - 1:]), node.lineno + 1


def compare(args):
    import judge
    args.bin = os.path.abspath(args.bin)
    results, copies, folder = [], {}, tempfile.mkdtemp()
    for path, record in judge.records(args.folders):
        checkout = record["checkout"]
        if checkout not in copies:  # links, so that nobody's checkout gets a file of ours
            copies[checkout] = os.path.join(folder, checkout)
            shutil.copytree(os.path.join(args.sources, checkout), copies[checkout], copy_function=os.link)
        source = open(os.path.join(args.sources, checkout, record["path"]), errors="replace").read()
        for n, case in enumerate(record["cases"]):
            text, line = with_comment(source, record, judge.comment(case, record["compiler"], args.untyped, all_said=True))
            place = os.path.join(copies[checkout], record["path"])
            os.remove(place)
            with open(place, "w") as out:
                out.write(text)
            plan, why = None, "no such kernel"
            try:
                run = subprocess.run([args.bin, "plan", record["path"], "--format", "json"], capture_output=True, text=True, timeout=120, cwd=copies[checkout])  # the workspace
                plan = next((k for k in json.loads(run.stdout)["kernels"] if k["line"] == line), None)
            except (ValueError, KeyError, subprocess.TimeoutExpired) as error:
                why = f"{type(error).__name__} {run.returncode if 'run' in dir() else ''}"
            os.remove(place)
            os.link(os.path.join(args.sources, checkout, record["path"]), place)
            found = judge.verdicts(case, plan) if plan else ["absent"]
            spaces = (plan or {}).get("spaces", {})
            results.append(dict(path=path, case=n, kind=record["kind"], target=case["target"], verdicts=found, why=None if plan else why, truth=case.get("shared"), limit=case.get("limit"), error=case["error"],
                                said=judge.bounds(spaces.get("smem")), tmem=case.get("tmem_columns"), tmem_said=judge.bounds(spaces.get("tmem")), status=(plan or {}).get("status")))
            if any(v in judge.BAD for v in found) or not plan:
                print(f"{' '.join(found):24} {record['path']}:{record['first_line']} {record['kernel']} #{n} {case['target']}: said {results[-1]['said']}, compiler {case['shared']} of {case['limit']}" + (f"; columns said {results[-1]['tmem_said']}, compiler {case['tmem_columns']}" if case["tmem_columns"] else "") + (f"; {why}" if not plan else ""), flush=True)
                if args.wrong and plan:
                    os.makedirs(args.wrong, exist_ok=True)
                    with open(os.path.join(args.wrong, os.path.basename(path)[:-5][-100:] + f"_{n}.txt"), "w") as out:
                        out.write(f"{' '.join(found)}: said {results[-1]['said']}, compiler {case['shared']}; columns {results[-1]['tmem_said']}, {case['tmem_columns']}\n{checkout}/{record['path']}:{record['first_line']} {record['kernel']}\n{judge.comment(case, record['compiler'], all_said=True)}\n"
                                  + "".join(f"{b['op']} line {b['line']} {b['size']} bytes at {b['offset']} {b['kind']}\n" for b in case["buffers"]))
    shutil.rmtree(folder)
    print(judge.summary(results))
    if args.json:
        with open(args.json, "w") as out:
            json.dump(results, out, indent=0)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = ap.add_subparsers(dest="command", required=True)
    m = sub.add_parser("make")
    m.add_argument("checkout"); m.add_argument("out"); m.add_argument("--oracle", required=True); m.add_argument("--seed", type=int, default=1); m.add_argument("--cells", type=int, default=100)
    m.add_argument("--each", type=int, default=6); m.add_argument("--part", default="0/1"); m.add_argument("--only"); m.add_argument("--skip"); m.add_argument("--refusals"); m.add_argument("--done", help="a file with the kernels that were tried before; grows")
    m.add_argument("--deadline", type=float, default=0); m.add_argument("--patience", type=float, default=40); m.add_argument("--seconds", type=int, default=25)
    c = sub.add_parser("compare")
    c.add_argument("folders", nargs="+"); c.add_argument("--sources", required=True); c.add_argument("--bin", default="tilefit"); c.add_argument("--untyped", action="store_true"); c.add_argument("--wrong"); c.add_argument("--json")
    args = ap.parse_args()
    make(args) if args.command == "make" else compare(args)


if __name__ == "__main__":
    main()
