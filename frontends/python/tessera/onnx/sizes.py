"""Sizes that are expressions of free dimensions, as nodes that compute them."""

import ast

_OPERATORS = {ast.Add: "Add", ast.Sub: "Sub", ast.Mult: "Mul"}
_CALLS = {"max": "Max", "min": "Min"}


def forget_fixed(view, other):
    """Makes sizes None that are other numbers in `other`, the view of the same call at other sizes
    of its free dimensions: a rule that knows too little of a size leaves that of the call.

    NotImplementedError: operators and their attributes must be the same at both.
    """
    for row, again in zip(view["operators"], other["operators"], strict=False):
        if _fixed_facts(row) != _fixed_facts(again):
            raise NotImplementedError(
                f"export: operators must be the same at all free sizes, got {row[0]} at "
                f"{row[5] or 'no line'}"
            )
    if len(view["values"]) != len(other["values"]):
        raise NotImplementedError("export: operators must be as many at all free sizes")
    for row, again in zip(view["values"], other["values"], strict=True):
        pairs = zip(row["shape"], again["shape"], strict=True)
        row["shape"] = tuple(size if size == its else None for size, its in pairs)


def _fixed_facts(row):
    """Facts that do not follow from sizes: numbers of values too, which tell what was left out."""
    name, attributes, inputs, _, outputs, _ = row
    return name, {key: each for key, each in attributes.items() if key != "body"}, inputs, outputs


def minus(a, b):
    """The size a - b, as a number or the text of an expression."""
    return a - b if isinstance(a, int) and isinstance(b, int) else f"({a}) - ({b})"


def remainder(a, b):
    """The size a % b; b is at least 1."""
    return (
        a % b if isinstance(a, int) and isinstance(b, int) else f"({a}) - ({b})*floordiv({a}, {b})"
    )


def of_float(writer, size, dtype):
    """The name of a size as a number of rank 0."""
    number = writer.node("Squeeze", [writer.ints([size]), writer.ints([0])])
    return writer.cast(number, dtype)


def broadcast(*shapes):
    """The sizes that shapes broadcast to.

    NotImplementedError: it must be known which sizes repeat.
    """
    rank, sizes = max(map(len, shapes)), []
    for axis in range(-rank, 0):
        found = {shape[axis] for shape in shapes if len(shape) >= -axis} - {1}
        if len(found) > 1 or None in found:
            raise NotImplementedError("sizes must be known where they broadcast")
        sizes.append(found.pop() if found else 1)
    return tuple(sizes)


class SizeNodes:
    """The nodes of a writer's outermost graph that compute sizes; each expression once. `dims` says
    where a symbol is a size: {"d0": (name of a value, axis)}.
    """

    def __init__(self, writer, dims):
        self.writer, self.dims, self.known = writer, dims, {}

    def name_of(self, size):
        """The name of a size, a number or the text of an expression, as int64[1]."""
        if size not in self.known:
            tree = ast.parse(str(size), mode="eval").body
            with self.writer.outermost():
                self.known[size] = self._write(tree)
        return self.known[size]

    def _write(self, tree):
        if isinstance(tree, ast.Constant):
            return self.writer.ints([tree.value])
        if isinstance(tree, ast.Name):
            return self._of_dim(*self.dims[tree.id])
        if isinstance(tree, ast.UnaryOp):
            return self.writer.node("Neg", [self._write(tree.operand)])
        if isinstance(tree, ast.Call) and tree.func.id == "floordiv":
            return self._floordiv(*map(self._write, tree.args))
        if isinstance(tree, ast.BinOp):
            operands = tree.left, tree.right
            return self.writer.node(
                _OPERATORS[type(tree.op)], [self._write(each) for each in operands]
            )
        return self.writer.node(_CALLS[tree.func.id], [self._write(each) for each in tree.args])

    def _floordiv(self, a, b):
        """ONNX's Div of integers rounds towards 0, its Mod has the sign of b."""
        rest = self.writer.node("Mod", [a, b])
        return self.writer.node("Div", [self.writer.node("Sub", [a, rest]), b])

    def _of_dim(self, name, axis):
        shape = self.writer.node("Shape", [name])
        return self.writer.node("Gather", [shape, self.writer.ints([axis])], axis=0)
