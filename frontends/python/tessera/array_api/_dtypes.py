"""Element types of the standard, what is known of them, and conversion."""

import builtins

import numpy as np

from .._core import Tensor
from .._core import ops as _ops

bool = np.dtype("bool")
int8 = np.dtype("int8")
int16 = np.dtype("int16")
int32 = np.dtype("int32")
int64 = np.dtype("int64")
uint8 = np.dtype("uint8")
uint16 = np.dtype("uint16")
uint32 = np.dtype("uint32")
uint64 = np.dtype("uint64")
float32 = np.dtype("float32")
float64 = np.dtype("float64")
complex64 = np.dtype("complex64")
complex128 = np.dtype("complex128")

SIGNED = (int8, int16, int32, int64)
UNSIGNED = (uint8, uint16, uint32, uint64)
FLOATS = (float32, float64)
COMPLEX = (complex64, complex128)
KINDS = {
    "bool": (bool,),
    "signed integer": SIGNED,
    "unsigned integer": UNSIGNED,
    "integral": SIGNED + UNSIGNED,
    "real floating": FLOATS,
    "complex floating": COMPLEX,
    "numeric": SIGNED + UNSIGNED + FLOATS + COMPLEX,
}
# What Python numbers become, as everywhere in Tessera.
DEFAULTS = {builtins.bool: bool, int: int32, float: float32, complex: complex64}
INDEX = int32


def kind_of(*values):
    """The letter of NumPy (b, i, u, f, c) of the tensors' common kind: a complex one beats a float
    one, and so on. Python numbers count by their class.
    """
    kinds = [_kind(value) for value in values]
    return builtins.max(kinds, key="buifc".index)


def _kind(value):
    if isinstance(value, Tensor):
        return value.dtype.kind
    return DEFAULTS.get(type(value), float32).kind


def part_of(dtype):
    """The dtype of the parts of complex numbers, else the dtype itself."""
    return {complex64: float32, complex128: float64}.get(dtype, dtype)


def complex_of(dtype):
    """The complex dtype whose parts have this one."""
    return complex128 if dtype == float64 else complex64


# Of sums and products: small integers become the default ones of their kind.
_SUMS = dict.fromkeys((bool, int8, int16), int32) | dict.fromkeys((uint8, uint16), uint32)


def to_sum(x, dtype=None):
    """The tensor in the dtype of its sums and products, or in the given one."""
    wide = _SUMS.get(x.dtype) if dtype is None else dtype
    return x if wide is None or x.dtype == wide else _ops.astype(x, wide)


def cast(x, dtype):
    """The tensor in another dtype, or itself."""
    return x if dtype is None or x.dtype == dtype else _ops.astype(x, dtype)


def astype(x, dtype, /, *, copy=True, device=None):
    """The tensor in another dtype.

    Floats become integers by rounding towards zero. ValueError: a complex tensor must not become a
    real one, whose part `real` takes.

    >>> from tessera import array_api as xp
    >>> xp.astype(xp.asarray([1.5, -1.5]), xp.int32).tolist()
    [1, -1]
    """
    result = _ops.copy(x) if copy and x.dtype == dtype else cast(x, dtype)
    return result if device is None else result.to(device)


def can_cast(from_, to, /):
    """Whether numbers of the dtype, or of a tensor, promote to dtype `to`.

    >>> from tessera import array_api as xp
    >>> xp.can_cast(xp.int8, xp.int16), xp.can_cast(xp.float64, xp.float32)
    (True, False)
    """
    try:
        return builtins.bool(result_type(from_, to) == to)
    except TypeError:
        return False


class finfo:  # noqa: N801
    """What floating-point numbers of a dtype, or of a tensor, are: `bits`, `eps`, `max`, `min`,
    `smallest_normal`, `dtype`; of complex ones their parts.

    >>> from tessera import array_api as xp
    >>> xp.finfo(xp.float32).bits
    32
    """

    def __init__(self, type, /):
        facts = np.finfo(part_of(_dtype_of(type)))
        self.bits, self.dtype = facts.bits, np.dtype(facts.dtype)
        self.eps, self.max, self.min = float(facts.eps), float(facts.max), float(facts.min)
        self.smallest_normal = float(facts.smallest_normal)

    def __repr__(self):
        return f"finfo({self.dtype})"


class iinfo:  # noqa: N801
    """What integers of a dtype, or of a tensor, are: `bits`, `max`, `min`, `dtype`.

    >>> from tessera import array_api as xp
    >>> xp.iinfo(xp.int8).max
    127
    """

    def __init__(self, type, /):
        facts = np.iinfo(_dtype_of(type))
        self.bits, self.dtype = facts.bits, np.dtype(facts.dtype)
        self.max, self.min = int(facts.max), int(facts.min)

    def __repr__(self):
        return f"iinfo({self.dtype})"


def isdtype(dtype, kind):
    """Whether a dtype is of a kind: a dtype, a name such as "integral", or a tuple of these.
    float16 and bfloat16, which the standard does not have, are real floating, as in JAX.

    ValueError: a name must be that of a kind.

    >>> from tessera import array_api as xp
    >>> xp.isdtype(xp.int8, ("integral", xp.float64))
    True
    """
    if isinstance(kind, tuple):
        return builtins.any(isdtype(dtype, each) for each in kind)
    if isinstance(kind, str):
        if kind not in KINDS:
            raise ValueError(f"isdtype: kind must be one of {list(KINDS)}, got {kind!r}")
        is_half = str(dtype) in ("float16", "bfloat16")
        return dtype in KINDS[kind] or (is_half and float32 in KINDS[kind])
    return builtins.bool(dtype == kind)


def result_type(*arrays_and_dtypes):
    """The dtype of an operator's result on tensors, dtypes and Python numbers, which never widen.

    TypeError: there must be one dtype or tensor at least, and a common dtype.

    >>> from tessera import array_api as xp
    >>> xp.result_type(xp.int8, xp.int16), xp.result_type(xp.float32, 2)
    (dtype('int16'), dtype('float32'))
    """
    numbers = [each for each in arrays_and_dtypes if type(each) in DEFAULTS]
    others = [_dtype_of(each) for each in arrays_and_dtypes if type(each) not in DEFAULTS]
    if not others:
        raise TypeError("result_type: one value must be a tensor or a dtype, got only numbers")
    common = others[0]
    for dtype in others[1:]:
        common = _promoted(common, _empty(dtype))
    for number in numbers:
        common = _promoted(common, number)
    return common


def _promoted(dtype, other):
    if dtype == bool and type(other) is builtins.bool:
        return dtype
    return _ops.where(_empty(bool), _empty(dtype), other).dtype


def _empty(dtype):
    return _ops.full((0,), 0, dtype)


def _dtype_of(value):
    return value.dtype if isinstance(value, Tensor) else np.dtype(value)
