"""Calls of 50 operators on random shapes, and a model of the classes they fall into."""

import numpy as np
import tessera
from tessera import _core

# With the same function in NumPy, where it has one.
UNARY = {
    "Abs": np.abs, "Neg": np.negative, "Sign": np.sign, "Square": np.square, "Ceil": np.ceil,
    "Cos": np.cos, "Cosh": np.cosh, "Erf": None, "Exp": np.exp, "Expm1": np.expm1,
    "Floor": np.floor, "Log": np.log, "Log1p": np.log1p, "Reciprocal": np.reciprocal,
    "Rsqrt": None, "Sin": np.sin, "Sinh": np.sinh, "Sqrt": np.sqrt, "Tanh": np.tanh,
    "Trunc": np.trunc, "Relu": None, "Relu6": None, "Sigmoid": None, "LeakyRelu": None,
}  # fmt: skip
BINARY = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Mod": np.mod,
    "Maximum": np.maximum, "Minimum": np.minimum, "Pow": np.power, "Atan2": np.arctan2,
    "Less": np.less, "Equal": np.equal, "Greater": np.greater, "Logaddexp": np.logaddexp,
}  # fmt: skip
REDUCTION = {"Sum": np.sum, "Max": np.max, "Min": np.min, "Mean": np.mean, "Prod": np.prod}
ALONG = {"Softmax": None, "LogSoftmax": None, "Argmax": np.argmax, "Argmin": np.argmin}
MOVEMENT = {"Concat": None, "Stack": None, "Pad": None}
OPERATORS = [*UNARY, *BINARY, *REDUCTION, *ALONG, *MOVEMENT, "Matmul"]


def _ones(shape):
    """What a program's class knows of a shape."""
    return tuple(size == 1 for size in shape)


def _merged(shapes):
    """Runs of axes along which the same operands are broadcast; axes of size 1 are none."""
    masks = []
    for sizes in zip(*_aligned(shapes), strict=True):
        mask = tuple(size == 1 for size in sizes)
        if not all(mask) and (not masks or masks[-1] != mask):
            masks.append(mask)
    return tuple(masks) or ((False,) * len(shapes),)


def _aligned(shapes):
    rank = max(map(len, shapes))
    return [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]


class Calls:
    """Random calls, one after the other; `classes` is what they need compiled."""

    def __init__(self, seed):
        self.random = np.random.RandomState(seed)
        self.classes, self.wrong = set(), []

    def call(self, checked=False):
        """One call; with `checked` its value is compared with NumPy's."""
        name = OPERATORS[self.random.randint(len(OPERATORS))]
        kinds = {"_unary": UNARY, "_binary": BINARY, "_reduction": REDUCTION, "_along": ALONG}
        kind = next((kind for kind, names in kinds.items() if name in names), f"_{name.lower()}")
        shapes, attrs, seen = getattr(self, kind)()
        self.classes.add((name, seen))
        arrays = [self.random.uniform(0.5, 2, shape).astype(np.float32) for shape in shapes]
        op = _core.op_class(name)(**attrs)
        (result,) = _core.apply(op, *map(tessera.Tensor, arrays))
        oracle = {**UNARY, **BINARY, **REDUCTION, **ALONG}.get(name)
        if checked and oracle:
            options = {key: tuple(v) if isinstance(v, list) else v for key, v in attrs.items()}
            if "axes" in options:
                options["axis"] = options.pop("axes")
            if not np.allclose(result.numpy(), oracle(*arrays, **options), rtol=1e-4):
                self.wrong.append((name, shapes, attrs))

    def _shape(self, low=0, high=5):
        rank = self.random.randint(low, high)
        return tuple(int(n) for n in self.random.choice([1, 2, 3, 5, 8, 17], rank))

    def _unary(self):
        return [self._shape()], {}, "any"

    def _binary(self):
        shape = self._shape()
        ones = self.random.rand(2, len(shape)) < 0.2
        shapes = [
            tuple(1 if one else size for one, size in zip(row, shape, strict=True)) for row in ones
        ]
        short = self.random.randint(len(shape) + 1) if self.random.rand() < 0.2 else 0
        shapes[1] = shapes[1][short:]
        return shapes, {}, _merged(shapes)

    def _reduction(self):
        shape = self._shape(1)
        axis = int(self.random.randint(len(shape)))
        return [shape], {"axes": [axis]}, (axis, _ones(shape))

    def _along(self):
        shape = self._shape(1)
        axis = int(self.random.randint(len(shape)))
        return [shape], {"axis": axis}, (axis, _ones(shape))

    def _concat(self):
        shape = self._shape(1, 4)
        return [shape, shape], {"axis": 0}, _ones(shape)

    def _stack(self):
        shape = self._shape(1, 4)
        return [shape, shape], {"axis": 1}, _ones(shape)

    def _pad(self):
        shape = self._shape(1, 4)
        low, high = [1] * len(shape), [2] * len(shape)
        return [shape], {"low": low, "high": high}, _ones(shape)

    def _matmul(self):
        m, k, n = (int(size) for size in self.random.choice([1, 2, 3, 5, 8], 3))
        return [(m, k), (k, n)], {}, "any"  # the library takes any size, 1 too
