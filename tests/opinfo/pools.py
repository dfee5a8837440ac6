"""Arrays in one file: each in the narrowest form that holds it exactly, equal ones once."""

import json

import ml_dtypes
import numpy as np

# The forms an array may be stored in, the narrowest first; bf16 as the upper half of a float32.
_INTEGERS = ("int8", "int16", "int32", "int64")
_FLOATS = ("bfloat16", "float16", "float32", "float64")
_STORED = {"bfloat16": "uint16", "bool": "uint8"}


def dtype(name):
    """NumPy's dtype of a name, bfloat16 too."""
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def _same(a, b):
    """The same numbers, signs of zeros included; NaN is NaN."""
    return bool(np.all(np.isnan(a) & np.isnan(b) | (a == b) & (np.signbit(a) == np.signbit(b))))


def is_exact(array, name):
    """Whether a float dtype has all these numbers."""
    with np.errstate(over="ignore", under="ignore"):
        return _same(array.astype(dtype(name)).astype("float64"), array)


def narrowest(array):
    """The first form in which `array`, of bool, integers or float64, is exact."""
    if array.dtype.kind == "b":
        return "bool"
    if array.dtype.kind in "iu":
        low, high = array.min(initial=0), array.max(initial=0)
        return next(n for n in _INTEGERS if np.iinfo(n).min <= low and high <= np.iinfo(n).max)
    return next(name for name in _FLOATS if is_exact(array, name))


def _is_complex(array):
    return array.dtype.kind == "c"


class Writer:
    """Collects arrays; `save` writes them with a text of JSON."""

    def __init__(self):
        """Nothing yet."""
        self._pools = {name: [] for name in ("bool", *_INTEGERS, *_FLOATS)}
        self._rows = []
        self._known = {}

    def add(self, array):
        """The number by which `Reader.array` gives it: bool, int64, float64 or complex128."""
        kind = array.dtype.kind
        wide = {"b": "bool", "i": "int64", "u": "int64", "c": "complex128"}.get(kind, "float64")
        array = np.ascontiguousarray(array.astype(wide)).reshape(array.shape)
        key = wide, array.shape, array.tobytes()
        if key not in self._known:
            self._known[key] = len(self._rows)
            flat = array.ravel()
            parts = flat.view("float64") if _is_complex(array) else flat
            form = narrowest(parts)
            self._pools[form].append(parts.astype(dtype(form)))
            self._rows.append([form, _is_complex(array), list(array.shape)])
        return self._known[key]

    def save(self, path, document):
        """Writes arrays and document; the same ones give the same bytes."""
        pools = {
            name: np.concatenate(parts).view(_STORED.get(name, name))
            for name, parts in self._pools.items()
            if parts
        }
        text = json.dumps({"arrays": self._rows, **document}, separators=(",", ":"))
        np.savez_compressed(path, json=np.frombuffer(text.encode(), "uint8"), **pools)


class Reader:
    """What a Writer saved: `document`, and arrays by their numbers."""

    def __init__(self, path):
        """Reads the whole file."""
        with np.load(path) as file:
            self._pools = {name: file[name] for name in file.files}
        self.document = json.loads(self._pools.pop("json").tobytes())
        self._rows, used = [], dict.fromkeys(self._pools, 0)
        for form, is_complex, shape in self.document["arrays"]:
            size = int(np.prod(shape)) * (2 if is_complex else 1)
            self._rows.append((form, is_complex, shape, used.get(form, 0)))
            used[form] = used.get(form, 0) + size

    def array(self, number):
        """The array as it was added: bool, int64, float64 or complex128."""
        form, is_complex, shape, start = self._rows[number]
        size = int(np.prod(shape)) * (2 if is_complex else 1)
        if size == 0:
            return np.zeros(shape, _wide(form, is_complex))
        flat = self._pools[form][start : start + size].view(dtype(form))
        flat = flat.astype(_wide(form, False))
        return (flat.view("complex128") if is_complex else flat).reshape(shape)


def _wide(form, is_complex):
    if form == "bool":
        return "bool"
    if is_complex:
        return "complex128"
    return "int64" if form in _INTEGERS else "float64"
