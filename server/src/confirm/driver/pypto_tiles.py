"""Tiles of a PyPTO function behind allocation, with their addresses, in the order in which they are defined."""
import ast
import re

ON_CORES = ("InCore", "AIC", "AIV")
ALIGNMENT = 32
# What the compiler appends to a name that the author wrote, where the name still stands for the author's value.
CARRIED = re.compile(r"|__ssa_v\d+|__tile|__rv_v\d+|__iter_v\d+|__phi_v\d+")
SUFFIX = re.compile(r"^(.+?_*)__(?=ssa_v\d|tile|rv_v\d|iter_v\d|phi_v\d|tmp_v\d)")
INLINED = re.compile(r"(_inline\d+)+$")


class Written:
    """Names that a file assigns, and names of its functions' parameters."""

    def __init__(self, source):
        self.assigned, self.parameters = set(), set()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef):
                self.parameters |= {argument.arg for argument in node.args.args}
            for target in targets(node):
                whole = target.value if isinstance(target, ast.Subscript) else target
                self.assigned |= {name.id for name in ast.walk(whole) if isinstance(name, ast.Name)}


def targets(node):
    """What a statement assigns to. The index of a loop is no tile."""
    if isinstance(node, ast.For) and not isinstance(node.target, ast.Tuple):
        return []
    return [*getattr(node, "targets", ()), *([node.target] if hasattr(node, "target") else ())]


def of_function(function, written, backend, ir):
    """The answer about a function; None if it does not run on the cores that have these memories."""
    if last_name(function.func_type) not in ON_CORES:
        return None
    found = Tiles(written, backend, ir)
    found.walk(function.body)
    return {"name": function.name, "type": last_name(function.func_type), "tiles": found.rows(), "reserved": found.reserved,
            "spaces": found.spaces()}


class Tiles:
    def __init__(self, written, backend, ir):
        self.written, self.backend, self.ir = written, last_name(backend), ir
        self.tiles, self.reserved = [], []
        self.sizes = {}  # bytes of each buffer

    def walk(self, statement):
        ir = self.ir
        if statement is None:
            return
        if isinstance(statement, ir.SeqStmts):
            for inner in statement.stmts:
                self.walk(inner)
        elif isinstance(statement, ir.AssignStmt):
            self.define(statement.var, "def", statement.value, statement.span)
            self.call(statement.value, statement.var)
        elif isinstance(statement, (ir.ForStmt, ir.WhileStmt)):
            self.define_all(statement.iter_args, "iter_arg", statement.span)
            self.walk(statement.body)
            self.define_all(statement.return_vars, "loop_result", statement.span)
        elif isinstance(statement, ir.IfStmt):
            self.walk(statement.then_body)
            self.walk(statement.else_body)
            self.define_all(statement.return_vars, "if_result", statement.span)
        elif hasattr(statement, "body"):
            self.walk(statement.body)
        elif isinstance(statement, ir.EvalStmt):
            self.call(statement.expr, None)

    def call(self, value, variable):
        """Calls that make buffers, and those that set memory aside for the rings between cores."""
        if not isinstance(value, self.ir.Call):
            return
        given = dict(value.kwargs)
        if value.op.name == "tile.alloc" and variable is not None:
            self.sizes[variable.name_hint] = self.constant(value.args[-1])
        elif value.op.name == "system.reserve_buffer":
            self.reserved.append({"name": str(given.get("name")), "size": int(given.get("size", 0)), "base": int(given.get("base", -1))})

    def define_all(self, variables, kind, span):
        for variable in variables:
            self.define(variable, kind, None, span)

    def define(self, variable, kind, value, span):
        tile, ssa = variable.type, variable.name_hint
        if not isinstance(tile, self.ir.TileType):
            return
        operation = value.op.name if isinstance(value, self.ir.Call) else None
        name, suffix = self.split(ssa)
        shape = [self.constant(extent) for extent in tile.shape]
        space = last_name(tile.memory_space) if tile.memory_space is not None else None
        row = {"name": name, "ssa": ssa, "kind": kind, "inserted": not self.is_authors(name, suffix, operation), "op": operation,
               "line": span.begin_line if span is not None and span.begin_line > 0 else None, "space": space, "shape": shape,
               "dtype": last_name(tile.dtype).upper().replace("BFLOAT16", "BF16"), "bytes": self.bytes(shape, tile.dtype, space),
               "buffer": None, "address": None}
        if tile.memref is not None:
            row |= {"buffer": tile.memref.base_.name_hint, "address": self.address(tile.memref.byte_offset_)}
        self.tiles.append(row)

    def split(self, ssa):
        """(the author's name, what the compiler appended)"""
        found = SUFFIX.match(ssa)
        name = found[1] if found else ssa
        return INLINED.sub("", name), ssa[len(name):]

    def is_authors(self, name, suffix, operation):
        loads_parameter = suffix == "__tile" and operation == "tile.load" and name in self.written.parameters
        return name in self.written.assigned and CARRIED.fullmatch(suffix) is not None and not loads_parameter

    def constant(self, value):
        return value.value if isinstance(value, self.ir.ConstInt) else None

    def address(self, value):
        """A constant, or that in a sum such as `16384 + i % 2 * 4096`."""
        if type(value).__name__ != "Add":
            return self.constant(value)
        for side in (value.left, value.right):
            if (constant := self.constant(side)) is not None:
                return constant
        return self.address(value.left)

    def bytes(self, shape, dtype, space):
        """None where an extent is not constant. An accumulator has whole fractals of rows."""
        if None in shape:
            return None
        bits = dtype.get_bit()
        if space == "Acc" and len(shape) >= 2:
            rows = 32 if last_name(dtype).lower() == "int32" and self.backend == "Ascend910B" else 16
            shape = [*shape[:-2], -(-shape[-2] // rows) * rows, shape[-1]]
        count = 1
        for extent in shape:
            count *= extent
        return -(-count * (bits if bits == 4 else max(bits, 8)) // 8)

    def bases(self):
        """Lowest address of each buffer."""
        found = {}
        for tile in self.tiles:
            if tile["address"] is not None:
                found[tile["buffer"]] = min(found.get(tile["buffer"], tile["address"]), tile["address"])
        return found

    def rows(self):
        """A tile whose address is computed while the kernel runs has that of its buffer."""
        bases = self.bases()
        return [tile | {"address": bases.get(tile["buffer"])} if tile["address"] is None else tile for tile in self.tiles]

    def spaces(self):
        """Bytes used of each memory: where its last buffer ends."""
        bases, used = self.bases(), {}
        for tile in self.tiles:
            size = self.sizes.get(tile["buffer"])
            if size is not None:
                end = -(-(bases.get(tile["buffer"], 0) + size) // ALIGNMENT) * ALIGNMENT
                used[tile["space"]] = max(used.get(tile["space"], 0), end)
        return used


def last_name(value):
    return str(value).rpartition(".")[2]
