"""A call's arguments as JSON, whose tensors are numbers of arrays, and back."""

import numpy as np

# What the recorder marks: a tensor, of the dtype of the run or of one of its own.
OF_RUN = "run"


def encode(value, leaf):
    """JSON of an argument; `leaf(value)` is that of a tensor or a dtype, None for all else."""
    found = leaf(value)
    if found is not None:
        return found
    if isinstance(value, (list, tuple)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [encode(each, leaf) for each in value]}
    if isinstance(value, dict):
        return {"dict": {name: encode(each, leaf) for name, each in value.items()}}
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        return {"slice": [encode(each, leaf) for each in parts]}
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if value is Ellipsis:
        return {"ellipsis": True}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"opinfo: an argument must be of a known type, got {type(value).__name__}")


def decode(value, tensor, dtype=str):
    """The argument; `tensor(row)` makes a tensor, `dtype(name)` a dtype."""
    if not isinstance(value, dict):
        return value
    ((kind, inner),) = value.items()
    simple = {"tensor": tensor, "dtype": dtype, "complex": lambda parts: complex(*parts),
              "ellipsis": lambda _: Ellipsis}  # fmt: skip
    if kind in simple:
        return simple[kind](inner)
    if kind == "dict":
        return {name: decode(each, tensor, dtype) for name, each in inner.items()}
    parts = [decode(each, tensor, dtype) for each in inner]
    return {"list": list, "tuple": tuple, "slice": lambda p: slice(*p)}[kind](parts)


def kept(size, most=64):
    """Which elements of a flattened result are kept: all of a small one, else evenly spread."""
    return np.arange(size) if size <= 2 * most else np.arange(most) * size // most


def cotangent(shape, number, complex_result):
    """What the gradient of result `number` starts from: multiples of 1/8, exact in every dtype."""
    random = np.random.RandomState(number)
    parts = [random.randint(1, 17, shape) * random.choice((-1, 1), shape) / 8 for _ in range(2)]
    return parts[0] + 1j * parts[1] if complex_result else np.asarray(parts[0])
