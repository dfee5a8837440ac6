"""Sizes that are expressions of free dimensions, as nodes that compute them."""

import ast

_OPERATORS = {ast.Add: "Add", ast.Sub: "Sub", ast.Mult: "Mul"}
_CALLS = {"floordiv": "Div", "max": "Max", "min": "Min"}


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
        if isinstance(tree, ast.BinOp):
            operands = tree.left, tree.right
            return self.writer.node(
                _OPERATORS[type(tree.op)], [self._write(each) for each in operands]
            )
        return self.writer.node(_CALLS[tree.func.id], [self._write(each) for each in tree.args])

    def _of_dim(self, name, axis):
        shape = self.writer.node("Shape", [name])
        return self.writer.node("Gather", [shape, self.writer.ints([axis])], axis=0)
