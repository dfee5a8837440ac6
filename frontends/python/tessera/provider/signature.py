"""Operands and results of a program of a provider, as the text that its operator carries."""

import functools
import re
from typing import NamedTuple

_VALUE = re.compile(r"(\w+)\[([^\]]*)\]")
UNKNOWN = "?"
"""A size that only the provider can tell."""


class Value(NamedTuple):
    """An operand or result: its name, the name of its dtype, and its sizes: ints, names of sizes
    that callers choose, or "?" for one that only the provider can tell.
    """

    name: str
    dtype: str
    shape: tuple[int | str, ...]


class Signature(NamedTuple):
    """Operands and results of a program.

    >>> from tessera.provider import Signature, Value
    >>> x, y = Value("x", "float32", ("N", 3)), Value("y", "float32", ("N",))
    >>> text = Signature((x,), (y,)).text()
    >>> text, Signature.parse(text).shapes([(2, 3)])
    ('float32[N,3]->float32[N]', [(2,)])
    """

    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]

    def text(self):
        """Dtypes and shapes without names: "float32[N,3],int32[]->float32[N]"."""
        return "->".join(",".join(map(_text, side)) for side in (self.inputs, self.outputs))

    @staticmethod
    def parse(text):
        """The Signature of a text, whose values have no names. ValueError: it must be one."""
        return _parsed(text)

    def check(self, caller, given):
        """Checks (dtype, shape) of operands. Sizes of traced tensors that are expressions are not
        looked at.

        TypeError: there must be as many, of the dtypes. ValueError: sizes must be the program's.
        """
        if len(given) != len(self.inputs):
            names = [value.name for value in self.inputs]
            raise TypeError(f"{caller}: inputs must be {names}, got {len(given)}")
        sizes = {}
        for value, (dtype, shape) in zip(self.inputs, given, strict=True):
            if dtype != value.dtype:
                raise TypeError(
                    f"{caller}: input {value.name!r} must be {value.dtype}, got {dtype}"
                )
            if not _fits(value.shape, shape, sizes):
                raise ValueError(
                    f"{caller}: input {value.name!r} must have shape {list(value.shape)}, got "
                    f"{list(shape)}"
                )

    def shapes(self, given):
        """Shapes of the outputs for those of the inputs; None where the provider must tell them."""
        sizes = {}
        for value, shape in zip(self.inputs, given, strict=True):
            sizes.update(zip(value.shape, shape, strict=False))
        known = [
            tuple(size if isinstance(size, int) else sizes.get(size) for size in value.shape)
            for value in self.outputs
        ]
        names = {size for value in self.outputs for size in value.shape}
        return None if UNKNOWN in names or any(None in shape for shape in known) else known


def _text(value):
    return f"{value.dtype}[{','.join(map(str, value.shape))}]"


def _fits(wanted, shape, sizes):
    """Whether a shape is the one that a program wants; keeps the sizes by name."""
    if len(wanted) != len(shape):
        return False
    for name, size in zip(wanted, shape, strict=True):
        known = name if isinstance(name, int) else sizes.setdefault(name, size)
        # Sizes of traced tensors are of a subclass; to compare them would fix them.
        is_known = name != UNKNOWN and type(size) is int and type(known) is int
        if is_known and known != size:
            return False
    return True


@functools.cache
def _parsed(text):
    inputs, arrow, outputs = text.partition("->")
    sides = [[_VALUE.fullmatch(each) for each in _split(side)] for side in (inputs, outputs)]
    if not arrow or any(None in side for side in sides):
        raise ValueError(f"provider: signature must be that of a program, got {text!r}")
    return Signature(
        *(
            tuple(Value(f"{i}", found[1], _sizes(found[2])) for i, found in enumerate(side))
            for side in sides
        )
    )


def _split(side):
    return re.findall(r"[^,\[]+(?:\[[^\]]*\])?", side)


def _sizes(text):
    return tuple(int(each) if each.isdigit() else each for each in text.split(",") if each)
