"""Values that stand between integers of constant scale and zero point."""

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np

from .package import onnx

_TYPES = onnx.TensorProto
_BYTES = {_TYPES.INT8: np.dtype("int8"), _TYPES.UINT8: np.dtype("uint8")}
_FLOAT32 = None, 0, _TYPES.FLOAT  # what output_dtype says of float32


class Uses:
    """Which step makes a value, and which ones read it."""

    def __init__(self, steps, outputs):
        self.makers = {name: step for step in steps for name in step.node.outputs}
        self._readers, self._counts = defaultdict(list), Counter(outputs)
        for step in steps:
            self._counts.update(step.node.inputs)
            for name in step.reads:
                self._readers[name].append(step)

    def maker(self, name, op_type):
        """The node of this operator that makes a value, or None."""
        step = self.makers.get(name)
        return step.node if step is not None and step.node.op_type == op_type else None

    def only_reader(self, step):
        """The step that alone reads the first result of `step`, once; None where none does."""
        name = step.node.outputs[0]
        found = self._readers[name]
        return found[0] if self._counts[name] == len(found) == 1 else None


@dataclass(frozen=True)
class Integers:
    """Integers and what they stand for: `(q - zero) * scale`, along `axis` or alike for all.

    `array` has the integers themselves where they are constants.
    """

    name: str
    scale: np.ndarray  # float32
    zero: np.ndarray
    axis: int
    dtype: np.dtype
    array: np.ndarray | None = None

    @property
    def has_one_scale(self):
        """Whether all elements share scale and zero point."""
        return self.scale.size == self.zero.size == 1

    @property
    def pair(self):
        """Scale and zero point of all elements, as numbers."""
        return float(self.scale.reshape(())), int(self.zero.reshape(()))


def read_integers(name, uses):
    """The Integers whose numbers the value `name` has; None: no DequantizeLinear of constant
    float32 scale makes it.
    """
    node = uses.maker(name, "DequantizeLinear")
    found = None if node is None else _parameters(node)
    if found is None:
        return None
    array = node.constants.get(0)
    dtype = array.dtype if array is not None else _dtype_of(node, uses)
    return None if dtype is None else Integers(node.inputs[0], *found, dtype, array)


def stored_bytes(step):
    """The Integers that a step makes of floats: bytes of one constant scale; None otherwise."""
    node = None if step is None else step.node
    if node is None or node.op_type != "QuantizeLinear" or node["precision"] not in _FLOAT32:
        return None
    found, dtype = _parameters(node), _BYTES.get(_result_type(node))
    if found is None or dtype is None:
        return None
    made = Integers(node.outputs[0], *found, dtype)
    return made if made.has_one_scale else None


def _parameters(node):
    """(scale, zero point, axis) of a conversion; None unless they are known, and not of blocks."""
    scale, zero = node.constants.get(1), node.constants.get(2)
    has_zero = len(node.inputs) > 2 and bool(node.inputs[2])
    if scale is None or scale.dtype != np.float32 or (has_zero and zero is None):
        return None
    is_other = node.op_type == "DequantizeLinear" and node["output_dtype"] not in _FLOAT32
    if node["block_size"] or is_other or not np.isfinite(scale).all() or (scale <= 0).any():
        return None
    zero = np.zeros_like(scale, np.int32) if zero is None else zero
    return (scale, zero, node["axis"]) if zero.dtype.kind in "iu" else None


def _result_type(node):
    """The element type that a QuantizeLinear makes."""
    return node["output_dtype"] or node.element_types.get(2) or _TYPES.UINT8


def _dtype_of(node, uses):
    """The dtype of the integers that a DequantizeLinear reads, where they are bytes."""
    if 2 in node.constants:
        known = node.constants[2].dtype
        return known if known in _BYTES.values() else None
    maker = uses.maker(node.inputs[0], "QuantizeLinear")
    return _BYTES.get(node.element_types.get(0) if maker is None else _result_type(maker))
