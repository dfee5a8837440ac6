"""Calls of every function of the array API: dtypes, special values, shapes of zero size, broadcast.

A call is a name, arguments (arrays of NumPy, Python values) and keywords; test_array_api.py gives
them to Tessera and to array-api-strict.
"""

import itertools
from typing import NamedTuple

import numpy as np

REALS = ["float32", "float64"]
COMPLEX = ["complex64", "complex128"]
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
KINDS = {"b": ["bool"], "i": SIGNED, "u": UNSIGNED, "f": REALS, "c": COMPLEX}


class Call(NamedTuple):
    """One call; `name` may be in an extension, as linalg.det."""

    name: str
    args: tuple
    kwargs: dict


def dtypes_of(kinds):
    return [dtype for kind in kinds for dtype in KINDS[kind]]


def values(dtype, *shape, seed=0):
    """Numbers of a dtype that nothing overflows with."""
    rng, kind = np.random.RandomState(seed), np.dtype(dtype).kind
    if kind == "b":
        return np.asarray(rng.rand(*shape) > 0.4)
    if kind in "iu":
        return np.asarray(rng.randint(0 if kind == "u" else -6, 9, shape), dtype)
    parts = rng.uniform(-2, 2, shape)
    return np.asarray(parts + 1j * rng.uniform(-2, 2, shape) if kind == "c" else parts, dtype)


def special_floats(dtype):
    facts = np.finfo(dtype)
    ends = [facts.max, -facts.max, facts.tiny, facts.smallest_subnormal, -facts.smallest_subnormal]
    some = [1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3, 10, -7, 100, np.pi, np.pi / 2, 8, 1000, 1e-5, 1e5]
    return np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, *some, *ends], dtype)


def special(dtype):
    """The corners of a dtype."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.array([True, False])
    if kind in "iu":
        facts = np.iinfo(dtype)
        some = [0, 1, 2, 3, 7, 100] + ([-1, -2, -7] if kind == "i" else [])
        return np.array([*some, facts.min, facts.max, facts.max - 1], dtype)
    if kind == "f":
        return special_floats(dtype)
    part = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1, -1, 0.5, -2.5, 30, 1e-4], dtype)
    pairs = np.zeros((part.size, part.size), dtype)
    pairs.real, pairs.imag = part.real[:, None], part.real
    return pairs.reshape(-1)


# Functions of one element, with the kinds of their operands.
UNARY = {
    "abs": "iufc", "acos": "fc", "acosh": "fc", "asin": "fc", "asinh": "fc", "atan": "fc",
    "atanh": "fc", "bitwise_invert": "biu", "ceil": "iuf", "conj": "fc", "cos": "fc",
    "cosh": "fc", "exp": "fc", "expm1": "fc", "floor": "iuf", "imag": "c", "isfinite": "iufc",
    "isinf": "iufc", "isnan": "iufc", "log": "fc", "log10": "fc", "log1p": "fc", "log2": "fc",
    "logical_not": "b", "negative": "ifc", "positive": "iufc", "real": "fc", "reciprocal": "fc",
    "round": "iufc", "sign": "iufc", "signbit": "f", "sin": "fc", "sinh": "fc", "sqrt": "fc",
    "square": "iufc", "tan": "fc", "tanh": "fc", "trunc": "iuf",
}  # fmt: skip
BINARY = {
    "add": "iufc", "atan2": "f", "bitwise_and": "biu", "bitwise_left_shift": "iu",
    "bitwise_or": "biu", "bitwise_right_shift": "iu", "bitwise_xor": "biu", "copysign": "f",
    "divide": "fc", "equal": "biufc", "floor_divide": "iuf", "greater": "iuf",
    "greater_equal": "iuf", "hypot": "f", "less": "iuf", "less_equal": "iuf", "logaddexp": "f",
    "logical_and": "b", "logical_or": "b", "logical_xor": "b", "maximum": "iuf",
    "minimum": "iuf", "multiply": "iufc", "nextafter": "f", "not_equal": "biufc", "pow": "iufc",
    "remainder": "iuf", "subtract": "iufc",
}  # fmt: skip
SHAPES = [(), (7,), (2, 3), (2, 0, 3), (2, 3, 1, 5)]
PAIRS = [
    ((), ()), ((2, 3), (2, 3)), ((2, 3), (3,)), ((), (4,)), ((2, 1, 3), (5, 1)),
    ((2, 0, 3), (1,)), ((0, 3), (1, 3)), ((1, 1), (3, 1)),
]  # fmt: skip
NUMBERS = {"b": True, "i": 3, "u": 3, "f": 0.5, "c": 1.5 - 0.5j}


def unary():
    for name, kinds in UNARY.items():
        for dtype in dtypes_of(kinds):
            yield Call(name, (special(dtype),), {})
            yield Call(name, (values(dtype, 3, 4, seed=1)[::2, ::-1],), {})
            for shape in SHAPES:
                yield Call(name, (values(dtype, *shape),), {})


def operands(name, dtype, first, second):
    """What the standard gives a meaning to."""
    if name in ("bitwise_left_shift", "bitwise_right_shift"):
        second = np.asarray(np.abs(second) % (8 * np.dtype(dtype).itemsize), dtype)
    if name == "pow" and second.dtype.kind == "i":
        second = np.abs(second)
        second = np.where(second < 0, np.array(5, dtype), second)  # of the lowest integer
    if name in ("floor_divide", "remainder") and second.dtype.kind in "iu":
        second = np.where(
            (second == 0) | (second == np.array(-1).astype(dtype)), np.array(4, dtype), second
        )
    return first, second


def binary():
    for name, kinds in BINARY.items():
        for dtype in dtypes_of(kinds):
            corners = special(dtype)
            yield Call(name, operands(name, dtype, corners[:, None], corners[None]), {})
            for seed, (one, two) in enumerate(PAIRS):
                first, second = values(dtype, *one, seed=seed), values(dtype, *two, seed=seed + 9)
                yield Call(name, operands(name, dtype, first, second), {})
            number, some = NUMBERS[np.dtype(dtype).kind], values(dtype, 2, 3)
            yield Call(name, (operands(name, dtype, some, some)[1], number), {})
            if name != "pow" or dtype not in SIGNED:
                yield Call(name, (number, operands(name, dtype, some, some)[1]), {})


def mixed():
    """Operands of two dtypes of one kind."""
    for name in ("add", "multiply", "maximum", "equal", "pow", "where"):
        for kinds in ("i", "u", "f", "iu"):
            for one, two in itertools.product(dtypes_of(kinds), repeat=2):
                if {one[0], two[0]} == {"i", "u"} and "uint64" in (one, two):
                    continue
                first, second = values(one, 2, 3), np.abs(values(two, 3, seed=3))
                mask = (values("bool", 2, 3),) if name == "where" else ()
                yield Call(name, (*mask, first, second), {})


def clips():
    for dtype in dtypes_of("iuf"):
        x, low, high = values(dtype, 3, 4), values(dtype, 4, seed=4) // 2, values(dtype, 3, 1) + 12
        low = np.minimum(low, 5).astype(dtype)
        high = high.astype(dtype)
        for bounds in ({}, {"min": 1}, {"max": 3}, {"min": 1, "max": 3}, {"min": low, "max": high}):
            yield Call("clip", (x,), bounds)
        yield Call("clip", (special(dtype), 0, 2), {})


def creations():
    for dtype in [None, *dtypes_of("biufc")]:
        key = {} if dtype is None else {"dtype": np.dtype(dtype)}
        for name, shape in itertools.product(("zeros", "ones"), ((), 3, (2, 0), (2, 3))):
            yield Call(name, (shape,), key)
        for rows, columns, k in [(3, None, 0), (2, 4, 1), (4, 2, -1), (0, 3, 0), (3, 3, 5)]:
            yield Call("eye", (rows, columns), {**key, "k": k})
        for name in ("zeros_like", "ones_like"):
            yield Call(name, (values("int16", 2, 3),), key)
        yield Call("full_like", (values("float64", 2, 3), 1), key)
    for dtype in dtypes_of("iuf"):
        for args in [(5,), (1, 7), (1, 8, 3), (3, 3), (5, 1)]:
            yield Call("arange", args, {"dtype": np.dtype(dtype)})
    yield from [Call("arange", args, {}) for args in [(4,), (9, 1, -2), (0.0, 1.0, 0.25), (0,)]]
    big = 2**62 + 1
    yield Call("arange", (big, big + 4), {"dtype": np.dtype("int64")})
    for value in (True, 3, 2.5, 1.5 - 2j):
        yield Call("full", ((2, 3), value), {})
    yield Call("full", ((2,), 2**63 - 1), {"dtype": np.dtype("int64")})
    yield Call("full", ((), 2**64 - 1), {"dtype": np.dtype("uint64")})
    for dtype in REALS + COMPLEX:
        for args in [(0, 1, 5), (2.5, -2.5, 2), (3, 4, 1), (3, 4, 0), (0, 10, 1000)]:
            for endpoint in (True, False):
                yield Call("linspace", args, {"dtype": np.dtype(dtype), "endpoint": endpoint})
    yield Call("linspace", (1j, 2 - 1j, 4), {})


def of_arrays():
    for dtype in dtypes_of("biufc"):
        x = values(dtype, 2, 3, 4)
        for k in (0, 1, -2):
            yield Call("tril", (x,), {"k": k})
            yield Call("triu", (x,), {"k": k})
        for indexing in ("xy", "ij"):
            yield Call("meshgrid", (x[0, 0], x[0, :, 0]), {"indexing": indexing})
        for other in dtypes_of("biuf") if np.dtype(dtype).kind != "c" else COMPLEX:
            yield Call("astype", (np.abs(x).astype(dtype), np.dtype(other)), {})
        yield from manipulations(x)
        yield from manipulations(x[:, :0])
        yield from ranks(dtype)


def manipulations(x):
    yield Call("broadcast_to", (x, (5, *x.shape)), {})
    yield Call("broadcast_arrays", (x, x[0], x[:, :1]), {})
    for axis in (0, -1, None):
        yield Call("concat", ([x, x[::-1], x],), {"axis": axis})
        yield Call("flip", (x,), {"axis": axis})
        yield Call("roll", (x, 2), {"axis": axis})
        yield Call("repeat", (x, 2), {"axis": axis})
    yield Call("flip", (x,), {"axis": (0, 2)})
    yield Call("roll", (x, (1, -1)), {"axis": (0, 2)})
    yield Call("repeat", (x, np.arange(x.shape[1])), {"axis": 1})
    for axis in (0, 1, -1):
        yield Call("expand_dims", (x,), {"axis": axis})
        yield Call("stack", ([x, x[::-1]],), {"axis": axis})
        yield Call("unstack", (x,), {"axis": axis})
    yield Call("moveaxis", (x, 0, -1), {})
    yield Call("moveaxis", (x, (0, 1), (-1, 0)), {})
    yield Call("permute_dims", (x, (2, 0, 1)), {})
    yield Call("matrix_transpose", (x,), {})
    yield Call("reshape", (x, (x.shape[1], 8)), {})
    yield Call("reshape", (x, (2, -1, 4)), {"copy": True})
    yield Call("squeeze", (x[None, :, None], (0, 2)), {})
    yield Call("tile", (x, (2, 1, 3)), {})
    yield Call("tile", (x, (2,)), {})
    yield Call("take", (x, np.array([1, 0, 1])), {"axis": 0})
    yield Call("take", (x, np.array([], "int64")), {"axis": 2})
    yield Call("take_along_axis", (x, np.array([[[1]], [[3]]])), {})
    yield Call("take_along_axis", (x, np.zeros((1, x.shape[1], 4), "int32")), {"axis": 0})


def ranks(dtype):
    """Of rank 0 and 1."""
    zero, one = values(dtype), values(dtype, 5)
    for name in ("flip", "roll"):
        yield from [Call(name, (x, 1) if name == "roll" else (x,), {}) for x in (zero, one)]
    yield Call("expand_dims", (zero,), {"axis": 0})
    yield Call("reshape", (zero, (1, 1)), {})
    yield Call("concat", ([zero, one],), {"axis": None})
    yield Call("stack", ([zero, zero],), {})
    yield Call("take", (one, np.array([4, 0])), {})
    yield Call("broadcast_to", (zero, (2, 2)), {})
