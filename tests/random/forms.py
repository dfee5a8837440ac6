"""Lines with places for variables, axes and keys: what a drawer puts there."""

import re

from tests.random.keys import VALUES, Key

# By letter: dtypes of what stands there; the second letter of a kind broadcasts with the first.
# {m} is a small complex matrix: a factor of one takes operators for each of its columns.
_INTEGERS = ("int32", "int32", "int64", "int8", "int16", "uint8", "uint16", "uint32")
_COMPLEX = {"float32": "complex64", "float64": "complex128"}
_SECOND = {"g": "f", "j": "i", "d": "b", "e": "c"}
_MOST_COLUMNS = 6
_PLACES = re.compile(r"\{(\w+)\}")
_RANGES = {"i": (-9.0, 9.0)}


def filled(drawer, form):
    """The form as Python, with variables there are or new inputs."""
    words, names = dict.fromkeys(_PLACES.findall(form)), {}
    for word in words:
        if word in "fibcmx":
            names[word] = _variable(drawer, drawer.choose("fibc") if word == "x" else word)
    for word in words:
        if word in _SECOND:
            first = _SECOND[word]
            names.setdefault(first, _variable(drawer, first))
            names[word] = beside(drawer, names[first])
    rank = drawer.known[next(iter(names.values()))].ndim if names else 1
    names["int"] = drawer.random.randint(3)
    names["axis"] = drawer.random.randint(-rank, max(rank, 1))
    names["perm"] = tuple(drawer.random.permutation(rank).tolist())
    return form.format(**names)


def dtype_of(drawer, letter):
    """A dtype for the kind."""
    if letter == "i":
        return drawer.choose(_INTEGERS)
    if letter in "cm":
        return _COMPLEX.get(drawer.dtype, "complex64")
    return {"f": drawer.dtype, "b": "bool"}[letter]


def _variable(drawer, letter):
    dtype = dtype_of(drawer, letter)
    fits = drawer.candidates(dtype)
    if letter == "m":
        fits = [n for n in fits if max(drawer.known[n].shape[-2:], default=0) <= _MOST_COLUMNS]
    if fits and drawer.chance(0.8):
        return drawer.choose(fits)
    low, high = _RANGES.get(letter, (-2.0, 2.0))
    shape = drawer.new_shape()
    if letter == "m":
        shape = (*shape[:1], *(drawer.random.randint(1, _MOST_COLUMNS + 1, 2).tolist()))
    return drawer.new_input(shape, dtype, low, high)


def beside(drawer, first):
    """One that broadcasts with a variable: some axes may have size 1 or be left out."""
    value = drawer.known[first]
    alike = [n for n in drawer.order if drawer.known[n].shape == value.shape
             and drawer.known[n].dtype == value.dtype]  # fmt: skip
    if drawer.chance(0.7):
        return drawer.choose(alike)
    shape = tuple(1 if drawer.chance(0.2) else n for n in value.shape)
    shape = shape[drawer.random.randint(2) :]
    fits = drawer.may_have(shape)  # an axis of size 0 may have hidden large ones
    return drawer.new_input(shape, value.dtype.name, -3.0, 3.0) if fits else drawer.choose(alike)


def keyed(drawer, name):
    """A line that reads or writes a part of the variable: (text, whether it writes)."""
    value = drawer.known[name]
    key = Key(drawer.random, value.shape, name).text() or "..."
    writes = name[0] in "av" and drawer.focus.writes and drawer.chance(0.5)
    if not writes:
        return f"{name}[{key}]", False
    form = drawer.choose(("{a}[{key}] = %s", "{a}[{key}] += %s")) % drawer.choose(VALUES)
    return form.format(a=name, key=key), True
