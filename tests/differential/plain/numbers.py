"""Numbers with a name: `eps = 1e-6` above the line that adds it, as many people write them.

To the compiler that is a tensor of fp32 or int32, where a number in its place takes the type of what it meets.
"""
import ast

# Operands of these are sizes, axes and bounds, which have to stay constants.
OF_SIZES = {"arange", "zeros", "full", "reshape", "permute", "trans", "expand_dims", "broadcast_to", "view", "range", "static_range", "split", "histogram", "sort", "topk",
            "gather", "cdiv", "multiple_of", "max_contiguous", "constexpr", "make_block_ptr", "advance", "make_tensor_descriptor", "load", "store", "static_assert"}
ELEMENTWISE = {"maximum", "minimum", "where", "fma", "div_rn"}


def places(function):
    """Literals that stand beside something computed, with the statement that they are in."""
    found = []

    def visit(node):
        if isinstance(node, (ast.Subscript, ast.JoinedStr, ast.arguments)):
            return
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in OF_SIZES:
                return
            if name in ELEMENTWISE:
                found.extend(arg for arg in node.args if is_number(arg))
        if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Pow):
            sides = node.left, node.right
            if not all(is_number(it) for it in sides):
                found.extend(it for it in sides if is_number(it))
        for child in ast.iter_child_nodes(node):
            visit(child)

    for statement in function.body:
        visit(statement)
    return found


def is_number(node):
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def loads(function):
    """Statements that give one name what they load."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.Call) and getattr(node.value.func, "attr", "") == "load":
            yield node


def name_numbers(text, r):
    """The same kernels with some numbers named, or with what is loaded changed by one, in half of the texts."""
    if r.random() > .5:
        return text
    lines = text.split("\n")
    edits, above = [], {}
    for function in ast.parse(text).body:
        if not isinstance(function, ast.FunctionDef):
            continue
        first = function.body[0]
        taken = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)} | {arg.arg for arg in function.args.args}
        for node in places(function):
            name = r.choice(["eps", "one", "scale_by", "half", "lim", "num"]) + r.choice(["", "_c", "_2"])
            if r.random() < .3 or name in taken or node.lineno != node.end_lineno:
                continue
            taken.add(name)
            number = lines[node.lineno - 1][node.col_offset:node.end_col_offset]
            form = r.choice(["{0} = {1}"] * 5 + ["{0}: tl.constexpr = {1}", "{0} = tl.constexpr({1})", "{0} = -(-{1})", "{0} = {1} * 1"])
            indent = " " * first.col_offset
            above.setdefault(first.lineno, []).append(indent + form.format(name, number))
            edits.append((node.lineno - 1, node.col_offset, node.end_col_offset, name))
        for node in loads(function):
            name = r.choice(["factor", "bias_by", "floor_at"])
            if r.random() < .75 or name in taken:
                continue
            taken.add(name)
            form = r.choice(["{0} = {0} * {1}", "{0} = {1} * {0}", "{0} += {1}", "{0} = {0} - {1}", "{0} = tl.maximum({0}, {1})", "{0} = tl.where({0} > {1}, {0}, {1})", "{0} = {0} / {1}"])
            indent = " " * node.col_offset
            above.setdefault(first.lineno, []).append(" " * first.col_offset + f"{name} = {r.choice(['2.0', '0.5', '1e-6', '1.0e-20', '3', '-1', '2', 'False'])}")
            above.setdefault(node.end_lineno + 1, []).append(indent + form.format(node.targets[0].id, name))
    for line, start, end, name in sorted(edits, reverse=True):
        lines[line] = lines[line][:start] + name + lines[line][end:]
    for line in sorted(above, reverse=True):
        lines[line - 1:line - 1] = above[line]
    return "\n".join(lines)
