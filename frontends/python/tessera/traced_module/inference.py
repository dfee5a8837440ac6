"""Shapes and dtypes of a graph's nodes for other arguments, without data."""

from .. import _core
from ..jit.estimate import Spec
from ..jit.recording import record
from ..tensor import Tensor
from .node import ScalarNode, TensorNode
from .pytree import map_leaves
from .stepping import Steps
from .unchanged import Unchanged


class Inference:
    """The part of InternalGraph that finds out what its nodes are."""

    def infer(self, *args, **kwargs):
        """Finds shape, dtype and device of every node for these arguments of the module, here, in
        the graphs that are called and in bodies, and notes them. Nothing is computed.

        Args:
            args, kwargs: the arguments that forward takes; a tensor among them may be a
                `jit.Spec(shape, dtype)`

        Returns:
            the result: tensors of shapes and dtypes, without values

        Raises:
            ValueError: shapes must fit, and must not depend on data; arguments must be as they
                were recorded; a body is no graph of a module. Then nodes are as before

        A graph that is called several times has what its first call gives.

        >>> import tessera.functional as F
        >>> import tessera.module as M
        >>> import tessera.traced_module as tm
        >>> from tessera.jit import Spec
        >>> net = tm.trace_module(M.Sequential(M.Linear(3, 2), M.ReLU()), F.zeros((4, 3)))
        >>> net.graph.infer(Spec((7, 3))).shape
        (7, 2)
        >>> [node.shape for node in net.graph.nodes() if node.type_name == "Tensor"]
        [(7, 3), (7, 2), (7, 2)]
        """
        if self.owner is None:
            raise ValueError(
                f"infer: the graph must be of a module that is there, got {self.qualname}, a body, "
                f"or of a module that nobody holds"
            )
        values = {}
        self.signature.bind(self.name, values, map_leaves(_tensor, args),
                            map_leaves(_tensor, kwargs))  # fmt: skip
        return self._infer(values)

    def _infer(self, inputs):
        """Notes what follows from the values of the inputs, tensors or Specs by ids of nodes."""
        values = {id(node): _known(node) for node in self.inputs}
        values.update((key, _tensor(value)) for key, value in inputs.items())
        values[id(self.owner_input)] = self.owner
        inferred = _Inferred()
        tensors = [value for value in values.values() if isinstance(value, Tensor)]
        with Unchanged(self.owner) as kept:
            kept.has_effects = False  # of tensors, which record() leaves as they are
            result, _ = record(inferred.run, tensors, (self, values), {}, run=False)
        inferred.note()
        return result


def _tensor(leaf):
    """The tensor without values that a Spec stands for."""
    if isinstance(leaf, Spec):
        return _core.valueless_tensor(list(leaf.shape), leaf.dtype)
    return leaf


def _known(node):
    """The value of an input that nobody gives."""
    return node.value if isinstance(node, ScalarNode) else None


class _Inferred(Steps):
    """A run without data, which keeps what the values of nodes are."""

    def __init__(self):
        self._found = {}  # (node, value) by id

    def seen(self, graph, expr, nodes, values):
        """Keeps the values of the first call."""
        for node, value in zip(nodes, values, strict=True):
            self._found.setdefault(id(node), (node, value))

    def note(self):
        """Tells the nodes."""
        for node, value in self._found.values():
            if isinstance(node, TensorNode) and isinstance(value, Tensor):
                node.describe(value)
            elif isinstance(node, ScalarNode):
                node.value = type(node.value)(value)
