"""An engine in NumPy for operators whose bits IEEE 754 fixes: they are those that Tessera gives."""

import json

import numpy as np
from tessera.provider import Provider, Signature, Value
from tessera.provider.operator import ProviderOperator
from tessera.provider.subgraph import key_of

_FUNCTIONS = {
    "Abs": np.abs, "Add": np.add, "Mul": np.multiply, "Neg": np.negative, "Sub": np.subtract,
}  # fmt: skip
_DTYPES = ("float32", "float64")


class Exact(Provider):
    """A program lists inputs, constants, steps and outputs; values are numbered in this order."""

    name = "exact"

    def claims(self, node):
        """Operators of one float dtype, with sizes that are numbers."""
        values = [*node.inputs, *node.outputs]
        dtypes = {np.dtype(each.dtype).name for each in values}
        sizes = [size for each in values for size in each.shape]
        return (
            node.opdef.name in _FUNCTIONS
            and len(dtypes) == 1
            and dtypes <= set(_DTYPES)
            and all(type(size) is int for size in sizes)  # free ones are of a subclass
        )

    def compile(self, subgraph):
        """See the base."""
        known = [*subgraph.inputs, *subgraph.constants]
        places = {key_of(var): place for place, var in enumerate(known)}
        steps = []
        for node in subgraph.nodes:
            steps.append((node.opdef.name, [places[key_of(var)] for var in node.inputs]))
            places[key_of(node.outputs[0])] = len(places)
        constants = [var.owner._node.value.numpy() for var in subgraph.constants]
        outputs = [(*_described(var), places[key_of(var)]) for var in subgraph.outputs]
        return program_of([_described(var) for var in subgraph.inputs], constants, steps, outputs)

    def open(self, program):
        """See the base."""
        read = json.loads(program)
        read["constants"] = [
            np.frombuffer(bytes.fromhex(data), dtype).reshape(shape)
            for dtype, shape, data in read["constants"]
        ]
        return read

    def signature(self, executable):
        """See the base."""
        inputs = [Value(f"x{i}", *_value(each)) for i, each in enumerate(executable["inputs"])]
        outputs = [Value(f"y{i}", *_value(each)) for i, each in enumerate(executable["outputs"])]
        return Signature(tuple(inputs), tuple(outputs))

    def run(self, executable, inputs, outputs):
        """See the base."""
        values = [*inputs, *executable["constants"]]
        with np.errstate(all="ignore"):
            for name, places in executable["steps"]:
                values.append(_FUNCTIONS[name](*(values[place] for place in places)))
        for output, (*_, place) in zip(outputs, executable["outputs"], strict=True):
            output[...] = values[place]


def program_of(inputs, constants, steps, outputs):
    """The bytes of a program: (dtype, shape) of inputs, arrays, (operator, places) of steps, and
    (dtype, shape, place) of outputs.
    """
    held = [(each.dtype.name, each.shape, each.tobytes().hex()) for each in constants]
    parts = {"inputs": inputs, "constants": held, "steps": steps, "outputs": outputs}
    return json.dumps(parts).encode()


def _described(var):
    return np.dtype(var.dtype).name, tuple(var.shape)


def _value(described):
    dtype, shape, *_ = described
    return dtype, tuple(shape)


EXACT = Exact()


def folded():
    """An operator of the engine: |x| * x - 0.5 of a float32 vector of any size."""
    vector = ("float32", ("N",))
    steps = [("Abs", [0]), ("Mul", [2, 0]), ("Sub", [3, 1])]
    program = program_of([vector], [np.float32([0.5])], steps, [(*vector, 4)])
    return ProviderOperator(EXACT, program, "folded")
