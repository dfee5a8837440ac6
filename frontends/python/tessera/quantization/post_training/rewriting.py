"""Graphs with the units of a plan as calls of quantized modules and functions."""

import copy
from collections import ChainMap

import numpy as np

from ... import _core
from ... import functional as F  # noqa: N812
from ... import module as M  # noqa: N812
from ...module import quantized
from ...traced_module.attributes import attribute_of, set_attribute
from ...traced_module.copying import copied, copy_inputs
from ...traced_module.expr import CallFunction, CallMethod, GetAttr, new_node
from ...traced_module.internal_graph import InternalGraph
from ...traced_module.node import ModuleNode, Node, TensorNode
from ...traced_module.numbering import identifier
from ...traced_module.operators import MUTATING
from ...traced_module.pytree import map_leaves
from ...traced_module.traced_module import TracedModule
from .dynamic import DynamicLinear
from .plan import called_module, joined_nodes, moved_node
from .weights import float_bias, quantized_weight, weight_only

_CLASSES = {
    ("conv2d", "identity"): quantized.Conv2d,
    ("conv2d", "relu"): quantized.ConvRelu2d,
    ("conv_transpose2d", "identity"): quantized.ConvTranspose2d,
    ("conv_transpose2d", "relu"): quantized.ConvTransposeRelu2d,
    ("linear", "identity"): quantized.Linear,
    ("linear", "relu"): quantized.LinearRelu,
}


class Rewriting:
    """Makes the graph of a quantized module, expression by expression, of that of a float one.

    Each node of the float graph has up to two in the new one: in `floats` and in `integers`, by its
    id. One is made of the other where an expression asks for it. `dtypes` has the quantized dtypes
    of nodes by their ids. A unit is known by the id of its result: `names` has the path of its
    layer, `exprs` its call.
    """

    def __init__(self, traced, plan, config, dtypes):
        self._old, self._plan, self._config, self._dtypes = traced.graph, plan, config, dtypes
        self.module = _without_graphs(traced)
        self._graph = InternalGraph(self._old.name, self._old.qualname)
        self._graph.set_owner(self.module)
        self.floats, self.integers, self.names, self.exprs = {}, {}, {}, {}
        self._modes = ()

    def run(self):
        """Makes the module and returns it."""
        copy_inputs(self._graph, self._old, self.floats)
        for expr in self._old.own_exprs:
            if id(expr) not in self._plan.inner:
                self._modes = expr.modes
                self._take(expr)
        self._modes = ()
        self._graph.output_tree = map_leaves(self._as_float, self._old.output_tree)
        TracedModule.add_graph(self.module, self._graph.compile())
        self._forget_unread()
        return self.module

    # Values.

    def _as_float(self, leaf):
        """The node of a leaf's numbers; a leaf that is no node itself."""
        if not isinstance(leaf, Node):
            return leaf
        if id(leaf) not in self.floats:
            node = self.integers[id(leaf)]
            self.floats[id(leaf)] = self._astype(node, "float32", leaf)
        return self.floats[id(leaf)]

    def _as_integers(self, node):
        """The node of a tensor's integers."""
        if id(node) in self.integers:
            return self.integers[id(node)]
        made = self._astype(self._as_float(node), self._dtypes[id(node)], node)
        if id(node) not in self._plan.pinned:
            self.integers[id(node)] = made
        return made

    def _astype(self, node, dtype, like):
        expr = CallMethod(self._graph, "astype", (node, dtype), line=like.expr.line)
        return self._finished(expr, like, dtype)

    # Expressions.

    def _take(self, expr):
        unit = self._plan.units.get(id(expr))
        if unit is not None:
            self._take_unit(unit)
        elif any(id(node) in self._plan.integers for node in expr.outputs):
            self._take_moved(expr)
        elif isinstance(expr, GetAttr):  # sizes are those of both forms
            if not self._plan.is_of_units(expr):
                self._copy(expr, {})
        else:
            for node in expr.inputs:
                self._as_float(node)
            self._copy(expr, {})
            if getattr(expr, "method", None) in MUTATING:
                self.integers.pop(id(expr.args[0]), None)

    def _copy(self, expr, given):
        """Takes an expression over, with the nodes `given` before others; the new expression."""
        found = ChainMap({}, given, self.floats, self.integers)
        new = copied(expr, self._graph, found)
        self._graph.own_exprs.append(new)
        self.floats.update(found.maps[0])
        return new

    def _take_moved(self, expr):
        """An expression whose elements stay the integers that they are."""
        joined, old = joined_nodes(expr), expr.result
        if joined is not None:
            nodes, dtype = [self._as_integers(node) for node in joined], self._dtypes[id(old)]
            args = nodes, _axis_of(expr), dtype
            self.integers[id(old)] = self._function(F.quantized.concat, args, {}, old, dtype)
            return
        source = moved_node(expr)
        node = self._as_integers(source)
        windows = _windows_of(expr)
        if windows is not None:
            args = node, *windows
            made = self._function(F.quantized.max_pool2d, args, {}, old, node.dtype)
        else:
            made = self._copy(expr, {id(source): node}).result
            del self.floats[id(old)]
            made.dtype = node.dtype
        self.integers[id(old)] = made

    def _take_unit(self, unit):
        old = unit.result
        path = self._path_of(unit)
        if self._config.mode == "static":
            made = self.integers[id(old)] = self._static(unit, path)
        else:
            made = self.floats[id(old)] = self._of_floats(unit, path)
        self.names[id(old)], self.exprs[id(old)] = path, made.expr
        if id(old) in self._plan.pinned:
            self._as_float(old)
            self.integers.pop(id(old), None)

    def _of_floats(self, unit, path):
        layer = unit.layer
        if self._config.mode == "weight_only":
            module = weight_only(layer, unit.activation, self._config)
        else:
            weight = quantized_weight(layer, self._config.per_channel)
            module = DynamicLinear.of(weight, float_bias(layer), unit.activation)
        return self._module(path, module, self._as_float(layer.data), unit.result, "float32")

    def _static(self, unit, path):
        layer, old = unit.layer, unit.result
        data = self._as_integers(layer.data)
        dtype = self._dtypes[id(self._plan.joins.get(id(old), old))]
        kind = _CLASSES.get((layer.operator, unit.activation))
        holder = kind or _CLASSES.get((layer.operator, "identity"), TracedModule)
        module = _made(holder, layer, dtype)
        input_scale = _core.quantization(data.dtype)[1]
        module.weight = quantized_weight(layer, self._config.per_channel, input_scale)
        module.bias = float_bias(layer)
        if kind is not None and unit.residual is None:
            return self._module(path, module, data, old, dtype)
        self._put(path, module)
        names = ["weight"] + ([] if module.bias is None else ["bias"])
        tensors = [self._tensor(f"{path}.{name}", getattr(module, name)) for name in names]
        given = {"dtype": dtype, **layer.settings}
        if unit.activation != "identity":
            given["nonlinear_mode"] = unit.activation
        if unit.residual is not None:
            given["residual"] = self._as_integers(unit.residual)
        args = (data, *tensors, *([None] if module.bias is None else []))
        return self._function(getattr(F.quantized, layer.operator), args, given, old, dtype)

    # Making.

    def _tensor(self, path, value):
        """The node of a tensor of the module."""
        expr = GetAttr(self._graph, self._graph.owner_input, path)
        expr.result = new_node(expr, path, TensorNode, value)
        self._graph.own_exprs.append(expr)
        return expr.result

    def _module(self, path, module, data, like, dtype):
        """The node of a call of a new module at `path`."""
        self._put(path, module)
        expr = GetAttr(self._graph, self._graph.owner_input, path)
        expr.result = new_node(expr, path, ModuleNode, module)
        self._graph.own_exprs.append(expr)
        call = CallMethod(self._graph, "__call__", (expr.result, data), line=like.expr.line)
        return self._finished(call, like, dtype)

    def _function(self, function, args, kwargs, like, dtype):
        expr = CallFunction(self._graph, function, args, kwargs, like.expr.line)
        return self._finished(expr, like, dtype)

    def _finished(self, expr, like, dtype):
        """The node of an expression that makes a tensor like `like`, of another dtype."""
        expr.modes = self._modes
        expr.result = node = new_node(expr, like.name, TensorNode)
        node.shape, node.dtype, node.device = like.shape, np.dtype(dtype), like.device
        self._graph.own_exprs.append(expr)
        return node

    def _put(self, path, module):
        module.training = False
        set_attribute(self.module, path, module)

    def _path_of(self, unit):
        """Where the module of a unit stands: in the place of the float one, or beside it."""
        layer, taken = unit.layer, set(self.names.values())
        is_attribute = layer.module is not None and isinstance(layer.expr.args[0].expr, GetAttr)
        if is_attribute and layer.name not in taken | self._plan.read_paths:
            return layer.name
        path, number = identifier(layer.name), 0
        name = path
        while name in taken or attribute_of(self.module, name, None) is not None:
            number += 1
            name = f"{path}_{number}"
        return name

    def _forget_unread(self):
        """Takes away the tensors and modules that the float graph read and this one does not."""
        kept = _paths(self._graph)
        for path in _paths(self._old) - kept:
            owner, _, name = path.rpartition(".")
            holder = attribute_of(self.module, owner, None) if owner else self.module
            if isinstance(holder, TracedModule) and not any(
                each.startswith(f"{path}.") for each in kept
            ):
                delattr(holder, name)


def _without_graphs(traced):
    made = copy.deepcopy(traced)
    for each in made.modules():
        if isinstance(each, TracedModule):
            each._graphs = []
    return made


def _paths(graph):
    """The paths of what a graph reads of its module."""
    return {expr.name for expr in graph.every_expr(recursive=False)
            if isinstance(expr, GetAttr) and isinstance(expr.args[0], ModuleNode)}  # fmt: skip


def _made(kind, layer, dtype):
    """A module for the weight of a layer, without it."""
    if kind is TracedModule:
        return TracedModule(layer.operator)
    has_bias = layer.bias is not None
    if layer.operator == "linear":
        return kind(dtype, layer.weight.shape[1], layer.channels, has_bias)
    inputs, kernel = layer.weight.shape[1] * layer.groups, layer.weight.shape[2:]
    given = dict(layer.settings, dtype=dtype, bias=has_bias)
    if layer.is_transposed:
        return kind(layer.weight.shape[0], layer.channels, kernel, **given)
    mode = getattr(layer.module, "padding_mode", "zeros")
    return kind(inputs, layer.channels, kernel, padding_mode=mode, **given)


def _axis_of(expr):
    args = expr.args[1:] if isinstance(expr, CallMethod) else expr.args
    return args[1] if len(args) > 1 else expr.kwargs.get("axis", 0)


def _windows_of(expr):
    """Kernel, stride and padding where a call pools; None: it does not."""
    module = called_module(expr)
    if type(module) is M.MaxPool2d:
        return module.kernel_size, module.stride, module.padding
    if getattr(expr, "func", None) is not F.max_pool2d:
        return None
    given = dict(zip(("kernel_size", "stride", "padding"), expr.args[1:], strict=False))
    given.update(expr.kwargs)
    return given["kernel_size"], given.get("stride"), given.get("padding", 0)
