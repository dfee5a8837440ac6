"""Sizes within a traced function."""

import numbers
import operator

import numpy as np

from .. import _core


class SymInt:
    """A size of a tensor while its function is traced: an expression of the arguments' sizes.

    >>> import tessera
    >>> @tessera.jit.trace
    ... def halves(x):
    ...     return x.reshape(2, x.shape[0] // 2)
    >>> [halves(tessera.functional.ones(n)).shape for n in (6, 6, 8, 10)]
    [(2, 3), (2, 3), (2, 4), (2, 5)]

    `+ - * // %`, `max` and `min` of it with ints stay expressions, which operators take where they
    take sizes: so the program serves other sizes, too. It is no `int`, but converts to one wherever
    Python or NumPy wants an index: that and comparisons use the size of the recorded call, so that
    the program serves the sizes for which the function does the same. It prints as the expression.

    The expressions are those of JAX's symbolic dimensions (jax.export.symbolic_shape).
    """

    __slots__ = ("_handle", "_recording", "_value")

    def __init__(self, handle, value, recording):
        self._handle, self._value, self._recording = handle, value, recording

    def __index__(self):
        return self._value

    __int__ = __index__

    def __float__(self):
        return float(self._value)

    def __bool__(self):
        return bool(self._value)

    def __hash__(self):
        return hash(self._value)

    def __repr__(self):
        return _core.size_text(self._handle)

    def __format__(self, spec):
        return format(self._value, spec) if spec else repr(self)

    def __reduce__(self):
        return int, (self._value,)

    def __array__(self, dtype=None, copy=None):
        return np.array(self._value, dtype)

    def __neg__(self):
        return 0 - self

    def __pos__(self):
        return self

    def __abs__(self):
        return abs(self._value)

    def __round__(self, digits=None):
        return self if digits is None else round(self._value, digits)

    def __floor__(self):
        return self

    __ceil__ = __trunc__ = __floor__

    def __divmod__(self, other):
        return self // other, self % other

    def __rdivmod__(self, other):
        return other // self, other % self


def _value_of(number):
    """Of a SymInt or another number; None: it is none."""
    if isinstance(number, SymInt):
        return number._value
    return number if isinstance(number, (int, float, complex)) else None


def _combined(kind, compute, first, second):
    """`compute(first, second)` as an expression where both are sizes."""
    values = _value_of(first), _value_of(second)
    if None in values:
        return NotImplemented
    value = compute(*values)
    sizes = [each for each in (first, second) if isinstance(each, SymInt)]
    recording = sizes[0]._recording
    if not isinstance(value, int) or any(each._recording != recording for each in sizes):
        return value
    handles = (each._handle if isinstance(each, SymInt) else int(each) for each in (first, second))
    handle = _core.size_arithmetic(kind, *handles)
    return value if handle is None else SymInt(handle, value, recording)


def _arithmetic(kind, compute):
    def _forward(self, other):
        return _combined(kind, compute, self, other)

    def _reflected(self, other):
        return _combined(kind, compute, other, self)

    return _forward, _reflected


def _by_value(compute):
    """An operator of the values."""

    def _forward(self, other):
        value = _value_of(other)
        return NotImplemented if value is None else compute(self._value, value)

    def _reflected(self, other):
        value = _value_of(other)
        return NotImplemented if value is None else compute(value, self._value)

    return _forward, _reflected


for _name, _compute in [
    ("add", operator.add),
    ("sub", operator.sub),
    ("mul", operator.mul),
    ("floordiv", operator.floordiv),
    ("mod", operator.mod),
]:
    _forward, _reflected = _arithmetic(_name, _compute)
    setattr(SymInt, f"__{_name}__", _forward)
    setattr(SymInt, f"__r{_name}__", _reflected)
for _name in ("truediv", "pow", "and", "or", "xor", "lshift", "rshift"):
    _compute = getattr(operator, f"__{_name}__")
    _forward, _reflected = _by_value(_compute)
    setattr(SymInt, f"__{_name}__", _forward)
    setattr(SymInt, f"__r{_name}__", _reflected)
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(SymInt, f"__{_name}__", _by_value(getattr(operator, _name))[0])

numbers.Integral.register(SymInt)
_core.set_symint(SymInt)
