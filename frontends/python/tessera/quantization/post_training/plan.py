"""Which calls of a graph compute with integers, and which values stay integers between them."""

from dataclasses import dataclass

import numpy as np

from ... import functional as F  # noqa: N812
from ... import module as M  # noqa: N812
from ...traced_module._passes.layers import has_hooks
from ...traced_module._passes.utils import Whole, attribute_value, get_const_value, named_args
from ...traced_module.expr import CallFunction, CallMethod, GetAttr
from ...traced_module.node import ModuleNode, TensorNode
from ...traced_module.operators import MUTATING
from .layers import is_too_deep, layer_of, table_of

# Layers of modes that do not know all of them, and the reason to keep others.
_LAYERS_OF_MODES = {
    "dynamic": (("linear",), "dynamic: linear layers only"),
    "weight_only": (("linear", "embedding"), "weight_only: linear layers and embeddings only"),
}
_ADDITIONS = ("__add__", "__radd__", "__iadd__")
_ACTIVATIONS = {F.relu: "relu", F.relu6: "relu", F.sigmoid: "sigmoid", F.hswish: "hswish",
                M.ReLU: "relu", M.Sigmoid: "sigmoid", M.Hardswish: "hswish"}  # fmt: skip
_ACTIVATION_NAMES = {"relu": "relu", "relu6": "relu", "sigmoid": "sigmoid", "hswish": "hswish",
                     "h_swish": "hswish"}  # fmt: skip
_MOVING_FUNCTIONS = (F.reshape, F.flatten, F.transpose, F.squeeze, F.expand_dims, F.max_pool2d)
_MOVING_METHODS = ("reshape", "flatten", "transpose", "squeeze", "__getitem__")
_MOVING_MODULES = (M.Identity, M.Flatten, M.QuantStub, M.DequantStub, M.MaxPool2d)


@dataclass(eq=False)
class Unit:
    """A layer with the sum and the activation behind it, which become one call.

    `exprs` are the expressions in order, `residual` the node that is added or None, and `result`
    the node of the last one.
    """

    layer: object
    exprs: list
    residual: object = None
    activation: str = "identity"

    @property
    def result(self):
        """The node that it makes."""
        return self.exprs[-1].result

    @property
    def operands(self):
        """The nodes that it reads as integers."""
        return [self.layer.data] + ([] if self.residual is None else [self.residual])

    @property
    def kind(self):
        """Names of its parts, in words."""
        parts = [self.layer.operator] + ([] if self.residual is None else ["add"])
        return " + ".join(parts + ([] if self.activation == "identity" else [self.activation]))


class Plan:
    """The units of a graph, and the nodes whose values are integers there.

    `units` are those that become integers, by the ids of their last expressions; `kept` has
    (name, reason) of layers that stay float32. `pinned` has the ids of nodes whose tensors
    something changes in place.
    """

    def __init__(self, traced, config):
        self._graph, self._config, graph = traced.graph, config, traced.graph
        self._changed = Whole(traced).changed
        self._positions = {id(expr): place for place, expr in enumerate(graph.own_exprs)}
        self._outputs = {id(node) for node in graph.outputs}
        self.pinned = self._changed_nodes()
        self.units, self.kept, self._seen = {}, [], set()
        layers = [each for each in map(self._layer_of, graph.own_exprs) if each is not None]
        self.names = [layer.name for layer in layers]
        for layer in layers:
            self._add(layer)
        self.kept += [(name, "within control flow") for name in _names_within(graph)]
        inner = [expr for unit in self.units.values() for expr in unit.exprs[:-1]]
        self.inner = {id(expr) for expr in inner}
        self.read_paths = self._paths_of_floats()
        self.integers = self._integer_nodes()

    # Units.

    def _layer_of(self, expr):
        layer = layer_of(expr)
        return table_of(expr) if layer is None and self._config.mode == "weight_only" else layer

    def _add(self, layer):
        reason = self._reason_to_keep(layer)
        if reason is not None:
            self.kept += [(layer.name, reason)] if (layer.name, reason) not in self.kept else []
            return
        unit = Unit(layer, [layer.expr], None, layer.activation)
        if self._config.mode == "static":
            self._extend(unit)
        self._seen.update(map(id, unit.exprs))
        self.units[id(unit.exprs[-1])] = unit

    def _reason_to_keep(self, layer):
        names = self._config.keep_float
        if any(layer.name == each or layer.name.startswith(f"{each}.") for each in names):
            return "keep_float"
        if not self._changed.isdisjoint(map(id, layer.sources)):
            return "a weight that calls change"
        known = _LAYERS_OF_MODES.get(self._config.mode)
        if known is not None:
            operators, reason = known
            return None if layer.operator in operators else reason
        if is_too_deep(layer, self._config.activation_dtype):
            return f"sums of {layer.depth} products"
        return None

    def _extend(self, unit):
        """Takes the addition and the activation behind the layer into the unit."""
        if unit.activation != "identity" or id(unit.layer.data) in self.pinned:
            return
        reader = self._only_reader(unit.result)
        if reader is not None and _take_bias(unit.layer, reader, self._changed):
            unit.exprs.append(reader)
            reader = self._only_reader(unit.result)
        residual = None if reader is None else self._residual(reader, unit)
        if residual is not None:
            unit.residual = residual
            unit.exprs.append(reader)
            if _method_name(reader) == "fuse_add_relu":
                unit.activation = "relu"
                return
            reader = self._only_reader(unit.result)
        activation = None if reader is None else activation_of(reader)
        if activation == "relu" or (activation is not None and not unit.layer.pads_otherwise):
            unit.activation = activation
            unit.exprs.append(reader)

    def _only_reader(self, node):
        users = node.users
        if len(users) != 1 or id(node) in self._outputs or id(users[0]) in self._seen:
            return None
        return users[0] if id(users[0]) in self._positions and not users[0].bodies else None

    def _residual(self, expr, unit):
        """The other operand where `expr` adds one to the unit's result; None: it does not."""
        operands = _summands(expr)
        node = unit.result
        if operands is None or unit.layer.pads_otherwise:
            return None
        others = [each for each in operands if each is not node]
        if len(others) != 1 or not isinstance(others[0], TensorNode):
            return None
        (other,) = others
        fits = other.shape == node.shape and other.dtype == node.dtype == np.float32
        is_stable = id(other) not in self.pinned
        is_layer = self._place_of(other) > self._positions[id(unit.layer.expr)] and (
            layer_of(other.expr) is not None and len(other.users) == 1
        )  # the sum goes to the later layer
        return other if fits and is_stable and not is_layer else None

    def _place_of(self, node):
        return self._positions.get(id(node.expr), -1)

    def _changed_nodes(self):
        """The ids of nodes whose tensors something changes, and of those that they are views of."""
        found = set()
        for expr in self._graph.own_exprs:
            if getattr(expr, "method", None) not in MUTATING or self._is_plain_sum(expr):
                continue
            node = expr.args[0]
            while isinstance(node, TensorNode):
                found.add(id(node))
                moved = moved_node(node.expr)
                node = moved
        return found

    def _is_plain_sum(self, expr):
        """Whether nobody can tell `x += y` from `x + y`."""
        node = expr.args[0]
        return (
            expr.method == "__iadd__"
            and len(node.users) == 1
            and id(node) not in self._outputs
            and layer_of(node.expr) is not None
        )

    def _paths_of_floats(self):
        """Paths of the modules that calls outside of units read."""
        heads = {id(unit.layer.expr): unit.layer for unit in self.units.values()}
        found = set()
        for expr in self._graph.every_expr(recursive=False):
            if isinstance(expr, GetAttr) and isinstance(expr.result, TensorNode):
                readers = [heads.get(id(each)) for each in expr.result.users]
                if not all(each and each.data is not expr.result for each in readers):
                    found.add(expr.name.rpartition(".")[0])
            elif id(expr) not in heads:
                found.update(
                    node.expr.name
                    for node in expr.inputs
                    if isinstance(node, ModuleNode) and isinstance(node.expr, GetAttr)
                )
        return found

    def is_of_units(self, expr):
        """Whether an expression reads a module that the heads of units alone call."""
        heads = {id(unit.layer.expr) for unit in self.units.values()}
        readers = [id(each) for node in expr.outputs for each in node.users]
        return bool(readers) and heads.issuperset(readers)

    # Values.

    def _integer_nodes(self):
        """The ids of nodes that are integers where they are made."""
        found = set()
        if self._config.mode != "static":
            return found
        for expr in self._graph.own_exprs:
            unit = self.units.get(id(expr))
            if unit is not None:
                found.add(id(unit.result))
                continue
            sources = joined_nodes(expr)
            moved = moved_node(expr)
            sources = [moved] if moved is not None else sources
            if sources and all(id(node) in found for node in sources):
                found.update(id(node) for node in expr.outputs)
            found -= self.pinned
        return found

    @property
    def measured(self):
        """The nodes whose ranges are needed, each once."""
        found = {}
        for expr in self._graph.own_exprs:
            unit = self.units.get(id(expr))
            if unit is not None:
                found.update((id(node), node) for node in (*unit.operands, unit.result)
                             if node is unit.result or id(node) not in self.integers)  # fmt: skip
            elif joined_nodes(expr) and id(expr.result) in self.integers:
                found[id(expr.result)] = expr.result
        return list(found.values()) if self._config.mode == "static" else []

    @property
    def joins(self):
        """{id of a node: the node that it is joined into} of units' results that nobody else
        reads, so that both may have one dtype.
        """
        found = {}
        results = {id(unit.result) for unit in self.units.values()}
        for expr in self._graph.own_exprs:
            for node in joined_nodes(expr) or ():
                if id(node) in results and len(node.users) == 1 and id(expr.result) in (
                    self.integers
                ):  # fmt: skip
                    found[id(node)] = expr.result
        return found


def _names_within(graph):
    """Names of the layers in bodies of loops and branches, each once."""
    exprs = [each for expr in graph.own_exprs for body in expr.bodies
             for each in body.every_expr(recursive=False)]  # fmt: skip
    return list(dict.fromkeys(layer.name for layer in filter(None, map(layer_of, exprs))))


def activation_of(expr):
    """The nonlinear_mode that a call is; None: it is none."""
    if isinstance(expr, CallFunction):
        is_plain = len(expr.inputs) == 1 and not expr.kwargs.get("inplace")
        if expr.func is F.clip and is_plain:
            given = named_args(expr)
            return "relu" if given["lower"] == 0 and given["upper"] > 0 else None
        return _ACTIVATIONS.get(expr.func) if is_plain else None
    module = called_module(expr)
    return _ACTIVATIONS.get(type(module)) or _ACTIVATION_NAMES.get(_method_name(expr))


def moved_node(expr):
    """The node that a call moves elements of; None: it computes, or may."""
    target = None
    if isinstance(expr, CallFunction):
        if expr.func in _MOVING_FUNCTIONS:
            target = expr.args[0] if expr.args else None
    elif isinstance(expr, CallMethod) and expr.method in _MOVING_METHODS:
        target = expr.args[0]
    elif type(called_module(expr)) in _MOVING_MODULES or _is_idle_dropout(called_module(expr)):
        target = expr.args[1] if len(expr.args) == 2 else None
    tensors = [node for node in expr.inputs if isinstance(node, TensorNode)]
    is_alone = len(tensors) == 1 and tensors[0] is target and not expr.bodies
    return target if is_alone else None


def joined_nodes(expr):
    """The nodes that a call concatenates, a list; None: it does something else."""
    if isinstance(expr, CallFunction) and expr.func is F.concat:
        given = named_args(expr)
        tensors = given["inps"] if given["device"] is None else None
    elif type(called_module(expr)) is M.Concat:
        tensors = expr.args[1] if len(expr.args) > 1 else None
    else:
        return None
    is_known = isinstance(tensors, (list, tuple)) and tensors
    return list(tensors) if is_known and all(isinstance(e, TensorNode) for e in tensors) else None


def _take_bias(layer, expr, changed):
    """Whether `expr` adds a constant for each channel to the result of a layer without a bias,
    which has it as its bias then.
    """
    operands, node = _summands(expr) if layer.bias is None else None, layer.expr.result
    others = [each for each in operands or () if each is not node]
    is_sum = len(others) == 1 and _method_name(expr) != "fuse_add_relu"
    if not is_sum or not isinstance(others[0], TensorNode):
        return False
    value, source = get_const_value(others[0]), attribute_value(others[0].expr)
    if value is None or id(source) in changed or value.dtype != np.float32:
        return False
    wanted = (1,) * (len(node.shape) - len(layer.bias_shape)) + layer.bias_shape
    shape = (1,) * (len(wanted) - value.ndim) + tuple(value.shape)
    if shape != wanted or expr.result.shape != node.shape:
        return False
    layer.bias = value.numpy().astype(np.float64).reshape(-1)
    return True


def _summands(expr):
    """Both operands of an addition; None: it is none."""
    if isinstance(expr, CallFunction):
        return expr.args if expr.func is F.add and not expr.kwargs else None
    if _method_name(expr) in ("add", "fuse_add_relu"):
        return expr.args[1:] if len(expr.args) == 3 else None
    is_sum = getattr(expr, "method", None) in _ADDITIONS and not expr.kwargs
    return expr.args if is_sum else None


def called_module(expr):
    """The module that an expression calls, without hooks; None: it calls none."""
    if not isinstance(expr, CallMethod) or expr.method != "__call__" or expr.kwargs:
        return None
    node = expr.args[0]
    module = node.owner if isinstance(node, ModuleNode) else None
    return None if module is None or has_hooks(module) else module


def _method_name(expr):
    module = called_module(expr)
    return module.method if type(module) is M.Elemwise else None


def _is_idle_dropout(module):
    return type(module) is M.Dropout and not module.training
