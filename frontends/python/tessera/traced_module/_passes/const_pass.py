"""Passes for constants: attributes, sizes and results that do not depend on the inputs."""

import math

from ...module import Module
from ..expr import CallFunction, CallMethod, Constant, GetAttr
from ..node import ModuleNode, ScalarNode, TensorNode
from ..pytree import map_leaves
from .pass_base import BackwardPass, ForwardPass, register_pass
from .utils import attribute_value, get_const_value, make_constant, may_be_changed, replace_expr


@register_pass("AttrToConstant")
class AttrToConstant(BackwardPass):
    """Makes constants of the parameters and buffers that a graph reads, but for those that a run
    changes. Results keep their bits.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> import tessera.traced_module as tm
    >>> class Net(M.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.weight = ts.Parameter([2.0])
    ...     def forward(self, x):
    ...         return x * self.weight
    >>> net = tm.trace_module(Net(), F.ones(2))
    >>> print(net.graph)
    Net.Graph (self, x) {
            %2:     weight = getattr(self, "weight") -> (Tensor)
            %3:     mul_out = x.__mul__(weight, )
            return mul_out
    }
    >>> print(tm.optimize(net, "AttrToConstant").graph)
    Net.Graph (self, x) {
            %4:     weight = Constant(<class 'tessera.Tensor'>) -> (Tensor)
            %3:     mul_out = x.__mul__(weight, )
            return mul_out
    }
    """

    name = "AttrToConstant"

    def run_transform(self, expr):
        """See BasePass."""
        if not (isinstance(expr, GetAttr) and isinstance(expr.args[0], ModuleNode)):
            return expr
        value = get_const_value(expr)
        if value is None or id(attribute_value(expr)) in self.whole.changed:
            return expr
        return replace_expr(expr, make_constant(expr.top_graph, value, expr))


@register_pass("FixInputShape")
class FixInputShape(ForwardPass):
    """Makes numbers of the sizes of tensors, those that the graph has recorded or inferred last,
    and of the numbers computed of them. Results for inputs of these shapes keep their bits.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> import tessera.traced_module as tm
    >>> class Net(M.Module):
    ...     def forward(self, x):
    ...         return x.reshape(x.shape[0] * 2, -1)
    >>> net = tm.trace_module(Net(), F.ones((3, 4)))
    >>> print(net.graph)
    Net.Graph (self, x) {
            %2:     shape, shape_1 = getattr(x, "shape") -> (int, int)
            %3:     mul_out = shape.__mul__(2, )
            %4:     reshape_out = x.reshape(mul_out, -1, )
            return reshape_out
    }
    >>> print(tm.optimize(net, "FixInputShape").graph)
    Net.Graph (self, x) {
            %4:     reshape_out = x.reshape(6, -1, )
            return reshape_out
    }
    """

    name = "FixInputShape"

    def run_transform(self, expr):
        """See BasePass."""
        values = self._values(expr)
        if values is None:
            return expr
        graph = expr.top_graph
        known = {id(node): value for node, value in zip(expr.outputs, values, strict=True)}
        for node in expr.outputs:
            for user in node.users:
                user.replace_inputs(known)
        graph.output_tree = map_leaves(lambda leaf: known.get(id(leaf), leaf), graph.output_tree)
        graph.changed()
        graph.drop_unread()
        return expr

    def _values(self, expr):
        """The numbers that `expr` gives; None: it gives something else, or they are unknown."""
        if not expr.outputs or not all(isinstance(node, ScalarNode) for node in expr.outputs):
            return None
        if isinstance(expr, GetAttr):
            target = expr.args[0]
            if not isinstance(target, TensorNode) or target.shape is None:
                return None
            return target.shape if expr.name == "shape" else [math.prod(target.shape)]
        if not isinstance(expr, (CallFunction, CallMethod)) or expr.inputs:
            return None
        return expr.interpret()


@register_pass("FoldConstant")
class FoldConstant(ForwardPass):
    """Computes what depends on constants alone. Results keep their bits. Required: AttrToConstant.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> import tessera.traced_module as tm
    >>> class Net(M.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.log_scale = ts.Parameter([0.0])
    ...     def forward(self, x):
    ...         return x * F.exp(self.log_scale)
    >>> net = tm.trace_module(Net(), F.ones(2))
    >>> print(net.graph)
    Net.Graph (self, x) {
            %2:     log_scale = getattr(self, "log_scale") -> (Tensor)
            %3:     exp_out = elemwise.exp(log_scale, )
            %4:     mul_out = x.__mul__(exp_out, )
            return mul_out
    }
    >>> print(tm.optimize(net, "FoldConstant").graph)
    Net.Graph (self, x) {
            %6:     exp_out = Constant(<class 'tessera.Tensor'>) -> (Tensor)
            %4:     mul_out = x.__mul__(exp_out, )
            return mul_out
    }
    """

    name = "FoldConstant"
    required_pass = ("AttrToConstant",)
    run_once = False

    def run_transform(self, expr):
        """See BasePass."""
        inputs = expr.inputs
        is_known = inputs and all(isinstance(node.expr, Constant) for node in inputs)
        if not is_known or expr.has_effect or expr.bodies:
            return expr
        if any(isinstance(node.expr.value, Module) or may_be_changed(node) for node in inputs):
            return expr
        if not expr.outputs or not all(isinstance(node, TensorNode) for node in expr.outputs):
            return expr
        values = expr.interpret(*(node.expr.value for node in inputs))
        return self._replace(expr, values)

    def _replace(self, expr, values):
        graph, outputs = expr.top_graph, expr.outputs
        new = [make_constant(graph, value, expr) for value in values]
        graph.replace_node(dict(zip(outputs, new, strict=True)))
        graph.compile()
        for node, old in zip(new, outputs, strict=True):
            node.name = old.name
        kept = next((node.expr for node in new if node.top_graph is graph), expr)
        graph.changed()
        return kept
