"""A graph of ONNX as a list of steps over values by name."""

from .. import _core
from .brought import caller_of, find_brought
from .constants import constant_array
from .integer_chains import with_integer_chains
from .node import Node
from .package import defs
from .registry import find
from .values import array_of, tensor_of

_MOST_SIZES = 64  # elements of a tensor that holds sizes: ops/graphs/SizeValues.h


class Graph:
    """The nodes of a graph in their order, each with the function that computes it. A graph within
    another one sees the values of that.

    NotImplementedError: Tessera must have every operator.
    """

    def __init__(self, proto, opset, folder="", outer=None):
        self.name, self.opset, self.folder = proto.name, opset, folder
        self.known = dict(outer.known) if outer else {}  # arrays by name, those of outer graphs too
        self.element_types = dict(outer.element_types) if outer else {}  # of ONNX, by name
        self.inputs = [value.name for value in proto.input]
        self.outputs = [value.name for value in proto.output]
        self.types = {value.name: value.type for value in [*proto.input, *proto.output]}
        self.constants = {}
        for value in [*proto.input, *proto.value_info, *proto.output]:
            self.element_types[value.name] = value.type.tensor_type.elem_type
        for initializer in proto.initializer:
            self.element_types[initializer.name] = initializer.data_type
            self._add_constant(initializer.name, array_of(initializer, "onnx", folder))
        for sparse in proto.sparse_initializer:
            raise NotImplementedError(
                f"onnx: initializers must be dense, got the sparse {sparse.values.name!r}"
            )
        for name in self.inputs:
            if name not in self.constants:
                self.known.pop(name, None)
        steps = [step for node in proto.node for step in self._step(node)]
        self.steps = with_integer_chains(steps, self.outputs, _Step)
        self._find_last_uses()

    def _add_constant(self, name, array):
        self.known[name] = array
        self.constants[name] = tensor_of(array)

    def _step(self, proto):
        who = f"in node {proto.name!r} of outputs {list(proto.output)}"
        if proto.domain not in ("", "ai.onnx"):
            yield self._brought_step(proto, who)
            return
        function = find(proto.op_type)
        if function is None and proto.op_type != "Constant":
            raise NotImplementedError(
                f"onnx: operator must be one that Tessera has, got {proto.op_type} {who}"
            )
        if not defs.has(proto.op_type, self.opset, ""):
            raise ValueError(f"onnx: opset {self.opset} must have {proto.op_type}, got it {who}")
        node = Node(proto, self.opset, self._subgraph, self.folder)
        if proto.op_type == "Constant":
            self._add_constant(node.outputs[0], constant_array(node))
            return
        yield self._step_of(node, function)

    def _brought_step(self, proto, who):
        row = find_brought(proto.domain, proto.op_type)
        if row is None:
            raise NotImplementedError(
                "onnx: operators must be of the default domain, or of a library that is loaded, "
                f"got {proto.domain}.{proto.op_type} {who}"
            )
        node = Node(proto, None, self._subgraph, self.folder)
        return self._step_of(node, caller_of(row, node))

    def _step_of(self, node, function):
        """The step of a node, which learns what the graph knows of its inputs."""
        node.constants = {
            place: self.known[name] for place, name in enumerate(node.inputs) if name in self.known
        }
        node.element_types = {
            place: self.element_types[name]
            for place, name in enumerate(node.inputs)
            if self.element_types.get(name)
        }
        for name in node.outputs:
            self.known.pop(name, None)
        return _Step(node, function)

    def _subgraph(self, proto):
        return Graph(proto, self.opset, self.folder, self)

    def _find_last_uses(self):
        seen = set(self.outputs)
        for step in reversed(self.steps):
            step.dying = [name for name in step.reads - seen if name not in self.constants]
            seen |= step.reads

    def reads(self):
        """The names of outer values that it takes."""
        made, read = set(self.inputs) | set(self.constants), set()
        for step in self.steps:
            read |= step.reads - made
            made |= set(step.node.outputs)
        return read | (set(self.outputs) - made)

    def _own_constants(self):
        """Its constants by name. In a trace small ones of integers are made anew: of what a
        function makes itself the trace knows the numbers, of which shapes are computed.
        """
        if not _core.is_recording():
            return self.constants
        return {
            name: tensor_of(self.known[name]) if _may_be_sizes(self.known[name]) else value
            for name, value in self.constants.items()
        }

    def run(self, values, scope=None):
        """The outputs, as a list, for `values` of the inputs by name; `scope`: outer values."""
        scope = {**(scope or {}), **self._own_constants(), **values}
        for step in self.steps:
            step.run(scope)
        return [scope[name] for name in self.outputs]

    def call(self, scope, *values):
        """As `run`, for a graph within another one."""
        return self.run(dict(zip(self.inputs, values, strict=True)), scope)


def _may_be_sizes(array):
    return array.dtype.kind in "iu" and array.size <= _MOST_SIZES


class _Step:
    """A node with its function, and the names whose values nobody reads later."""

    def __init__(self, node, function):
        self.node, self.function, self.dying = node, function, []
        graphs = [value for value in node.attributes.values() if isinstance(value, Graph)]
        self.has_graphs = bool(graphs)
        self.reads = {name for name in node.inputs if name}
        for graph in graphs:
            self.reads |= graph.reads()

    def run(self, scope):
        """Puts the values of the node's outputs into `scope`, where those of its inputs are."""
        node = self.node
        values = [scope[name] if name else None for name in node.inputs]
        try:
            if self.has_graphs:
                values.insert(0, scope)
            results = self.function(node, *values)
        except Exception as error:
            error.add_note(str(node))
            raise
        results = results if isinstance(results, tuple) else (results,)
        for name, result in zip(node.outputs, results, strict=False):
            if name:
                scope[name] = result
        for name in self.dying:
            scope.pop(name, None)
