"""Sizes within a traced function."""

import numbers
import operator

import numpy as np

from .. import _core


class SymInt:
    """A size of a tensor while its function is traced: an expression of the arguments' sizes.
    One of a network's variable (`utils.network`) has no number at all.

    >>> import tessera as ts
    >>> @ts.jit.trace
    ... def halves(x):
    ...     return x.reshape(2, x.shape[0] // 2)
    >>> [halves(ts.functional.ones(n)).shape for n in (6, 6, 8, 10)]
    [(2, 3), (2, 3), (2, 4), (2, 5)]

    `+ - * // %`, `sym_max` and `sym_min` of it with ints stay expressions, which operators take
    where they take sizes: so the program serves other sizes, too. It is an instance of `int`,
    though `type` says otherwise, and converts to one wherever Python or NumPy wants an index: that,
    its text and comparisons, as those of Python's `max`, use the size of the recorded call, so that
    the program serves the sizes for which the function does the same. One of a network prints as
    its expression.

    The expressions are those of JAX's symbolic dimensions (jax.export.symbolic_shape).
    """

    __slots__ = ("_handle", "_is_of_data", "_kept", "_recording", "_value")

    def __init__(self, handle, value, recording, is_of_data=False, kept=None):
        self._handle, self._value, self._recording = handle, value, recording
        self._is_of_data, self._kept = is_of_data, kept

    def _number(self):
        """Of the recorded call. A program repeats nothing that Python makes of one of data."""
        if not self._recording:
            raise ValueError(
                "shape: a free size of a network must stay an expression, got a use of "
                f"'{self.expression}' as a number"
            )
        if self._is_of_data:
            _core.note_data_read(self._recording)
        return self._value

    def __index__(self):
        return self._number()

    __int__ = __index__

    def __float__(self):
        return float(self._number())

    def __bool__(self):
        return bool(self._number())

    def __hash__(self):
        return hash(self._number())

    @property
    def __class__(self):
        """`int`, which it is wherever Python asks by isinstance."""
        return int

    @property
    def expression(self):
        """Its text, by the sizes of the arguments."""
        return _core.size_text(self._handle)

    def __repr__(self):
        return repr(self._number()) if self._recording else self.expression

    def __format__(self, spec):
        return format(self._number(), spec) if self._recording else format(self.expression, spec)

    def __reduce__(self):
        return int, (self._number(),)

    def __array__(self, dtype=None, copy=None):
        return np.array(self._number(), dtype)

    def __neg__(self):
        return 0 - self

    def __pos__(self):
        return self

    def __abs__(self):
        return abs(self._number())

    def __round__(self, digits=None):
        return self if digits is None else round(self._number(), digits)

    def __floor__(self):
        return self

    __ceil__ = __trunc__ = __floor__

    def __divmod__(self, other):
        return self // other, self % other

    def __rdivmod__(self, other):
        return other // self, other % self


def _value_of(number, is_read=False):
    """Of a SymInt or another number; None: it is none."""
    if isinstance(number, SymInt):
        return number._number() if is_read else number._value
    return number if isinstance(number, (int, float, complex)) else None


def _combined(kind, compute, first, second):
    """`compute(first, second)` as an expression where both are sizes."""
    values = _value_of(first), _value_of(second)
    if None in values:
        return NotImplemented
    value = compute(*values)
    sizes = [each for each in (first, second) if isinstance(each, SymInt)]
    if not sizes:
        return value
    recording = sizes[0]._recording
    if not isinstance(value, int) or any(each._recording != recording for each in sizes):
        return _read(sizes, value)
    handles = (each._handle if isinstance(each, SymInt) else int(each) for each in (first, second))
    handle = _core.size_arithmetic(kind, *handles)
    if handle is None:
        return _read(sizes, value)
    is_of_data = any(each._is_of_data for each in sizes)
    return SymInt(handle, value, recording, is_of_data, [each._kept for each in sizes])


def _read(sizes, value):
    """`value`, a number that Python made of sizes."""
    for each in sizes:
        each._number()
    return value


def _beside_one(first, second):
    """The size beside a 1; None: there is none. Expressions take sizes for at least 1, which one of
    a file that begins at 0 is not: `1 // (size + 1)`, which is 1 for 0 and else 0, stays one.
    """
    size, other = (first, second) if type(first) is SymInt else (second, first)
    is_one = type(size) is SymInt and type(other) is not SymInt and other == 1
    return size if is_one else None


def sym_max(first, second):
    """The larger of two sizes, an expression where one is: Python's `max` compares numbers.

    >>> from tessera.core import sym_max
    >>> sym_max(3, 2)
    3
    """
    larger, size = _combined("max", max, first, second), _beside_one(first, second)
    is_size = size is not None and type(larger) is SymInt and larger._handle == size._handle
    return larger + 1 // (size + 1) if is_size else larger


def sym_min(first, second):
    """The smaller of two sizes, an expression where one is.

    >>> from tessera.core import sym_min
    >>> sym_min(3, 2)
    2
    """
    smaller, size = _combined("min", min, first, second), _beside_one(first, second)
    is_one = size is not None and type(smaller) is not SymInt
    return 1 - 1 // (size + 1) if is_one else smaller


def set_symbolic_shape(option):
    """Whether `Tensor.shape` is MegEngine's int32 tensor, in the whole process; returns what held
    before. Of a rank of 0 it stays the empty tuple, and the package's own code sees tuples.

    >>> from tessera.core import set_symbolic_shape, use_symbolic_shape
    >>> before = set_symbolic_shape(True)
    >>> use_symbolic_shape()
    True
    >>> set_symbolic_shape(before)
    True
    """
    return _core.set_symbolic_shape(bool(option))


def use_symbolic_shape():
    """What set_symbolic_shape was given last.

    >>> from tessera.core import use_symbolic_shape
    >>> use_symbolic_shape()
    False
    """
    return _core.use_symbolic_shape()


def _arithmetic(kind, compute):
    def _forward(self, other):
        return _combined(kind, compute, self, other)

    def _reflected(self, other):
        return _combined(kind, compute, other, self)

    return _forward, _reflected


def _by_value(compute):
    """An operator of the values."""

    def _forward(self, other):
        value = _value_of(other, is_read=True)
        return NotImplemented if value is None else compute(self._number(), value)

    def _reflected(self, other):
        value = _value_of(other, is_read=True)
        return NotImplemented if value is None else compute(value, self._number())

    return _forward, _reflected


def _comparison(compute):
    """An operator of the values, of which a refusal of free sizes tells."""
    compare = _by_value(compute)[0]

    def _compared(self, other):
        _core.note_comparison()
        return compare(self, other)

    return _compared


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
    setattr(SymInt, f"__{_name}__", _comparison(getattr(operator, _name)))

numbers.Integral.register(SymInt)
_core.set_symint(SymInt)
