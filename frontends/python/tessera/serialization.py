"""save and load: tensors, arrays and plain values in nested containers, in a zip file, without
pickle.

The file holds `tree.json` and one raw little-endian row-major member for each array. It is written
beside its final name and renamed when it is whole and on disk, so a failed save leaves the old
file.
"""

import base64
import json
import math
import os
import struct
import sys
import zipfile
from collections import OrderedDict

import numpy as np

from . import _core
from ._known_form import has_known_form
from .tensor import Parameter, Tensor

_FORMAT = "tessera-save"
_VERSION = 1
_TREE = "tree.json"
_ARRAY_TYPES = {"tensor": Tensor, "parameter": Parameter}
# The errors that libraries raise for a tree or a directory that save did not write.
_DAMAGE = (ValueError, LookupError, TypeError, ArithmeticError, RuntimeError, struct.error)
_DTYPES = frozenset(
    [
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "int8",
        "uint8",
        "int16",
        "uint16",
        "int32",
        "uint32",
        "int64",
        "uint64",
        "bool",
        "complex64",
        "complex128",
    ]
)


def save(obj, f):
    """Writes `obj` to the path or binary file `f`.

    Dicts, lists, tuples, tensors, NumPy arrays, numbers, strings, bytes and None are kept as they
    are; anything else is a TypeError that names the place.

    >>> import io
    >>> file = io.BytesIO()
    >>> save({"epoch": 3, "names": ("a", "b")}, file)
    >>> load(io.BytesIO(file.getvalue()))
    {'epoch': 3, 'names': ('a', 'b')}
    """
    arrays = []
    tree = {"format": _FORMAT, "version": _VERSION, "tree": _encode(obj, arrays, "object")}
    if hasattr(f, "write"):
        _write(f, tree, arrays)
        return

    def _write_to(descriptor):
        with open(descriptor, "w+b", closefd=False) as file:
            _write(file, tree, arrays)

    _core.replace_file(os.fsdecode(f), _write_to)


def _write(file, tree, arrays):
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_entry(_TREE), json.dumps(tree))
        for number, array in enumerate(arrays):
            with archive.open(_entry(f"arrays/{number}"), "w", force_zip64=True) as member:
                member.write(_little_endian(array))


def load(f, map_location=None):
    """What `save` wrote to the path or binary file `f`; `map_location` is the device of its
    tensors.

    FileNotFoundError: the file must exist. ValueError: it must be whole, and one that save wrote.

    >>> import io
    >>> file = io.BytesIO()
    >>> save([np.float32(1.5)], file)
    >>> load(file)
    [np.float32(1.5)]
    """
    try:
        with zipfile.ZipFile(f) as archive:
            _check_members(archive)
            tree = json.loads(archive.read(_TREE))
            _check_header(tree)
            return _decode(tree["tree"], archive, map_location)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError) as error:
        raise ValueError(f"load: the file must be a whole zip archive, got {error}") from None
    except _DAMAGE as error:
        if has_known_form(error):
            raise
        raise ValueError(f"load: the file must be one that save wrote, got {error!r}") from None


def _entry(name):
    return zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))  # equal objects give equal files


def _little_endian(array):
    array = np.ascontiguousarray(array)
    if sys.byteorder == "big" or array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    return memoryview(array.reshape(-1).view(np.uint8))


def _encode(value, arrays, path):
    """The JSON of `value`: a plain number, string, bool or None stands for itself, the rest is
    tagged.
    """
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, (Tensor, np.ndarray, np.generic)):
        return _encode_array(value, arrays, path)
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, (OrderedDict, dict)):
        items = [
            [_encode(key, arrays, path), _encode(item, arrays, f"{path}[{key!r}]")]
            for key, item in value.items()
        ]
        return {"ordered" if isinstance(value, OrderedDict) else "dict": items}
    if type(value) in (list, tuple):
        items = [_encode(item, arrays, f"{path}[{i}]") for i, item in enumerate(value)]
        return {type(value).__name__: items}
    raise TypeError(
        f"save: values must be tensors, arrays, numbers, strings, bytes or containers, "
        f"got {type(value).__name__} at {path}"
    )


def _encode_array(value, arrays, path):
    tensor = isinstance(value, Tensor)
    kind = "scalar" if isinstance(value, np.generic) else "array"
    if tensor:
        kind = "parameter" if isinstance(value, Parameter) else "tensor"
    array = value.numpy() if tensor else np.asarray(value)
    dtype = value.dtype.name if tensor else array.dtype.name
    if dtype not in _DTYPES:
        raise TypeError(f"save: arrays must hold numbers, got dtype {array.dtype} at {path}")
    arrays.append(array.view(np.uint16) if dtype == "bfloat16" else array)
    entry = {"dtype": dtype, "shape": list(array.shape), "member": len(arrays) - 1}
    return {kind: {**entry, "name": value.name} if tensor and value.name else entry}


def _from_bfloat16(bits, as_array):
    if not as_array:
        # Tensor(float32, "bfloat16") is exact, and needs no ml_dtypes.
        return (bits.astype(np.uint32) << 16).view(np.float32)
    import ml_dtypes

    return bits.view(ml_dtypes.bfloat16)


def _check_members(archive):
    """Members as save writes them take no more than the file: none is compressed or lies over
    another.
    """
    members = archive.infolist()
    for member in members:
        if member.compress_type != zipfile.ZIP_STORED:
            raise KeyError(f"compressed member {member.filename!r}")
    if sum(member.file_size for member in members) > archive.fp.seek(0, os.SEEK_END):
        raise KeyError("members over each other")


def _check_header(tree):
    if tree["format"] != _FORMAT:
        raise KeyError(f"format {tree['format']!r}")
    if tree["version"] != _VERSION:
        raise ValueError(
            f"load: the file's version must be at most {_VERSION}, got {tree['version']!r}"
        )


def _decode(node, archive, device):
    if not isinstance(node, dict):
        return node
    if len(node) != 1:
        raise KeyError(f"node {sorted(node)}")
    ((kind, body),) = node.items()
    if kind == "float":
        return float(body)
    if kind == "bytes":
        return base64.b64decode(body)
    if kind in ("dict", "ordered"):
        pairs = [(_decode(k, archive, device), _decode(v, archive, device)) for k, v in body]
        return (OrderedDict if kind == "ordered" else dict)(pairs)
    if kind in ("list", "tuple"):
        items = [_decode(item, archive, device) for item in body]
        return tuple(items) if kind == "tuple" else items
    array = _decode_array(body, archive)
    if body["dtype"] == "bfloat16":
        array = _from_bfloat16(array, as_array=kind not in _ARRAY_TYPES)
    if kind in _ARRAY_TYPES:
        tensor = _ARRAY_TYPES[kind](array, dtype=body["dtype"], device=device)
        tensor.name = body.get("name", "")
        return tensor
    return {"array": lambda: array, "scalar": lambda: array[()]}[kind]()


def _decode_array(body, archive):
    name, shape = body["dtype"], body["shape"]
    if name not in _DTYPES or not all(type(dim) is int and dim >= 0 for dim in shape):
        raise KeyError(f"dtype {name!r}, shape {shape!r}")
    dtype = np.dtype("uint16" if name == "bfloat16" else name).newbyteorder("<")
    info = archive.getinfo(f"arrays/{body['member']}")
    expected = math.prod(shape) * dtype.itemsize
    if info.file_size != expected:
        raise ValueError(
            f"load: an array of {name} {shape} must have {expected} bytes, got {info.file_size}"
        )
    data = bytearray(archive.read(info))  # writable
    del archive.NameToInfo[info.filename]  # a tree that names it twice cannot copy it twice
    return np.frombuffer(data, dtype=dtype).reshape(shape)
