"""Ranges of channels moved from a layer to the next one, so that one scale fits all of them."""

import numpy as np

from ... import functional as F  # noqa: N812
from ... import module as M  # noqa: N812
from ...tensor import Parameter, Tensor
from ...traced_module.expr import CallFunction
from ...traced_module.node import TensorNode
from .layers import layer_of
from .plan import called_module
from .weights import float_bias

_SWEEPS, _CLOSE = 20, 1e-3
# Calls that give s times their result for s times their input, for each channel by itself.
_FUNCTIONS = (F.relu, F.max_pool2d, F.avg_pool2d, F.adaptive_avg_pool2d)
_MODULES = (M.ReLU, M.Identity, M.MaxPool2d, M.AvgPool2d, M.AdaptiveAvgPool2d, M.QuantStub,
            M.DequantStub)  # fmt: skip
_RELUS = ("identity", "relu")


def equalize(traced, names=None):
    """Scales the channels between each pair of neighbouring layers, in the module itself.

    With r1 and r2 the largest magnitudes of a channel's weights in the first layer, which makes it,
    and in the second, which reads it, the first is divided by `s = sqrt(r1 / r2)` and the second
    multiplied with it: M. Nagel et al., arXiv:1906.04721, section 4.1. Between both may be ReLU and
    pooling. Pairs are gone through until nothing changes. The module computes what it did, up to
    roundings.

    Args:
        traced: a TracedModule of one graph, whose modules no other graph calls
        names: those of the layers that count; None: all

    Returns:
        the number of pairs
    """
    pairs = _pairs(traced.graph, names)
    for _ in range(_SWEEPS):
        changes = [_equalize(*pair) for pair in pairs]
        if max(changes, default=0.0) < _CLOSE:
            break
    for layer in {id(each): each for pair in pairs for each in pair}.values():
        _store(layer)
    return len(pairs)


def _pairs(graph, names):
    layers = {}
    for expr in graph.own_exprs:
        layer = layer_of(expr)
        if layer is not None and (names is None or layer.name in names):
            layers[id(expr)] = layer
    counts = {}
    for layer in layers.values():
        counts[id(layer.module)] = counts.get(id(layer.module), 0) + 1
    alone = {key: each for key, each in layers.items()
             if each.module is not None and counts[id(each.module)] == 1
             and len(each.expr.args[0].users) == 1}  # fmt: skip
    found = []
    for first in alone.values():
        second = _next(first, alone)
        if second is not None:
            found.append((first, second))
    return found


def _next(first, layers):
    """The layer that alone reads the result of `first`, by what scales with it."""
    node = first.expr.result
    while len(node.users) == 1 and not any(node is each for each in node.top_graph.outputs):
        reader = node.users[0]
        if id(reader) in layers:
            second = layers[id(reader)]
            is_plain = node is second.data and first.activation in _RELUS
            return second if is_plain and _inputs_of(second) == first.channels else None
        if not _keeps_factors(reader):
            return None
        node = reader.result
    return None


def _keeps_factors(expr):
    is_known = (
        expr.func in _FUNCTIONS
        if isinstance(expr, CallFunction)
        else type(called_module(expr)) in _MODULES
    )
    return is_known and isinstance(expr.result, TensorNode)


def _inputs_of(layer):
    shape = layer.weight.shape
    return shape[0] if layer.is_transposed else shape[1] * layer.groups


def _by_output(layer):
    """The weight as [O, the rest]; a view."""
    weight = layer.weight
    if layer.is_transposed:
        weight = weight.reshape(layer.groups, -1, *weight.shape[1:])
        weight = np.moveaxis(weight, 2, 1)  # groups, O / groups, I / groups, window
        return weight.reshape(layer.channels, -1), weight.shape
    return weight.reshape(layer.channels, -1), None


def _largest_of_outputs(layer):
    return np.abs(_by_output(layer)[0]).max(1)


def _largest_of_inputs(layer):
    weight, groups = np.abs(layer.weight), layer.groups
    if layer.is_transposed:
        return weight.reshape(weight.shape[0], -1).max(1)
    weight = weight.reshape(groups, -1, weight.shape[1], *weight.shape[2:])
    others = (1, *range(3, weight.ndim))
    return weight.max(others).reshape(-1)


def _scale_outputs(layer, factors):
    if layer.is_transposed:
        each = factors.reshape(layer.groups, 1, -1, *(1,) * layer.axes)
        shape = layer.weight.shape
        layer.weight = (layer.weight.reshape(layer.groups, -1, *shape[1:]) * each).reshape(shape)
    else:
        layer.weight = layer.weight * factors.reshape(-1, *(1,) * (layer.weight.ndim - 1))
    layer.bias = None if layer.bias is None else layer.bias * factors


def _scale_inputs(layer, factors):
    shape = layer.weight.shape
    if layer.is_transposed:
        layer.weight = layer.weight * factors.reshape(-1, *(1,) * (layer.weight.ndim - 1))
        return
    each = factors.reshape(layer.groups, 1, -1, *(1,) * (layer.weight.ndim - 2))
    layer.weight = (layer.weight.reshape(layer.groups, -1, *shape[1:]) * each).reshape(shape)


def _equalize(first, second):
    """Moves factors between two layers; how far from 1 one of them is."""
    before, behind = _largest_of_outputs(first), _largest_of_inputs(second)
    is_used = (before > 0) & (behind > 0)
    factors = np.sqrt(np.where(is_used, before, 1.0) / np.where(is_used, behind, 1.0))
    _scale_outputs(first, 1 / factors)
    _scale_inputs(second, factors)
    return float(np.abs(np.log(factors)).max(initial=0.0))


def _store(layer):
    """Gives the module of a layer its numbers."""
    module = layer.module
    shape = tuple(module.weight.shape)
    weight = np.float32(layer.weight).reshape(shape)
    module.weight = Parameter(Tensor(weight, device=layer.device))
    if layer.bias is not None:
        module.bias = float_bias(layer)
