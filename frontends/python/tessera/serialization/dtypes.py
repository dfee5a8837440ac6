"""Element types in files: by our name, and by the code that safetensors gives them."""

import numpy as np

from .. import _core
from .._foreign_dtypes import array_dtype

CODES = {
    "float64": "F64",
    "int64": "I64",
    "uint64": "U64",
    "float32": "F32",
    "int32": "I32",
    "uint32": "U32",
    "float16": "F16",
    "bfloat16": "BF16",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
    "int16": "I16",
    "uint16": "U16",
    "int8": "I8",
    "uint8": "U8",
    "bool": "BOOL",
}
# The layout has no complex numbers: a last axis of two holds real and imaginary part.
PARTS = {"complex64": "float32", "complex128": "float64"}
# Those that NumPy lacks, by the dtype that holds their bits; ml_dtypes has them.
BITS = {"bfloat16": "uint16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}
DTYPES = frozenset(CODES) | frozenset(PARTS)


def storage_of(name):
    """The name of the integers that a quantized or low-bit dtype stores; else the dtype's own."""
    kind = name.partition("<")[0].partition("@")[0]
    is_whole = "<" in name or not kind.startswith("q")  # a quantized dtype has parameters
    return _core.dtype_storage().get(kind, name) if is_whole else name


def raw_dtype(name):
    """The little-endian NumPy dtype that holds the bits of `name`."""
    return np.dtype(BITS.get(name, name)).newbyteorder("<")


def from_bits(bits, name, as_array):
    """The dtype `name` of its `bits`; for a tensor of bfloat16 float32, which is exact and needs no
    ml_dtypes.
    """
    if name == "bfloat16" and not as_array:
        return (bits.astype(np.uint32) << 16).view(np.float32)
    return bits.view(array_dtype(name, "load"))


def bytes_of(array):
    """The little-endian row-major bytes of `array`."""
    array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return memoryview(array.reshape(-1).view(np.uint8))
