"""Tensors and modules that an attribute of a module holds."""

import functools
from collections.abc import Mapping

by_name = functools.partial(sorted, key=str)


def entries(kinds, key, value, order=by_name):
    """(path, value) of objects of the `kinds` in an attribute, through lists, tuples and dicts,
    whose keys `order` arranges.
    """
    if isinstance(value, kinds):
        yield key, value
    elif isinstance(value, (list, tuple)):
        for number, item in enumerate(value):
            yield from entries(kinds, f"{key}.{number}", item, order)
    elif isinstance(value, Mapping):
        for name in order(value):
            for entry in entries(kinds, f"{key}.{name}", value[name], order):
                if not isinstance(name, str):
                    raise TypeError(f"Module: keys in {key} must be strings, got {name!r}")
                yield entry
