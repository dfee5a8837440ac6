"""Layers: calls of convolutions and linear maps whose weight is known, as modules or functions."""

import copy

import numpy as np

from ... import functional as F  # noqa: N812
from ... import module as M  # noqa: N812
from ...tensor import Parameter
from ..attributes import set_attribute
from ..expr import CallFunction, Constant, GetAttr, new_node
from ..node import ModuleNode
from ..numbering import identifier
from .operands import array_of, limits_of, tensor_of
from .utils import attribute_value, get_const_value, make_constant, named_args, readers_of

# Axes of the kernel, and whether the weight's input channels come first.
MODULES = {M.Conv1d: (1, False), M.Conv2d: (2, False), M.Conv3d: (3, False),
           M.ConvTranspose1d: (1, True), M.ConvTranspose2d: (2, True),
           M.ConvTranspose3d: (3, True), M.Linear: (0, False)}  # fmt: skip
FUNCTIONS = {F.conv1d: (1, False), F.conv2d: (2, False), F.conv3d: (3, False),
             F.conv_transpose1d: (1, True), F.conv_transpose2d: (2, True),
             F.conv_transpose3d: (3, True), F.linear: (0, False)}  # fmt: skip


def layer_of(expr, whole):
    """The Layer that `expr` calls; None: it is none, or its weight is not known.

    `whole` is the module that it is in, where other readers are looked for.
    """
    if isinstance(expr, CallFunction):
        made = _FunctionLayer(expr, whole) if expr.func in FUNCTIONS else None
    else:
        node = expr.args[0] if expr.args else None
        owner = node.owner if isinstance(node, ModuleNode) and expr.method == "__call__" else None
        made = _ModuleLayer(expr, whole, owner) if type(owner) in MODULES else None
    return made if made is not None and made.is_known() else None


def has_hooks(module):
    """Whether a call of the module does more than its forward."""
    return bool(module._forward_pre_hooks or module._forward_hooks or module._backward_hooks)


class Layer:
    """One call of a linear map plus bias, whose weight and bias can be changed for it alone."""

    def __init__(self, expr, whole, kind, groups):
        self.expr, self._whole, self._groups = expr, whole, groups
        self.axes, self._is_transposed = kind
        self.weight = self.bias = None  # tensors

    def is_known(self):
        """Whether weight and bias are floats that no run changes."""
        if self.weight is None or limits_of(self.weight.dtype) is None:
            return False
        return self.bias is None or self.bias.size == self.channels

    @property
    def channels(self):
        """How many its output has."""
        return self._grouped_shape()[1 + self._is_transposed] * self._groups

    def _grouped_shape(self):
        """The shape of the weight with an axis of groups in front."""
        shape = tuple(map(int, self.weight.shape))
        if len(shape) == self.axes + 3:
            return shape
        first = shape[0] // self._groups
        return (self._groups, first, *shape[1:])

    def scale(self, factors, offsets=None):
        """Multiplies the output with `factors`, a number or an array of the channels, and adds
        `offsets`. Weight and bias are computed in float64 and rounded once.
        """
        whole = array_of(self.weight).reshape(self._grouped_shape())
        ones = [1] * whole.ndim
        ones[0], ones[1 + self._is_transposed] = self._groups, -1
        each = np.broadcast_to(np.asarray(factors, dtype=np.float64), self.channels)
        weight = (whole * each.reshape(ones)).reshape(tuple(self.weight.shape))
        bias = None if self.bias is None else array_of(self.bias).reshape(-1) * each
        if offsets is not None:
            bias = offsets if bias is None else bias + offsets
        shape = (-1,) if self.axes == 0 else (1, -1, *(1,) * self.axes)
        like = self.weight if self.bias is None else self.bias
        self.set_tensors(
            tensor_of(weight, self.weight),
            None if bias is None else tensor_of(bias.reshape(shape), like),
        )

    def set_tensors(self, weight, bias):
        """Gives the call, and no other one, this weight and bias."""
        raise NotImplementedError


class _FunctionLayer(Layer):
    def __init__(self, expr, whole):
        self._given = named_args(expr)
        groups = self._given.get("groups", 1)
        super().__init__(expr, whole, FUNCTIONS[expr.func], groups)
        nodes = self._given["weight"], self._given["bias"]
        values = [None if node is None else get_const_value(node) for node in nodes]
        is_known = all((node is None) == (value is None)
                       for node, value in zip(nodes, values, strict=True))  # fmt: skip
        is_stable = not any(node is not None and id(attribute_value(node.expr)) in whole.changed
                            for node in nodes)  # fmt: skip
        if is_known and is_stable and type(groups) is int:
            self.weight, self.bias = values

    def set_tensors(self, weight, bias):
        """See Layer."""
        graph, names = self.expr.top_graph, list(self._given)
        self._given["weight"] = make_constant(graph, weight, self.expr, "weight")
        if bias is not None:
            self._given["bias"] = make_constant(graph, bias, self.expr, "bias")
        args = tuple(self._given[name] for name in names[:3])
        given = self.expr.kwargs.keys() | set(names[3 : len(self.expr.args)])
        kwargs = {name: self._given[name] for name in names[3:] if name in given}
        self.expr.set_arguments(args, kwargs)
        graph.compile()
        graph.changed()


class _ModuleLayer(Layer):
    def __init__(self, expr, whole, module):
        super().__init__(expr, whole, MODULES[type(module)], getattr(module, "groups", 1))
        self._module = module
        is_movable = isinstance(expr.args[0].expr, (Constant, GetAttr))
        is_stable = whole.changed.isdisjoint(map(id, module.tensors()))
        if is_movable and is_stable and not has_hooks(module):
            self.weight = module.weight.detach()
            self.bias = None if module.bias is None else module.bias.detach()

    def set_tensors(self, weight, bias):
        """See Layer."""
        module = copy.deepcopy(self._module, {id(each): each for each in self._module.tensors()})
        module.weight = Parameter(weight)
        module.bias = None if bias is None else Parameter(bias)
        node = self.expr.args[0]
        if readers_of(self._module, self._whole.graphs) != [self.expr]:
            new = self._copied(node, module)
            self.expr.replace_inputs({id(node): new})
        elif isinstance(node.expr, Constant):
            node.expr.value = module
        else:
            set_attribute(node.expr.args[0].owner, node.expr.name, module)
        self.expr.top_graph.changed()

    def _copied(self, node, module):
        """A node for a module of its own, which stands beside the one that others use, too."""
        graph = self.expr.top_graph
        if isinstance(node.expr, Constant):
            return make_constant(graph, module, self.expr, node.name)
        owner, name, number = node.expr.args[0], identifier(node.expr.name), 1
        while hasattr(owner.owner, f"{name}_{number}"):
            number += 1
        name = f"{name}_{number}"
        set_attribute(owner.owner, name, module)
        expr = GetAttr(graph, owner, name, node.expr.line)
        expr.result = new_node(expr, name, ModuleNode, module)
        position = next(i for i, each in enumerate(graph.own_exprs) if each is self.expr)
        graph.insert_at(position, [expr])
        return expr.result
