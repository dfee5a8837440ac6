"""Nested values as JSON, and back.

A plain number, string, bool or None stands for itself; the rest is an object of one key, the kind.
Arrays are named there and lie elsewhere.
"""

import base64
import json
import math
import zlib
from collections import OrderedDict

import numpy as np

from .. import _core
from ..device import get_default_device
from ..tensor import Parameter, Tensor, _own_qparams
from .dtypes import BITS, DTYPES, PARTS, bytes_of, from_bits, storage_of
from .modules import decode_traced

_FORMAT = "tessera-save"
_VERSION = 2
_STRUCTURE, _CHECKSUM = "tessera", "tessera_crc32"  # keys of the metadata
_MOST_DEEP = 200
_SEQUENCES = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}
_MAPPINGS = {"dict": dict, "ordered": OrderedDict}
_QPARAMS = ("mode", "dtype_meta", "scale", "zero_point")
_ARRAY_TYPES = {"tensor": Tensor, "parameter": Parameter}


def metadata_of(tree):
    """The structure `tree` as metadata of a safetensors file."""
    text = json.dumps({"format": _FORMAT, "version": _VERSION, "tree": tree})
    return {_STRUCTURE: text, _CHECKSUM: str(zlib.crc32(text.encode()))}


def tree_of(metadata):
    """The structure in the metadata of a safetensors file, None where another tool wrote it."""
    if not {_STRUCTURE, _CHECKSUM} & metadata.keys():  # one damaged key does not hide both
        return None
    text = metadata[_STRUCTURE]
    if str(zlib.crc32(text.encode())) != metadata[_CHECKSUM]:
        raise ValueError("load: the structure must be as its checksum says, got another")
    return check_header(json.loads(text), _VERSION)


def check_header(tree, version):
    """The structure in the JSON `tree`, which must be of this version."""
    if tree["format"] != _FORMAT:
        raise KeyError(f"format {tree['format']!r}")
    if tree["version"] != version:
        raise ValueError(
            f"load: the file's version must be at most {version}, got {tree['version']!r}"
        )
    return tree["tree"]


class Encoder:
    """Makes the structure of values and gathers their `arrays`: (dtype's name, bits) by name.

    A tensor or array that comes again is the one of before. `encode_object(encoder, value, path)`
    takes what is of no known class, or gives None. The keys of a value, with dots between, name its
    array.
    """

    def __init__(self, encode_object):
        self.arrays = {}
        self._encode_object = encode_object
        self._known = {}  # id: (node, the value, so that the id stays its own)

    def encode(self, value, path=()):
        """The JSON of `value`, at the keys `path` of what is saved."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, bytes):
            return {"bytes": base64.b64encode(value).decode()}
        if isinstance(value, np.generic):
            return self._array("scalar", value, path)
        if isinstance(value, (Tensor, np.ndarray)):
            if id(value) not in self._known:
                self._known[id(value)] = self._array(_kind(value), value, path), value
            return self._known[id(value)][0]
        if len(path) > _MOST_DEEP:
            raise ValueError(
                f"save: containers must be at most {_MOST_DEEP} deep and not hold themselves, "
                f"got {place(path[:4])}..."
            )
        return self._container(value, path)

    def _container(self, value, path):
        if isinstance(value, dict):
            items = [
                [self.encode(key, path), self.encode(item, (*path, key))]
                for key, item in value.items()
            ]
            return {"ordered" if isinstance(value, OrderedDict) else "dict": items}
        if type(value) in _SEQUENCES.values():
            items = [self.encode(item, (*path, i)) for i, item in enumerate(value)]
            if isinstance(value, (set, frozenset)):  # equal objects give equal files
                items.sort(key=json.dumps)
            return {type(value).__name__: items}
        if type(value) in (slice, range):
            parts = value.start, value.stop, value.step
            return {type(value).__name__: [self.encode(part, (*path, "")) for part in parts]}
        if type(value) is complex:
            return {"complex": repr(value)}
        if id(value) in self._known:
            return self._known[id(value)][0]
        node = self._encode_object(self, value, path)
        self._known[id(value)] = node, value
        if node is None:
            raise TypeError(
                f"save: values must be tensors, arrays, numbers, strings, bytes, containers or "
                f"modules, got {type(value).__name__} at {place(path)}; save its state_dict(), or "
                f"use pickle"
            )
        return node

    def _array(self, kind, value, path):
        tensor = isinstance(value, Tensor)
        array = value._stored() if tensor else np.asarray(value)
        dtype = str(value._dtype_key) if tensor else _name_of(array.dtype)
        if storage_of(dtype) not in DTYPES:
            raise TypeError(
                f"save: arrays must hold numbers, got dtype {array.dtype} at {place(path)}"
            )
        shape, name = list(array.shape), self._free_name(path)
        if dtype in PARTS:
            part = np.ascontiguousarray(array).reshape(-1).view(array.real.dtype)
            stored = PARTS[dtype], part.reshape(*shape, 2)
        else:
            stored = storage_of(dtype), array.view(BITS[dtype]) if dtype in BITS else array
        self.arrays[name] = stored
        node = {"dtype": dtype, "shape": shape, "member": name}
        node["crc32"] = zlib.crc32(bytes_of(stored[1]))
        if tensor:
            node["device"] = str(value.device)
        if tensor:
            node |= self._marks(value, path)
        return {kind: node}

    def _marks(self, tensor, path):
        """Further entries of a tensor: its name, format and qparams, where it has them, and
        whether it is frozen.
        """
        marks = {"name": tensor.name, "format": tensor.format}
        marks = {key: text for key, text in marks.items() if text not in ("", "default")}
        if tensor._is_frozen:
            marks["frozen"] = True
        qparams = _own_qparams(tensor)
        if qparams is not None:
            parts = {key: getattr(qparams, key) for key in _QPARAMS}
            parts["mode"] = None if qparams.mode is None else qparams.mode.name
            marks["qparams"] = self.encode(parts, (*path, "qparams"))
        return marks

    def _free_name(self, path):
        """The keys with dots between; numbered where another array has that name."""
        name = ".".join(map(str, path)).encode("utf-8", "replace").decode() or "value"
        free, number = name, 1
        while free in self.arrays or free == "__metadata__":
            number += 1
            free = f"{name}~{number}"
        return free


def _name_of(dtype):
    """The name of an array's dtype, with scales where it has them."""
    return _core.described_name(dtype) or dtype.name


def _qparams_of(parts):
    """The QParams of its parts by name."""
    from ..quantization.utils import QuantMode, create_qparams  # few need it

    mode = parts["mode"] and QuantMode[parts["mode"]]
    return create_qparams(**{**parts, "mode": mode})


def place(path):
    """Where a value lies, as Python would say it."""
    return "object" + "".join(f"[{key!r}]" for key in path)


def _kind(value):
    if isinstance(value, np.ndarray):
        return "array"
    return "parameter" if isinstance(value, Parameter) else "tensor"


class Decoder:
    """Makes values of their structure.

    `array(body)` gives the bits of an array, `locate(device)` the device for a tensor that was on
    that device, `decode_pickle(decoder, bytes)` an object. With `shared` a tensor lies in the
    array's memory.
    """

    def __init__(self, array, locate, decode_pickle, shared=False):
        self._array, self._locate, self._decode_pickle = array, locate, decode_pickle
        self._shared = shared
        self._known = {}

    def decode(self, node):
        """The value of which `node` is the JSON."""
        if not isinstance(node, dict):
            return node
        if len(node) != 1:
            raise KeyError(f"node {sorted(node)}")
        ((kind, body),) = node.items()
        if kind in ("float", "complex"):
            return {"float": float, "complex": complex}[kind](body)
        if kind == "bytes":
            return base64.b64decode(body)
        if kind in _MAPPINGS:
            return _MAPPINGS[kind]((self.decode(key), self.decode(item)) for key, item in body)
        if kind in _SEQUENCES:
            return _SEQUENCES[kind]([self.decode(item) for item in body])
        if kind in ("slice", "range"):
            start, stop, step = (self.decode(part) for part in body)
            return slice(start, stop, step) if kind == "slice" else range(start, stop, step)
        known = kind, body["member"]
        if known not in self._known:
            self._known[known] = self._decode_array(kind, body)
        return self._known[known]

    def _decode_array(self, kind, body):
        if kind == "pickle":
            return self._decode_pickle(self, self._array(body).tobytes())
        if kind == "traced_module":
            return decode_traced(self, self._array(body).tobytes(), body["arrays"])
        array, dtype = self._array(body), body["dtype"]
        if kind in _ARRAY_TYPES:
            tensor = self.tensor(array, dtype, body.get("device", "xpux"), _ARRAY_TYPES[kind])
            tensor.name = body.get("name", "")
            if "format" in body:
                tensor.format = body["format"]
            if body.get("frozen"):
                tensor._is_frozen = True
            if "qparams" in body:
                tensor.qparams = _qparams_of(self.decode(body["qparams"]))
            return tensor
        if dtype in BITS:
            array = from_bits(array, dtype, as_array=True)
        elif storage_of(dtype) != dtype:
            array = array.view(_core.valueless_tensor(array.shape, dtype).dtype)
        return {"array": lambda: array, "scalar": lambda: array[()]}[kind]()

    def tensor(self, bits, dtype, device, kind=Tensor):
        """A tensor of the bits, of the class `kind`, where `device` is mapped to."""
        target = self._locate(device)
        is_plain = dtype not in BITS and storage_of(dtype) == dtype
        if self._shared and is_plain and bits.flags.aligned:
            shared = Tensor._from_dlpack(bits).to(target or get_default_device())
            return shared if kind is Tensor else kind(shared)
        if dtype in BITS:
            bits = from_bits(bits, dtype, as_array=False)
        return kind(bits, dtype=dtype, device=target)
