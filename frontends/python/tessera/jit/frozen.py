"""The contents of objects of C types as plain values, by which two states of one are compared."""

import types
import warnings
from collections import OrderedDict

import numpy as np

_PLAIN = (int, float, complex, str, bytes, type(None))
_UNCHANGING = (type, types.FunctionType, np.dtype)  # dtypes of tensors have no fields
_MAX_BYTES = 4096  # a larger buffer is not compared
_MAX_DEPTH = 4
_CONSTRUCTOR = 2  # parts of a reduction behind which are iterators over elements


def frozen(value):
    """Tuples of plain values, and objects of classes that Python code made, which are looked at by
    their attributes.

    The object itself where it has more bytes than are compared, or is known by its name alone.
    TypeError: the type must have a buffer, or be one that can be copied.
    """
    return _frozen(value, 0)


def _frozen(value, depth):
    kind = type(value)
    if kind in _PLAIN or depth > _MAX_DEPTH or isinstance(value, _UNCHANGING):
        return value
    if isinstance(value, np.ndarray):
        return _of_array(value, depth)
    if isinstance(value, (OrderedDict, dict)):
        pairs = tuple((key, _frozen(item, depth + 1)) for key, item in value.items())
        return (kind, *pairs)
    if kind in (list, tuple):
        return (kind, *(_frozen(item, depth + 1) for item in value))
    if kind in (set, frozenset):
        return kind, frozenset(value)
    if depth and (kind.__flags__ & _HEAP and not kind.__flags__ & _IMMUTABLE):
        return value  # of a class that a statement made, or of an extension
    return _of_buffer(value) if _has_buffer(value) else _reduced(value, depth)


_HEAP, _IMMUTABLE = 1 << 9, 1 << 8  # Py_TPFLAGS_HEAPTYPE, Py_TPFLAGS_IMMUTABLETYPE


def _of_array(value, depth):
    if value.dtype.hasobject:
        return (value.shape, *(_frozen(item, depth + 1) for item in value.ravel()[:_MAX_BYTES]))
    if value.nbytes > _MAX_BYTES:
        return value
    return value.dtype.str, value.shape, value.tobytes()


def _has_buffer(value):
    try:
        memoryview(value).release()
    except (TypeError, ValueError, BufferError):
        return False
    return True


def _of_buffer(value):
    with memoryview(value) as view:
        if view.nbytes > _MAX_BYTES:
            return value
        return type(value), view.format, view.shape, view.tobytes()


def _reduced(value, depth):
    """As copy.copy would make another one."""
    parts = _reduction(value)
    if isinstance(parts, str):
        return value
    made = [_frozen(part, depth + 1) for part in parts[1 : _CONSTRUCTOR + 1]]
    for part in parts[_CONSTRUCTOR + 1 : 5]:
        if part is not None:
            made.append(tuple(_frozen(item, depth + 1) for item in part))
    return (type(value), *made)


def _reduction(value):
    if type(value).__module__ != "itertools":
        return value.__reduce_ex__(4)
    with warnings.catch_warnings():  # from Python 3.12 on each of them warns
        warnings.simplefilter("ignore", DeprecationWarning)
        return value.__reduce_ex__(4)
