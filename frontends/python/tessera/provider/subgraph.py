"""Operators of a Network by themselves: what they read and give, recorded as a function."""

from .. import _core
from ..core import apply
from ..functional import zeros
from ..jit.trace import trace


def key_of(var):
    """The number of a variable's operator and that of the result, which tell variables apart."""
    node, result = _core.node_of(var)
    return node.serial, result


class Subgraph:
    """Operators of a Network, each behind what it reads, whose shapes are numbers.

    Args:
        nodes: the OpNodes
        outputs: the variables that others read; by default all that the operators give
    """

    def __init__(self, nodes, outputs=None):
        self.nodes = list(nodes)
        given = [var for node in self.nodes for var in node.outputs]
        self.outputs = given if outputs is None else list(outputs)
        own = {key_of(var) for var in given}
        read = {key_of(var): var for node in self.nodes for var in node.inputs}
        outside = [var for key, var in read.items() if key not in own]
        self.inputs = [var for var in outside if var.owner._node.kind != "constant"]
        self.constants = [var for var in outside if var.owner._node.kind == "constant"]

    def __call__(self, *tensors):
        """The outputs as a tuple, by Tessera's own operators."""
        values = {key_of(var): var.owner._node.value for var in self.constants}
        values.update(zip(map(key_of, self.inputs), tensors, strict=True))
        for node in self.nodes:
            results = apply(node.opdef, *(values[key_of(var)] for var in node.inputs))
            values.update(zip(map(key_of, node.outputs), results, strict=True))
        return tuple(values[key_of(var)] for var in self.outputs)

    def to_onnx(self, opset):
        """The bytes of a model of ONNX with inputs "input0" and outputs "output0".

        ImportError: the package onnx must be installed. NotImplementedError: ONNX must have the
        operators. ValueError: shapes must be numbers.
        """
        from ..onnx.export import model_of

        examples = [zeros(_sizes(var), dtype=var.dtype) for var in self.inputs]
        traced = trace(self.__call__, record_only=True)
        traced.__name__ = "subgraph"
        traced(*examples)
        names = [f"input{i}" for i in range(len(self.inputs))]
        outputs = [f"output{i}" for i in range(len(self.outputs))]
        return model_of(traced, names, outputs, {}, opset, is_told=False).SerializeToString()

    def __repr__(self):
        return f"Subgraph({self.nodes}, outputs={self.outputs})"


def _sizes(var):
    if not all(type(size) is int for size in var.shape):  # free ones are of a subclass
        raise ValueError(f"provider: shapes must be numbers, got {var!r}")
    return tuple(var.shape)
