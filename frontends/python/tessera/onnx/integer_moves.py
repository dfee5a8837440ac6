"""Nodes that move elements or choose among them, between integers of one scale: these stay."""

from dataclasses import dataclass

from .importers.elementwise import cast
from .integer_operands import Integers, read_integers, stored_bytes

_MOVES = {"Flatten", "Identity", "MaxPool", "Reshape", "Squeeze", "Transpose", "Unsqueeze"}


@dataclass
class Move:
    """A node of `_MOVES` on the integers `x`."""

    node: object
    function: object
    steps: list
    x: Integers

    @property
    def inputs(self):
        """The names of the values that it reads."""
        return [self.x.name, *self.node.inputs[1:]]

    @property
    def output(self):
        """The name of the value that it makes."""
        return self.steps[-1].node.outputs[0]

    def run(self, x, *others):
        """The integers in their new places."""
        if self.node.op_type != "MaxPool":
            return self.function(self.node, x, *others)
        return cast(self.function(self.node, cast(x, "float32")), x.dtype.name)


def move_of(step, uses):
    """The Move of a step between integers of equal parameters; None: it is none.

    `(q * s) / s` rounds to q (docs/reference/quantized.md, "Numbers"), so the integers are those of
    the conversions.
    """
    node = step.node
    if node.op_type not in _MOVES or len(node.outputs) != 1:
        return None
    x, after = read_integers(node.inputs[0], uses), uses.only_reader(step)
    made = stored_bytes(after)
    if x is None or made is None or x.array is not None or not x.has_one_scale:
        return None
    is_same = (x.pair, x.dtype) == (made.pair, made.dtype)
    return Move(node, step.function, [step, after], x) if is_same else None
