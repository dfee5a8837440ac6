"""Values as fields of the message Value of a file (frontends/python/proto), and back."""

import re
from collections import OrderedDict

import numpy as np

from .. import _core
from .._foreign_dtypes import ForeignDType
from ..device import Device
from ..random import RNG, default_rng
from ..tensor import Tensor
from .compat import PLAIN, TYPE
from .public_names import DEFAULT_RNG, QUANT_MODE, find, name_of
from .pytree import supported

MOST_DEEP = 25  # containers: a message of Protobuf may be 100 deep, and a dict in it is 3
_INT64 = 1 << 63
# Classes of a part of the package that few need: only a value or a file that has one imports it.
_QUANTIZED = {"tessera.quantization.utils.QuantMode": "enumerator",
              "tessera.quantization.utils.QParams": "qparams"}  # fmt: skip
_QPARAMS = ("mode", "dtype_meta", "scale", "zero_point")
_SEQUENCES = {"tuple": tuple, "list": list, "set": set, "frozenset": frozenset}
_MAPPINGS = {"dict": dict, "ordered": OrderedDict}


class Packer:
    """Fields of values. `named(kind, name)` gives the number of a name, `array(value)` that of what
    lies beside, `known(value)` the fields of a module, a node or a graph, None for all else, and
    `refuse(value, advice)` raises for what no file can hold.
    """

    def __init__(self, named, array, known, refuse):
        self._named, self._array, self._known, self._refuse = named, array, known, refuse

    def fields(self, value, depth=0):
        """The fields of a value, which lies in `depth` containers."""
        pack = _PLAIN.get(type(value))
        if pack is not None:
            return pack(value)
        if depth >= MOST_DEEP:
            self._refuse(value, f"containers may be {MOST_DEEP} deep")
        return self._known(value) or self._container(value, depth) or self._other(value)

    def _container(self, value, depth):
        kind = type(value)
        if kind in (tuple, list):
            return {kind.__name__: self._items(value, depth)}
        if kind in (set, frozenset):  # equal objects give equal files
            items = sorted((self.fields(item, depth + 1) for item in value), key=repr)
            return {kind.__name__: {"items": items}}
        if kind in (slice, range):
            parts = value.start, value.stop, value.step
            return {kind.__name__: self._items(parts, depth)}
        if kind in (dict, OrderedDict):
            entries = [{"key": self.fields(key, depth + 1), "value": self.fields(item, depth + 1)}
                       for key, item in value.items()]  # fmt: skip
            return {"dict" if kind is dict else "ordered": {"entries": entries}}
        known = supported(kind)
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            named = self._class(kind, "register the named tuple by register_supported_type")
            return {"structure": {"name": named, **self._items(value, depth)}}
        if known is None:
            return None
        if known.flatten is None:
            self._refuse(value, "give register_supported_type flatten and unflatten for the class")
        items, rest = known.flatten(value)
        fields = self._items(items, depth)
        return {"registered": {"name": self._class(kind, ""), **fields,
                               "rest": self.fields(rest, depth + 1)}}  # fmt: skip

    def _items(self, values, depth):
        return {"items": [self.fields(item, depth + 1) for item in values]}

    def _class(self, kind, advice):
        named = name_of(kind)
        if named is None:
            self._refuse(kind, advice)
        return self._named(*named)

    def _other(self, value):
        if isinstance(value, (Tensor, np.ndarray, np.generic)):
            return {"array": self._array(value)}
        if isinstance(value, Device):
            return {"device": str(value)}
        if isinstance(value, (np.dtype, ForeignDType)):
            text = (value.metadata or {}).get("tessera_dtype", value.name)
            return {"dtype": text} if _is_dtype(text, value) else self._refuse(value, "")
        if (text := _QUANTIZED.get(_name(value))) == "enumerator":
            rest = {"text": value.name}
            return {text: {"name": self._named(PLAIN, QUANT_MODE), "rest": rest}}
        if text == "qparams":
            return {text: self._items([getattr(value, key) for key in _QPARAMS], 1)}
        if value is default_rng:
            return {"named": self._named(PLAIN, DEFAULT_RNG)}
        if type(value) is RNG:
            rest = self.fields(value.state_dict(), 1)
            return {"state": {"name": self._class(RNG, ""), "rest": rest}}
        named = name_of(value) if callable(value) else None
        if named is None:
            self._refuse(value, _advice(value))
        return {"named": self._named(*named)}


def _name(value):
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _advice(value):
    if isinstance(value, type):
        return "register the class by register_supported_type"
    if callable(value):
        return "a file holds no code: have traced_module.wrap name the function"
    return "make it of numbers, texts, arrays and containers"


def _is_dtype(text, value):
    try:
        return _dtype(text) == value
    except (TypeError, ValueError, RuntimeError):
        return False


_OF_AXIS = re.compile(r"\w+@(\d{1,2})<([^>;]*)")  # scales along an axis: "qint8@2<0.1|0.3>"
_MOST_AXES = 16


def _dtype(text):
    shape = [0]
    if found := _OF_AXIS.match(text):
        axis, count = min(int(found[1]), _MOST_AXES), found[2].count("|") + 1
        shape = [1] * axis + [count]
    return _core.valueless_tensor(shape, text).dtype


def _integer(value):
    if -_INT64 <= value < _INT64:
        return {"integer": value}
    return {"large": f"{value:x}"}


_PLAIN = {
    type(None): lambda value: {"none": True},
    bool: lambda value: {"boolean": value},
    int: _integer,
    float: lambda value: {"real": value},
    complex: lambda value: {"complex": {"real": value.real, "imag": value.imag}},
    str: lambda value: {"text": value},
    bytes: lambda value: {"data": value},
    type(...): lambda value: {"ellipsis": True},
}


class Unpacker:
    """Values of fields. `named(number)` gives (kind, name, what has it), `array(number)` what lies
    beside, and `known(kind, body)` a module, a node or a graph.
    """

    def __init__(self, named, array, known):
        self._named, self._known = named, known
        self._readers = {
            "none": lambda body: None,
            "boolean": _as_it_is,
            "integer": _as_it_is,
            "large": lambda body: int(body, 16),
            "real": _as_it_is,
            "complex": lambda body: complex(body.get("real", 0.0), body.get("imag", 0.0)),
            "text": _as_it_is,
            "data": _as_it_is,
            "ellipsis": lambda body: ...,
            "array": array,
            "dtype": _dtype,
            "device": Device,
            "slice": lambda body: slice(*self._items(body)),
            "range": lambda body: range(*self._items(body)),
            "named": lambda body: named(body)[2],
            "enumerator": self._enumerator,
            "structure": self._structure,
            "registered": self._registered,
            "state": self._state,
            "qparams": self._qparams,
        }
        for kind, make in _SEQUENCES.items():
            self._readers[kind] = lambda body, make=make: make(self._items(body))
        for kind, make in _MAPPINGS.items():
            self._readers[kind] = lambda body, make=make: self._mapping(make, body)

    def value(self, fields):
        """The value of its fields. ValueError: this version must know its kind."""
        for kind, body in fields.items():
            read = self._readers.get(kind)
            return read(body) if read is not None else self._known(kind, body)
        raise ValueError("load: a value must be of a kind that this version knows, got another")

    def _items(self, body):
        return [self.value(each) for each in body.get("items", ())]

    def _mapping(self, make, body):
        entries = body.get("entries", ())
        return make((self.value(each["key"]), self.value(each["value"])) for each in entries)

    def _enumerator(self, body):
        return self._class(body, (PLAIN,), find(PLAIN, QUANT_MODE))[self.value(body["rest"])]

    def _structure(self, body):
        kind = self._class(body, (TYPE,))
        if not (issubclass(kind, tuple) and hasattr(kind, "_fields")):
            raise ValueError(f"load: {kind.__name__} must be a named tuple, got another class")
        return kind(*self._items(body))

    def _registered(self, body):
        kind = self._class(body, (TYPE,))
        known = supported(kind)
        if known.unflatten is None:
            raise ValueError(
                f"load: register_supported_type must have unflatten of {kind.__name__}, got None"
            )
        return known.unflatten(self._items(body), self.value(body["rest"]))

    def _state(self, body):
        made = self._class(body, (PLAIN,), RNG)(seed=0)
        made.load_state_dict(self.value(body["rest"]))
        return made

    def _qparams(self, body):
        from ..quantization.utils import create_qparams  # few need it

        return create_qparams(**dict(zip(_QPARAMS, self._items(body), strict=True)))

    def _class(self, body, kinds, wanted=None):
        kind, name, value = self._named(body.get("name", 0))
        if kind not in kinds or not isinstance(value, type) or wanted not in (None, value):
            raise ValueError(f"load: a class of values must be named, got {name!r}")
        return value


def _as_it_is(body):
    return body
