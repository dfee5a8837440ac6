"""Tensors from shapes and numbers."""

import math

import numpy as np

from ... import functional as _functional
from ... import random as _random
from ..._core import ops as _ops
from ..package import onnx
from ..registry import importer
from ..values import dtype_of
from .elementwise import cast


def sizes_as_tensor(sizes):
    """Sizes of a shape as int64[n]."""
    if not sizes:
        return _ops.full([0], 0, "int64")
    parts = [_ops.reshape(_ops.scalar_tensor(size, "int64"), (1,)) for size in sizes]
    return _ops.concat(parts, 0)


@importer("Shape")
def _shape(node, x):
    return sizes_as_tensor(list(x.shape)[slice(node["start"], node["end"])])


@importer("Size")
def _size(node, x):
    return _ops.scalar_tensor(math.prod(x.shape), "int64")


@importer("ConstantOfShape")
def _constant_of_shape(node, shape):
    value = node["value"]
    value = np.zeros(1, "float32") if value is None else value.reshape(-1)
    return filled(node.sizes(0, shape), value[0])


def filled(shape, value):
    """One NumPy scalar everywhere, exact in each dtype."""
    if value.dtype.kind in "iu" and abs(int(value)) > 1 << 53:
        whole = _ops.scalar_tensor(int(value), value.dtype.name)
        return _ops.copy(_ops.broadcast_to(whole, shape))
    number = value.item()
    return _ops.full(shape, number, value.dtype.name)


@importer("EyeLike")
def _eye_like(node, x):
    dtype = x.dtype.name if node["dtype"] is None else dtype_of(node["dtype"], str(node))
    rows, columns = x.shape
    offset = node["k"]
    column = _ops.reshape(_ops.arange(columns, 0, 1, "int32"), (1, columns))
    row = _ops.reshape(_ops.arange(rows, offset, 1, "int32"), (rows, 1))
    return cast(_ops.equal(row, column), dtype)


@importer("Range")
def _range(node, start, limit, delta):
    dtype = start.dtype.name
    values = enumerate((start, limit, delta))
    start, limit, delta = (node.number(place, value) for place, value in values)
    if isinstance(start, float):
        count = max(0, math.ceil((limit - start) / delta))
        return _ops.arange(count, start, delta, dtype)
    return _functional.arange(start, limit, delta, dtype=dtype)


@importer("OneHot")
def _one_hot(node, indices, depth, values):
    depth = _count(node, depth)
    indices = cast(indices, "int64")
    axis = node["axis"] % (indices.ndim + 1)
    index = _ops.expand_dims(_ops.where(indices < 0, indices + depth, indices), [axis])
    shape = [1] * index.ndim
    shape[axis] = depth
    places = _ops.reshape(_ops.arange(depth, 0, 1, "int64"), shape)
    return _ops.where(_ops.equal(index, places), values[1], values[0])


def _count(node, depth):
    """The number of classes, which may be a float."""
    if depth.dtype.kind == "f":
        return int(node.number(1, depth))
    depth = node.sizes(1, depth)
    return depth[0] if isinstance(depth, list) else depth


def _random_dtype(node, x=None):
    if node["dtype"] is not None:
        return dtype_of(node["dtype"], str(node))
    return "float32" if x is None else x.dtype.name


def _drawn(node, draw, x):
    """Random numbers of the process's generator: a node's seed is not followed."""
    shape = list(node["shape"] if x is None else x.shape)
    return cast(draw(shape), _random_dtype(node, x))


@importer("RandomUniform", "RandomUniformLike")
def _random_uniform(node, x=None):
    return _drawn(node, lambda size: _random.uniform(node["low"], node["high"], size), x)


@importer("RandomNormal", "RandomNormalLike")
def _random_normal(node, x=None):
    return _drawn(node, lambda size: _random.normal(node["mean"], node["scale"], size), x)


@importer("Bernoulli")
def _bernoulli(node, x):
    drawn = _random.uniform(0.0, 1.0, list(x.shape))
    return cast(drawn < cast(x, "float32"), _random_dtype(node, x))


@importer("Multinomial")
def _multinomial(node, x):
    """Classes by the Gumbel-max trick: E. J. Gumbel, Statistical Theory of Extreme Values, 1954."""
    dtype = dtype_of(node["dtype"] or onnx.TensorProto.INT32, str(node))
    rows, classes = x.shape
    drawn = _random.uniform(0.0, 1.0, [rows, node["sample_size"], classes])
    noise = -_ops.log(-_ops.log(drawn))
    return cast(_ops.argmax(noise + _ops.expand_dims(cast(x, "float32"), [1]), 2), dtype)


@importer("Dropout")
def _dropout(node, x, ratio=None, training=None):
    """Nothing is dropped unless training says so, an input from opset 12 on."""
    kept = _ops.full(list(x.shape), 1, "bool")
    if training is None or not node.number(2, training):
        return x, kept
    rate = 0.5 if ratio is None else float(node.number(1, ratio))
    kept = _random.uniform(0.0, 1.0, list(x.shape)) >= rate
    scale = cast(kept, x.dtype.name) / (1 - rate) if rate < 1 else cast(kept, x.dtype.name)
    return x * scale, kept
