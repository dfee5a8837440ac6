"""Low-bit dtypes of b bits: the odd integers from 1 - 2**b to 2**b - 1, as MegEngine has them.

A number is stored as itself, in one byte: NumPy's int8 with the name as metadata.
"""

from . import _core

intb1 = _core.low_bit_dtype("intb1")
intb2 = _core.low_bit_dtype("intb2")
intb4 = _core.low_bit_dtype("intb4")


def is_lowbit(dtype):
    """Whether the dtype is intb1, intb2 or intb4.

    >>> import tessera as ts
    >>> ts.dtype.is_lowbit(ts.dtype.intb4), ts.dtype.is_lowbit("int8")
    (True, False)
    """
    return _core.described_name(dtype) in ("intb1", "intb2", "intb4")
