"""Parts that passes share: arguments and constants of expressions, and edits of graphs."""

import inspect

from ...functional import batch_norm, dropout
from ...module import Module
from ...tensor import Tensor
from ..attributes import attribute_of
from ..expr import CallFunction, CallMethod, Constant, GetAttr, SetAttr, new_node
from ..node import ModuleNode, Node, ScalarNode, TensorNode


def register_obj(objs, _dict):
    """A decorator that puts a class or a function into `_dict` under a name, or a list of names."""
    names = objs if isinstance(objs, (list, tuple)) else [objs]

    def _register(any_obj):
        _dict.update(dict.fromkeys(names, any_obj))
        return any_obj

    return _register


def named_args(expr):
    """The arguments of a CallFunction by the names of the function's parameters, with defaults."""
    bound = inspect.signature(expr.func).bind(*expr.args, **expr.kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


def get_const_value(expr, fall_back=None):
    """The tensor that a node, or the expression that makes it, stands for: a constant, a parameter
    or a buffer; else `fall_back`.
    """
    expr = expr.expr if isinstance(expr, Node) else expr
    if isinstance(expr, Constant) and isinstance(expr.value, Tensor):
        return expr.value.detach()
    if isinstance(expr, GetAttr) and isinstance(expr.args[0], ModuleNode):
        value = attribute_of(expr.args[0].owner, expr.name, None)
        return value.detach() if isinstance(value, Tensor) else fall_back
    return fall_back


def plain_value(leaf):
    """A number among the arguments; that of a ScalarNode which reads the module's `training`."""
    if not isinstance(leaf, ScalarNode):
        return leaf
    is_flag = isinstance(leaf.expr, GetAttr) and leaf.expr.name == "training"
    return leaf.expr.args[0].owner.training if is_flag else None


class Whole:
    """The graphs of a TracedModule, those that they call, too, each once, and the ids of the
    tensors that a run of them may change, but for those that only closed modules change.
    """

    def __init__(self, module):
        found = {id(graph): graph for graph in module.graphs}
        for graph in module.graphs:
            found.update((id(each), each) for each in graph.all_graphs())
        self.graphs = list(found.values())
        self._tensors = _changed_tensors(self.graphs)  # kept, so that ids stay their own
        self.changed = frozenset(map(id, self._tensors))


def every_expr(graphs):
    """The expressions of graphs, and of bodies within them."""
    for graph in graphs:
        yield from graph.every_expr(recursive=False)


def is_output(node):
    """Whether the graph returns the node."""
    return any(node is each for each in node.top_graph.outputs)


def _changed_tensors(graphs):
    found = []
    for expr in every_expr(graphs):
        if isinstance(expr, SetAttr):
            owner = expr.args[0].owner
            found.append(attribute_of(owner, expr.name, None) if owner is not None else None)
            continue
        read = [attribute_value(node.expr) for node in expr.inputs if isinstance(node, TensorNode)]
        read = [value for value in read if value is not None]
        if read and expr.has_effect and not _keeps_inputs(expr):
            found += read
    return [value for value in found if value is not None]


def _keeps_inputs(expr):
    """Whether its effect is on no input: a batch normalisation in inference, a random draw."""
    if not isinstance(expr, CallFunction):
        return False
    if expr.func is batch_norm:
        return plain_value(named_args(expr)["training"]) is False
    return expr.func is dropout or expr.func.__module__ == "tessera.random"


def may_be_changed(node):
    """Whether a reader may change the tensor itself, as `+=` does: reads of it cannot move then."""
    return any(_may_change(expr, node) for expr in node.users)


def _may_change(expr, node):
    if isinstance(expr, SetAttr) or not expr.has_effect or _keeps_inputs(expr):
        return False
    if isinstance(expr, CallMethod) and expr.method != "__call__":
        return expr.args[0] is node
    return not isinstance(expr, CallMethod) or expr.graph is not None


def attribute_value(expr):
    """The tensor or the module that an expression reads from a module, or has; None: it computes
    something.
    """
    if isinstance(expr, Constant):
        return expr.value
    if isinstance(expr, GetAttr) and isinstance(expr.args[0], ModuleNode):
        return attribute_of(expr.args[0].owner, expr.name, None)
    return None


def readers_of(module, graphs):
    """The expressions that call the module, or read something of it or below."""
    kept = {id(each) for each in module.modules()} | {id(each) for each in module.tensors()}
    return [
        expr
        for expr in every_expr(graphs)
        if any(isinstance(node, ModuleNode) and id(node.owner) in kept for node in expr.inputs)
        or (
            isinstance(expr, GetAttr)
            and not isinstance(expr.result, ModuleNode)
            and id(attribute_value(expr)) in kept
        )
    ]


def make_constant(graph, value, before, name="const_tensor"):
    """The node of a new constant, which stands before the expression `before`."""
    expr = Constant(graph, value, before.line)
    kind = ModuleNode if isinstance(value, Module) else TensorNode
    expr.result = new_node(expr, name, kind, value)
    graph.insert_at(next(i for i, each in enumerate(graph.own_exprs) if each is before), [expr])
    return expr.result


def replace_expr(expr, new, takes_name=True):
    """Has the readers of the only output of `expr` read the node `new`, which takes its name; drops
    `expr` and what nobody reads then. Returns the expression of `new`.
    """
    graph, (old,) = expr.top_graph, expr.outputs
    graph.replace_node({old: new})
    drop_expr(expr)
    graph.compile()
    if takes_name:
        new.name = old.name
    return new.expr


def drop_expr(expr):
    """Takes an expression whose outputs nobody reads out of its graph, even if it has an effect."""
    graph = expr.top_graph
    graph.own_exprs = [each for each in graph.own_exprs if each is not expr]
    expr.set_arguments((), {})
    expr.top_graph = None
    graph.changed()
