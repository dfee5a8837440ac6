"""Element types in files: by our name, and by the code that safetensors gives them."""

import numpy as np

CODES = {
    "float64": "F64",
    "int64": "I64",
    "uint64": "U64",
    "float32": "F32",
    "int32": "I32",
    "uint32": "U32",
    "float16": "F16",
    "bfloat16": "BF16",
    "int16": "I16",
    "uint16": "U16",
    "int8": "I8",
    "uint8": "U8",
    "bool": "BOOL",
}
# The layout has no complex numbers: a last axis of two holds real and imaginary part.
PARTS = {"complex64": "float32", "complex128": "float64"}
DTYPES = frozenset(CODES) | frozenset(PARTS)


def raw_dtype(name):
    """The little-endian NumPy dtype that holds the bits of `name`."""
    return np.dtype("uint16" if name == "bfloat16" else name).newbyteorder("<")


def from_bfloat16(bits, as_array):
    """bfloat16 of its `bits`; for a tensor float32, which is exact and needs no ml_dtypes."""
    if not as_array:
        return (bits.astype(np.uint32) << 16).view(np.float32)
    import ml_dtypes

    return bits.view(ml_dtypes.bfloat16)


def bytes_of(array):
    """The little-endian row-major bytes of `array`."""
    array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return memoryview(array.reshape(-1).view(np.uint8))
