"""Calls of functions over axes, as calls.py: sums, extrema, order, distinct elements."""

import numpy as np

from tests.frontends.python.array_api.calls import Call, dtypes_of, special_floats, values

AXES = [None, 0, -1, (0, 2), ()]


def arrays(dtype):
    return [values(dtype, 2, 3, 4), values(dtype, 2, 0, 4), values(dtype, 1, 1, 2)]


def reductions():
    for dtype in dtypes_of("iufc"):
        kind = np.dtype(dtype).kind
        for x in arrays(dtype):
            yield from sums(x, kind)
            if kind in "iuf" and x.size:
                yield from extrema(x)
            if kind in "iuf" and x.size:
                yield Call("max", (x,), {"axis": 1})
        yield from running(values(dtype, 2, 3, 4) % 3 if kind in "iu" else values(dtype, 2, 3, 4))
        yield Call("sum", (values(dtype),), {})
        yield Call("prod", (values(dtype),), {})
    for dtype in dtypes_of("fc"):
        for x in arrays(dtype):
            for axis in AXES[:4]:
                yield Call("mean", (x,), {"axis": axis})
    for dtype in dtypes_of("f"):
        yield from moments(values(dtype, 2, 3, 4))
        for name in ("sum", "max", "min", "mean", "std"):
            yield Call(name, (special_floats(dtype)[3:],), {})
            yield Call(name, (special_floats(dtype)[:6],), {})
    for dtype in dtypes_of("biufc"):
        for x in arrays(dtype):
            for name in ("all", "any", "count_nonzero"):
                for axis in AXES:
                    yield Call(name, (x,), {"axis": axis})
                yield Call(name, (x,), {"axis": 1, "keepdims": True})
        yield Call("all", (values(dtype),), {})


def sums(x, kind):
    for axis in AXES:
        yield Call("sum", (x,), {"axis": axis})
        yield Call("prod", (x,) if kind != "i" else (x % 3,), {"axis": axis})
    yield Call("sum", (x,), {"axis": 1, "keepdims": True})
    yield Call("prod", (x % 2 if kind in "iu" else x,), {"axis": (1, 2), "keepdims": True})
    wide = {"i": "int64", "u": "uint64", "f": "float64", "c": "complex128"}[kind]
    yield Call("sum", (x,), {"dtype": np.dtype(wide)})
    yield Call("prod", (x % 3 if kind in "iu" else x,), {"dtype": np.dtype(wide), "axis": 0})


def extrema(x):
    for name in ("max", "min"):
        for axis in AXES:
            yield Call(name, (x,), {"axis": axis})
        yield Call(name, (x,), {"axis": (0, 1), "keepdims": True})
    for name in ("argmax", "argmin"):
        for axis in (None, 0, -1):
            yield Call(name, (x,), {"axis": axis})
            yield Call(name, (x,), {"axis": axis, "keepdims": True})


def running(x):
    for name in ("cumulative_sum", "cumulative_prod"):
        for axis in (0, 1, -1):
            yield Call(name, (x,), {"axis": axis})
            yield Call(name, (x,), {"axis": axis, "include_initial": True})
        yield Call(name, (x[0, 0],), {})
        yield Call(name, (x[:, :0],), {"axis": 1, "include_initial": True})
        wide = {"i": "int64", "u": "uint64", "f": "float64", "c": "complex128"}[x.dtype.kind]
        yield Call(name, (x,), {"axis": 0, "dtype": np.dtype(wide)})
    for n in (0, 1, 2, 3):
        yield Call("diff", (x,), {"n": n})
    yield Call("diff", (x,), {"axis": 0, "prepend": x[:1], "append": x})


def moments(x):
    for name in ("var", "std"):
        for axis in (None, 0, (0, 2)):
            for correction in (0.0, 1, 2.0, 100.0):
                yield Call(name, (x,), {"axis": axis, "correction": correction})
        yield Call(name, (x,), {"axis": 1, "keepdims": True})
        yield Call(name, (x[:, :0],), {"axis": 1})


def orders():
    for dtype in dtypes_of("iuf"):
        for x in [values(dtype, 4, 5), values(dtype, 2, 0), values(dtype, 9)]:
            for descending in (False, True):
                for axis in (-1, 0):
                    key = {"axis": axis, "descending": descending}
                    yield Call("sort", (x,), key)
                    yield Call("argsort", (x,), key)
        line, some = np.sort(values(dtype, 9)), values(dtype, 2, 4, seed=3)
        for side in ("left", "right"):
            yield Call("searchsorted", (line, some), {"side": side})
            yield Call("searchsorted", (line[:0], some), {"side": side})
        order = np.random.RandomState(1).permutation(9)
        back = np.argsort(order)
        yield Call("searchsorted", (line[back], some), {"sorter": order})


def searches():
    for dtype in dtypes_of("biufc"):
        for x in (values(dtype, 3, 4), values(dtype, 5), values(dtype, 0, 2)):
            yield Call("nonzero", (x,), {})
            for name in ("all", "counts", "inverse", "values"):
                yield Call(f"unique_{name}", (x,), {})
        mask = values("bool", 3, 1)
        yield Call("where", (mask, values(dtype, 3, 4), values(dtype, 4, seed=2)), {})
    for dtype in dtypes_of("f"):
        x = special_floats(dtype)
        yield Call("where", (x > 0, x, x[:1]), {})
        yield Call("where", (x > 0, x, 1.5), {})
        yield Call("unique_counts", (np.concatenate([x, x[:6]]),), {})
