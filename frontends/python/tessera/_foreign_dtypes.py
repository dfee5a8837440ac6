"""The dtypes that NumPy lacks, which the package `ml_dtypes` has: bfloat16 and those of float8.

Without the package tensors have these dtypes all the same, and say them by a ForeignDType. Only
arrays of them there are none.
"""

import functools

import numpy as np

NAMES = ("bfloat16", "float8_e4m3fn", "float8_e5m2")


class ForeignDType:
    """Names a dtype that NumPy lacks; equal to that name, and to a dtype of the name.

    >>> import numpy as np
    >>> from tessera._foreign_dtypes import ForeignDType
    >>> dtype = ForeignDType("bfloat16")
    >>> dtype, dtype.name, dtype.itemsize, dtype == "bfloat16", dtype == np.dtype("float32")
    (dtype(bfloat16), 'bfloat16', 2, True, False)
    """

    kind = "V"  # as ml_dtypes has it
    metadata = None

    def __init__(self, name):
        self.name = name
        self.itemsize = 2 if name == "bfloat16" else 1

    def __eq__(self, other):
        return self.name == (other if isinstance(other, str) else getattr(other, "name", None))

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return f"dtype({self.name})"

    def __str__(self):
        return self.name

    def __reduce__(self):
        return foreign_dtype, (self.name,)


@functools.cache
def foreign_dtype(name):
    """NumPy's dtype of that name, by ml_dtypes; without the package a ForeignDType.

    >>> from tessera._foreign_dtypes import foreign_dtype
    >>> foreign_dtype("bfloat16").name
    'bfloat16'
    """
    try:
        import ml_dtypes  # takes 6 ms, which few need
    except ImportError:
        return ForeignDType(name)
    return np.dtype(getattr(ml_dtypes, name))


def array_dtype(name, tool):
    """As foreign_dtype, for `tool`, which makes an array. ImportError: ml_dtypes must be installed.

    >>> from tessera._foreign_dtypes import array_dtype
    >>> array_dtype("bfloat16", "numpy").itemsize
    2
    """
    try:
        import ml_dtypes
    except ImportError as error:
        raise ImportError(
            f"{tool}: ml_dtypes must be installed for an array of {name} (pip install "
            f'tessera[dtypes]; astype("float32") needs none), got {error}'
        ) from error
    return np.dtype(getattr(ml_dtypes, name))


def as_dtype(dtype):
    """NumPy's dtype for anything that says one; a ForeignDType as it is.

    >>> from tessera._foreign_dtypes import ForeignDType, as_dtype
    >>> as_dtype("float32"), as_dtype(ForeignDType("bfloat16"))
    (dtype('float32'), dtype(bfloat16))
    """
    if isinstance(dtype, str) and dtype in NAMES:
        return foreign_dtype(dtype)
    return dtype if isinstance(dtype, ForeignDType) else np.dtype(dtype)


def numbers_of(tensor):
    """The array of a tensor; of a foreign dtype in float32, which has all of its numbers. It
    applies no operator, so a trace records nothing of it.

    >>> import tessera as ts
    >>> from tessera._foreign_dtypes import numbers_of
    >>> numbers_of(ts.tensor([1.5], dtype="bfloat16"))
    array([1.5], dtype=float32)
    """
    return tensor._numbers()
