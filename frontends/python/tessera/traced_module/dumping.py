"""A traced module as a program of a file."""

from ..functional import zeros
from ..jit.trace import trace
from ..tensor import Tensor
from .expr import SetAttr
from .node import Node, ScalarNode, TensorNode
from .pytree import leaves_of, map_leaves
from .unchanged import Unchanged


def dump(traced, path, options):
    """See TracedModule.dump."""
    graph = traced.graph
    _check(traced, graph)
    nodes = [node for node in graph.inputs if isinstance(node, TensorNode)]
    examples = [_example(node) for node in nodes]

    def _call(*tensors):
        values = {id(node): tensor for node, tensor in zip(nodes, tensors, strict=True)}
        args, kwargs = _arguments(graph, values)
        return [leaf for leaf in leaves_of(traced(*args, **kwargs)) if isinstance(leaf, Tensor)]

    _call.__name__ = traced.class_name
    call = trace(_call, capture_as_const=True)
    with Unchanged(traced):
        call(*examples)
    names = [node.name for node in nodes]
    outputs = [leaf.name for leaf in leaves_of(graph.output_tree) if isinstance(leaf, TensorNode)]
    if len(set(outputs)) == len(outputs) and not set(outputs) & set(names):
        options.setdefault("output_names", outputs)
    return call.dump(path, **{"arg_names": names, **options})


def _check(traced, graph):
    for expr in graph.every_expr():
        if isinstance(expr, SetAttr):
            raise NotImplementedError(
                f"dump: modules must keep their tensors, as a program has no attributes, got "
                f"'{expr}' of {expr.top_graph.qualname} ({expr.line})"
            )


def _example(node):
    if node.shape is None:
        raise ValueError(f"dump: the shapes of inputs must be known, got none of {node.name}")
    tensor = zeros(node.shape, dtype=str(node.dtype))
    return tensor.to(node.device) if node.device else tensor


def _arguments(graph, values):
    """(args, kwargs) of a call with these values of inputs, by ids of nodes."""

    def _value(leaf):
        if isinstance(leaf, ScalarNode):
            return leaf.value
        return values[id(leaf)] if isinstance(leaf, Node) else leaf

    args, kwargs = [], {}
    for each in graph.signature.parameters:
        value = map_leaves(_value, each.tree)
        if each.kind is each.kind.VAR_POSITIONAL:
            args += value
        elif each.kind is each.kind.VAR_KEYWORD:
            kwargs.update(value)
        elif each.kind is each.kind.KEYWORD_ONLY:
            kwargs[each.name] = value
        else:
            args.append(value)
    return args, kwargs
