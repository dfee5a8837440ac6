"""Element types and tensors of ONNX, as those of Tessera.

Integers of 4 and 2 bits stand in int8 and uint8, one in each byte: nothing in Tessera is packed.
"""

import numpy as np

from .. import _core
from ..quantization.utils import limits_of as _limits_of
from ..tensor import Tensor
from .package import helper, numpy_helper, onnx

_TYPES = onnx.TensorProto
# Elements of few bits, by number: (bits, signed).
FEW_BITS = {
    _TYPES.INT4: (4, True),
    _TYPES.UINT4: (4, False),
    _TYPES.INT2: (2, True),
    _TYPES.UINT2: (2, False),
}
# Dtypes that store quantized ones, by the kind in their names.
_STORED = {
    "qint8": "int8",
    "qint8_narrow": "int8",
    "quint8": "uint8",
    "qint32": "int32",
    "qint4": "int8",
    "quint4": "uint8",
    "qint1": "int8",
}
_NAMES = {number: name for name, number in _TYPES.DataType.items()}


def dtype_of(element_type, who):
    """The name of Tessera's dtype for a number of TensorProto.DataType.

    NotImplementedError: Tessera must have it; `who` opens the message.
    """
    if element_type in FEW_BITS:
        return "int8" if FEW_BITS[element_type][1] else "uint8"
    name = _NAMES.get(element_type, element_type)
    if element_type not in (_TYPES.STRING, _TYPES.UNDEFINED):
        dtype = helper.tensor_dtype_to_np_dtype(element_type).name
        if dtype in _known():
            return dtype
    raise NotImplementedError(f"{who}: dtype must be one that Tessera has, got {name}")


def limits_of(dtype):
    """(name of the dtype that stores it, smallest, largest integer) of a quantized or integer dtype
    by its name.
    """
    kind = dtype.partition("<")[0]
    if kind in _STORED:
        return _STORED[kind], *_limits_of("export", kind)
    limits = np.iinfo(dtype)
    return dtype, int(limits.min), int(limits.max)


def stored(dtype):
    """The name of the dtype that stores elements: another one where `dtype` is quantized."""
    return _STORED.get(dtype.partition("<")[0], dtype)


def element_type_of(dtype):
    """The number of TensorProto.DataType for a name of Tessera's dtype.

    NotImplementedError: ONNX must have it.
    """
    if dtype not in _known() or dtype.startswith("intb"):
        raise NotImplementedError(f"dtype must be one that ONNX has, got {dtype}")
    return helper.np_dtype_to_tensor_dtype(np.zeros(0, _numpy(dtype)).dtype)


def _numpy(name):
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))


def _known():
    return set(_core.dtype_table().values())


def array_of(proto, who, folder=""):
    """The elements of a TensorProto as an array of one of Tessera's dtypes."""
    name = dtype_of(proto.data_type, f"{who}: {proto.name or 'tensor'}")
    array = numpy_helper.to_array(proto, folder)
    return array.astype(name) if proto.data_type in FEW_BITS else array


def tensor_of(array):
    """A tensor with the array's dtype."""
    return Tensor(np.ascontiguousarray(array).reshape(array.shape), dtype=array.dtype.name)
