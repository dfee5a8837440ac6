"""Networks of files and models of ONNX as traced modules: graphs of calls of functions."""

import functools
import inspect
import sys

from ... import _core
from ... import functional as F  # noqa: N812
from ...core import apply
from ...module.module import Module
from ...tensor import Tensor
from ...traced_module import optimize, trace_module
from ...traced_module._passes.layers import FUNCTIONS
from ...traced_module._passes.utils import (
    get_const_value,
    is_output,
    named_args,
    replace_expr,
)
from ...traced_module.expr import Apply, CallFunction, Constant, GetAttr, new_node
from ...traced_module.node import TensorNode
from ...traced_module.numbering import Names, identifier
from ...traced_module.pytree import leaves_of
from ...traced_module.signature import GraphParameter, GraphSignature
from ...utils.network import Network

_VARIADIC = 2  # of the arities of operands in the table of operators
_PACKAGE = __name__.partition(".")[0]
_WINDOWS = {"strides": "stride", "padding": "padding"}
_CONV = {"x": "inp", "weight": "weight", **_WINDOWS, "dilation": "dilation", "groups": "groups"}
# Functions that differ from the operator of the same or this name, by its arguments in their order.
_FUNCTIONS = {
    **{f"conv{axes}d": (f"conv{axes}d", _CONV) for axes in (1, 2, 3)},
    **{
        f"conv_transpose{axes}d": (
            f"conv_transpose{axes}d",
            {**_CONV, "output_padding": "output_padding"},
        )
        for axes in (1, 2, 3)
    },
    "linear": ("linear", {"x": "inp", "weight": "weight", "bias": "bias"}),
    "matmul": ("matmul", {"x": "inp1", "y": "inp2", "transpose_x": "transpose_a",
                          "transpose_y": "transpose_b", "dtype": "dtype"}),
    "batch_norm_inference": ("batch_norm", {"x": "inp", "mean": "running_mean",
                                            "var": "running_var", "scale": "weight",
                                            "bias": "bias", "epsilon": "eps"}),
    "max_pool2d": ("max_pool2d", {"x": "inp", "kernel_size": "kernel_size", **_WINDOWS}),
    "clip": ("clip", {"x": "x", "lower": "lower", "upper": "upper"}),
    "concat": ("concat", {"inps": "inps", "axis": "axis"}),
    "embedding": ("embedding", {"ids": "inp", "weight": "weight"}),
}  # fmt: skip

_CONVOLUTIONS = [function for function, (axes, _) in FUNCTIONS.items() if axes]


def is_program(model):
    """Whether it is a Network or a model that `tessera.onnx.load` gave."""
    onnx = sys.modules.get(f"{_PACKAGE}.onnx.model")  # which needs the package onnx
    return isinstance(model, Network) or (onnx is not None and isinstance(model, onnx.Model))


def traced_program(model, calls):
    """(TracedModule, calls) of a program and of its calls: the graph has the names of inputs, its
    operators are calls of functions where passes know these, and arguments are by position.

    NotImplementedError: a Network must have no loops and no state. TypeError: calls must have the
    inputs.
    """
    module = NetworkModule(model) if isinstance(model, Network) else OnnxModule(model)
    calls = [(module.in_order(*each), {}) for each in calls]
    traced = trace_module(module.eval(), *calls[0][0])
    graph = traced.graph
    graph.signature = _signature(graph.inputs[1:], module.inputs)
    for expr in graph.own_exprs:
        _name_function(expr)
    graph.compile()
    traced = optimize(traced, ("AttrToConstant", "FoldConstant"))
    for expr in traced.graph.own_exprs:
        _join_bias(expr)
    _forget_unread(traced)
    return traced, calls


def _forget_unread(traced):
    """Takes away constants that no expression reads, such as sizes."""
    read = {expr.name for expr in traced.graph.own_exprs if isinstance(expr, GetAttr)}
    for name, value in list(vars(traced).items()):
        if isinstance(value, Tensor) and name not in read:
            delattr(traced, name)


def _signature(nodes, names):
    """Parameters of these names, one for each node."""
    parameters, free = [], Names()
    for node, name in zip(nodes, names, strict=True):
        node.name = free.free(identifier(name))
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters.append(GraphParameter(node.name, kind, node))
    return GraphSignature(parameters)


class _Program(Module):
    """A program, whose constants are attributes."""

    def __init__(self, inputs):
        super().__init__()
        self.inputs = tuple(inputs)

    def in_order(self, args, kwargs):
        """The arguments of a call by position.

        TypeError: there must be one for each input.
        """
        values = [*args, *(kwargs[name] for name in self.inputs[len(args) :] if name in kwargs)]
        if len(values) != len(self.inputs) or len(kwargs) + len(args) != len(values):
            raise TypeError(
                f"quantize_model: a sample must have the inputs {list(self.inputs)}, got "
                f"{len(args)} by position, {sorted(kwargs)} by name"
            )
        return values

    def hold(self, name, value):
        """Keeps a constant as an attribute; gives the name that it has."""
        name, number = identifier(name), 0
        while hasattr(self, f"{name}_{number}" if number else name):
            number += 1
        name = f"{name}_{number}" if number else name
        setattr(self, name, value)
        return name


class OnnxModule(_Program):
    """A model of ONNX."""

    def __init__(self, model):
        super().__init__(model.inputs)
        self._model = model
        for name, value in model.constants.items():
            self.hold(name, value)

    def forward(self, *inputs):
        """The outputs."""
        return self._model(*inputs)


class NetworkModule(_Program):
    """A Network without loops and without state."""

    def __init__(self, network):
        super().__init__(var.name for var in network.input_vars)
        self._outputs = list(map(_key, network.output_vars))
        self._given = list(map(_key, network.input_vars))
        self._steps, self._values = [], {}
        for opr in network.all_oprs:
            outputs, kind = list(map(_key, opr.outputs)), opr._node.kind
            if kind == "constant":
                self._values[outputs[0]] = self.hold(opr.name, opr._node.value)
            elif kind != "input":
                if opr.opdef is None:
                    raise NotImplementedError(
                        f"quantize_model: a Network must have no loops and no state, got {opr!r} "
                        f"({opr.location})"
                    )
                self._steps.append((opr.opdef, list(map(_key, opr.inputs)), outputs))

    def forward(self, *inputs):
        """The outputs."""
        values = dict(zip(self._given, inputs, strict=True))
        values.update((key, getattr(self, name)) for key, name in self._values.items())
        for opdef, operands, outputs in self._steps:
            results = apply(opdef, *(values[key] for key in operands))
            values.update(zip(outputs, results, strict=True))
        results = [values[key] for key in self._outputs]
        return results[0] if len(results) == 1 else tuple(results)


def _key(var):
    """The number of its operator and that of the result, which tell variables apart."""
    node, result = _core.node_of(var)
    return node.serial, result


def _name_function(expr):
    """Makes the application of an operator a call of the function that a person would write."""
    operator, given = _operator_of(expr)
    if operator is None or len(expr.outputs) != 1:
        return
    name, names = _FUNCTIONS.get(operator.__name__, (None, None))
    if name is not None and given.keys() <= names.keys():
        given = {new: given[old] for old, new in names.items() if old in given}
        _replace(expr, _call(expr, getattr(F, name), given), wanted=_name_of_weight(given))
    elif isinstance(expr, Apply):
        args = tuple(given.values())
        _replace(expr, CallFunction(expr.top_graph, operator, args, line=expr.line))


def _name_of_weight(given):
    """The name of the weight without "_weight"; None: it has no such name."""
    node = given.get("weight") or given.get("inp2")
    while isinstance(node, TensorNode) and isinstance(node.expr, CallFunction):
        node = node.expr.args[0] if len(node.expr.inputs) == 1 else None
    name = node.expr.name if isinstance(node, TensorNode) and isinstance(node.expr, GetAttr) else ""
    return name.removesuffix("_weight") if name.endswith("_weight") else None


def _operator_of(expr):
    """(the operator in Python, its arguments by name) of a call of one; two None: it is none."""
    if isinstance(expr, Apply):
        operator, values = _of_opdef(expr.opdef, list(expr.args))
        return operator, dict(zip(inspect.signature(operator).parameters, values, strict=False))
    if isinstance(expr, CallFunction) and isinstance(expr.func, type(_core.ops.add)):
        bound = inspect.signature(expr.func).bind(*expr.args, **expr.kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        return (None, None) if given.pop("inplace", False) else (expr.func, given)
    return None, None


def _of_opdef(opdef, operands):
    """(the operator in Python, its operands and attributes in their order) of an OpDef."""
    row = _rows()[opdef.name]
    values = []
    for _, arity, _ in row["operands"]:
        if arity == _VARIADIC:
            values, operands = [*values, operands], []
        else:
            values.append(operands.pop(0) if operands else None)
    return getattr(_core.ops, row["python"]), [*values, *opdef.props().values()]


@functools.cache
def _rows():
    return {row["opdef"]: row for row in _core.op_table()}


def _join_bias(expr):
    """Makes one call of a convolution and the addition of a constant for each channel."""
    if not isinstance(expr, CallFunction) or expr.func is not F.add or len(expr.inputs) != 2:
        return
    node, bias = leaves_of((expr.args, expr.kwargs))
    node, bias = (bias, node) if isinstance(node.expr, Constant) else (node, bias)
    layer, value = node.expr, get_const_value(bias)
    is_alone = isinstance(layer, CallFunction) and len(node.users) == 1 and not is_output(node)
    if not is_alone or layer.func not in _CONVOLUTIONS or value is None:
        return
    given, axes = named_args(layer), FUNCTIONS[layer.func][0]
    wanted = (1, node.shape[1], *(1,) * axes) if len(node.shape) == axes + 2 else None
    if given["bias"] is None and tuple(value.shape) == wanted:
        _replace(expr, _call(layer, layer.func, {**given, "bias": bias}), freed=node.name)


def _call(expr, function, given):
    """The call of a function with arguments by name, in the graph and with the line of `expr`."""
    defaults = inspect.signature(function).parameters
    (_, first), *rest = given.items()
    kwargs = {key: value for key, value in rest if value is not defaults[key].default}
    return CallFunction(expr.top_graph, function, (first,), kwargs, expr.line)


def _replace(expr, new, wanted=None, freed=None):
    """Puts another expression in the place of `expr`. Its result is called `wanted`, with a number
    where a node has that name, or `freed`, as a node that goes, or as that of `expr`.
    """
    graph, (old,) = expr.top_graph, expr.outputs
    new.modes = expr.modes
    new.result = node = new_node(new, wanted or old.name, TensorNode)
    node.shape, node.dtype, node.device = old.shape, old.dtype, old.device
    graph.insert_at(next(i for i, each in enumerate(graph.own_exprs) if each is expr), [new])
    replace_expr(expr, node, takes_name=False)
    if wanted is None:
        node.name = freed or old.name
