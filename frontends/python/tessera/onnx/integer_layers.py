"""Convolutions and matrix products of integers, with the steps behind them.

The numbers are those of docs/reference/quantized.md: sums are exact, and the result is rounded
once, with halves away from 0.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from .._core import ops as _ops
from ..functional._integer_sums import MOST_BIAS, deepest
from .importers.integers import even_windows
from .integer_operands import Integers, read_integers, stored_bytes
from .values import tensor_of

_NEARLY_HALF = np.float32(0.4999999701976776)  # of ops/records/Quantized.td: halves go away from 0
_IMAGE = 4  # axes of images and their weights


@dataclass
class Layer:
    """A sum of products with what follows it; `run` computes it from integers to `result`, or to
    float32 where that is None.
    """

    node: object
    steps: list
    x: Integers
    weight: np.ndarray  # int8
    scale: np.ndarray  # float32, of the weight: one, or one for each output channel
    bias: np.ndarray | None
    is_turned: bool = False  # the columns of a matrix are rows of the weight
    activation: str = "identity"
    residual: Integers | None = None
    result: Integers | None = None
    tensors: dict = field(default_factory=dict)

    @property
    def inputs(self):
        """The names of the values that it reads."""
        return [each.name for each in (self.x, self.residual) if each is not None]

    @property
    def output(self):
        """The name of the value that it makes."""
        return self.steps[-1].node.outputs[0]

    def prepare(self):
        """Makes the tensors that a call reads."""
        x_scale = np.float32(self.x.pair[0])
        of_axes = (-1, *(1,) * (self.weight.ndim - 2)) if self.node.op_type == "Conv" else (-1,)
        bias = np.float32(0) if self.bias is None else self.bias
        scale = np.asarray(x_scale * self.scale, np.float32)
        arrays = {
            "weight": self.weight,
            "weight_scale": self.scale,
            "bias": bias,
            "scale": scale.reshape(of_axes) if scale.ndim else scale,
        }
        if self.bias is not None:
            integers = np.asarray(_rounded_bias(bias, scale))
            arrays["bias_integers"] = integers.reshape(of_axes) if integers.ndim else integers
        self.tensors = {name: tensor_of(np.asarray(each)) for name, each in arrays.items()}
        return self

    def run(self, x, residual=None):
        """The result of integers."""
        if self.node.op_type != "Conv":
            return self._finished(self._product(x), residual)
        weight, zero = self.tensors["weight"], self.x.pair[1]
        x, *windows = even_windows(self.node, x, weight, zero or None)
        groups = self.node["group"]
        is_image = self.result is not None and weight.ndim == x.ndim == _IMAGE
        if is_image and (residual is None or _is_whole(residual, x, weight, *windows)):
            return self._convolved(x, residual, (*windows, groups))
        function = getattr(_ops, f"integer_conv{weight.ndim - 2}d")
        return self._finished(function(x, weight, zero or None, *windows, groups), residual)

    def _convolved(self, x, residual, windows):
        """Images by the operator that takes all steps."""
        weight, scale, bias = (self.tensors[key] for key in ("weight", "weight_scale", "bias"))
        added = [None] * 3 if residual is None else [residual, *self.residual.pair]
        return _ops.quantized_conv2d(
            x, weight, *self.x.pair, scale, *self.result.pair, bias, *added, *windows,
            self.activation, self.result.dtype.name,
        )  # fmt: skip

    def _product(self, x):
        zero = self.x.pair[1] or None
        rows = _ops.expand_dims(x, [0]) if x.ndim == 1 else x
        weight = self.tensors["weight"]
        sums = _ops.integer_matmul(rows, weight, zero, None, False, self.is_turned)
        return _ops.squeeze(sums, [0]) if x.ndim == 1 else sums

    def _finished(self, sums, residual):
        if "bias_integers" in self.tensors:
            sums = sums + self.tensors["bias_integers"]
        y = _ops.astype(sums, "float32") * self.tensors["scale"]
        if residual is not None:
            y = y + _ops.dequantize(residual, *self.residual.pair)
        y = _ops.relu(y) if self.activation == "relu" else y
        if self.result is None:
            return y
        return _ops.quantize(y, *self.result.pair, self.result.dtype.name)


def _is_whole(residual, x, weight, strides, padding, dilation):
    """Whether a residual operand has the shape of the convolution."""
    sizes = [x.shape[0], weight.shape[0]]
    axes = zip(x.shape[2:], weight.shape[2:], strides, padding, dilation, strict=True)
    for size, window, stride, border, step in axes:
        sizes.append((size + 2 * border - step * (window - 1) - 1) // stride + 1)
    return list(residual.shape) == sizes


def _rounded_bias(bias, scale):
    """int32: the bias in steps of the sums' scale."""
    ratio = (bias / scale).astype(np.float32)
    whole = np.trunc(ratio + np.copysign(_NEARLY_HALF, ratio))
    return np.clip(whole, -MOST_BIAS, MOST_BIAS).astype(np.int32)


def layer_of(step, uses):
    """The Layer that begins with the sum of products `step`; None: there is none.

    Its operands are bytes of one scale, and constant integers with a scale for all or for each
    output channel.
    """
    node = step.node
    turned = _is_turned(node)
    if turned is None:
        return None
    x, weight = (read_integers(name, uses) for name in node.inputs[:2])
    if x is None or weight is None or x.array is not None or not x.has_one_scale:
        return None
    channels = 0 if node.op_type == "Conv" or turned else 1
    found = _weight(weight, node, channels)
    bias = _bias(node, uses, found)
    if found is None or bias is None:
        return None
    layer = Layer(node, [step], x, *found[:2], bias if bias.size else None, turned)
    _take_behind(layer, uses)
    return layer.prepare()


def _is_turned(node):
    """Whether output channels are rows of the matrix of weights; None: it is no such layer."""
    if node.op_type in ("Conv", "MatMul"):
        return False
    if node.op_type != "Gemm" or node["transA"] or node["alpha"] != 1 or node["beta"] != 1:
        return None
    return bool(node["transB"])


def _weight(weight, node, channels):
    """(int8, scale, number of channels) of the integers of a weight; None where int8 does not hold
    them without a zero point, or sums might leave int32.
    """
    array = weight.array
    if array is None or array.dtype.itemsize != 1 or array.ndim < 2:
        return None
    is_image = node.op_type == "Conv"
    if (not is_image and array.ndim != 2) or array.ndim > _IMAGE + 1:
        return None
    count, depth = array.shape[channels], math.prod(array.shape) // max(array.shape[channels], 1)
    one_each = weight.axis % array.ndim == channels and weight.scale.shape == (count,)
    if depth > deepest(True) or not (weight.scale.size == 1 or one_each):
        return None
    if weight.zero.size not in (1, weight.scale.size):
        return None
    along = [1] * array.ndim
    along[channels] = -1
    zero = weight.zero.astype(np.int32)
    moved = array.astype(np.int32) - (zero.reshape(along) if zero.size > 1 else zero.reshape(()))
    if moved.size and (moved.min() < -128 or moved.max() > 127):
        return None
    return moved.astype(np.int8), weight.scale.reshape(-1 if one_each else ()), count


def _bias(node, uses, weight):
    """The bias, float32[O]; empty where there is none, None where it is not known."""
    if len(node.inputs) < 3 or not node.inputs[2]:
        return np.zeros(0, np.float32)
    array = node.constants.get(2)
    if array is None:
        found = read_integers(node.inputs[2], uses)
        if found is None or found.array is None or found.array.ndim != 1:
            return None
        array = (found.array - found.zero.astype(np.int64)) * found.scale.astype(np.float64)
    if weight is None or array.size != weight[2] or array.shape[-1:] != (weight[2],):
        return None
    return array.astype(np.float32).reshape(-1)


def _take_behind(layer, uses):
    """Adds the steps up to the QuantizeLinear, where only an addition and a ReLU are before it."""
    steps, residual, activation = list(layer.steps), None, "identity"
    after = uses.only_reader(steps[-1])
    if after is not None and after.node.op_type == "Add":
        residual = _residual(after.node, steps[-1].node.outputs[0], uses)
        if residual is None:
            return
        steps.append(after)
        after = uses.only_reader(after)
    if after is not None and after.node.op_type == "Relu":
        activation = "relu"
        steps.append(after)
        after = uses.only_reader(after)
    result = stored_bytes(after)
    if result is not None:
        layer.steps, layer.residual, layer.activation = [*steps, after], residual, activation
        layer.result = result


def _residual(node, own, uses):
    """The Integers that are added to the value `own`."""
    others = [name for name in node.inputs if name != own]
    found = read_integers(others[0], uses) if len(others) == 1 else None
    is_fit = found is not None and found.array is None and found.has_one_scale
    return found if is_fit else None
