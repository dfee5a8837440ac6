"""Element types: NumPy's dtype objects, bfloat16 and those of float8 from ml_dtypes; without that
package objects with its name (`tensor.dtype` is one, and NumPy knows none of them).

A quantized one, as `qint8(0.1)`, is the dtype of the integers that are stored, with its scale and
zero point as metadata; so are `intb1`, `intb2` and `intb4`, whose numbers are the odd integers of b
bits, 1 - 2**b to 2**b - 1. NumPy does not compare metadata: `is_dtype_equal` does.

>>> import tessera as ts
>>> ts.tensor([1.0]).dtype == ts.float32
True
"""

import numpy as np

from ._foreign_dtypes import NAMES as _FOREIGN
from ._foreign_dtypes import foreign_dtype as _foreign_dtype
from ._listed import listed as _listed
from ._low_bit import intb1, intb2, intb4, is_lowbit
from ._quantized import (
    convert_from_qint1,
    convert_from_qint4,
    convert_from_qint8,
    convert_from_qint8_narrow,
    convert_from_qint32,
    convert_from_quint4,
    convert_from_quint8,
    convert_to_qint1,
    convert_to_qint4,
    convert_to_qint8,
    convert_to_qint8_narrow,
    convert_to_qint32,
    convert_to_quint4,
    convert_to_quint8,
    get_scale,
    get_zero_point,
    is_dtype_equal,
    is_quantize,
    qint1,
    qint4,
    qint8,
    qint8_narrow,
    qint32,
    quint4,
    quint8,
)

float16 = np.dtype("float16")
float32 = np.dtype("float32")
float64 = np.dtype("float64")
int8 = np.dtype("int8")
uint8 = np.dtype("uint8")
uint16 = np.dtype("uint16")
uint32 = np.dtype("uint32")
uint64 = np.dtype("uint64")
complex64 = np.dtype("complex64")
complex128 = np.dtype("complex128")
int16 = np.dtype("int16")
int32 = np.dtype("int32")
int64 = np.dtype("int64")
bool_ = np.dtype("bool")

__all__ = [
    "bfloat16",  # noqa: F822
    "bool_",
    "complex128",
    "complex64",
    "convert_from_qint1",
    "convert_from_qint32",
    "convert_from_qint4",
    "convert_from_qint8",
    "convert_from_qint8_narrow",
    "convert_from_quint4",
    "convert_from_quint8",
    "convert_to_qint1",
    "convert_to_qint32",
    "convert_to_qint4",
    "convert_to_qint8",
    "convert_to_qint8_narrow",
    "convert_to_quint4",
    "convert_to_quint8",
    "float16",
    "float32",
    "float64",
    "float8_e4m3fn",  # noqa: F822
    "float8_e5m2",  # noqa: F822
    "get_scale",
    "get_zero_point",
    "int16",
    "int32",
    "int64",
    "int8",
    "intb1",
    "intb2",
    "intb4",
    "is_dtype_equal",
    "is_lowbit",
    "is_quantize",
    "qint1",
    "qint32",
    "qint4",
    "qint8",
    "qint8_narrow",
    "quint4",
    "quint8",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
]

__dir__ = _listed(*__all__)


def __getattr__(name):
    if name not in _FOREIGN:
        raise AttributeError(f"dtype: name must be one of {__all__}, got {name!r}")
    return _foreign_dtype(name)
