"""Attributes of modules by their paths, such as "layers.0": through modules, lists and dicts."""

from collections.abc import Mapping

from ..module import Module
from ..module.entries import entries
from ..tensor import Tensor

_NONE = object()


def attribute_of(owner, path, *default):
    """Gives what stands at `path` of the module `owner`; `default` where nothing does.

    AttributeError: there must be such an attribute.
    """
    value, rest = owner, path
    while rest and value is not _NONE:
        value, rest = _step(value, rest)
    if value is not _NONE:
        return value
    if default:
        return default[0]
    raise AttributeError(
        f"getattr: path must be that of an attribute of {type(owner).__name__}, got {path!r}"
    )


def set_attribute(owner, path, value):
    """Puts `value` at `path` of the module `owner`."""
    before, _, key = path.rpartition(".")
    holder = attribute_of(owner, before) if before else owner
    if isinstance(holder, Module):
        Module.__setattr__(holder, key, value)
        return
    if isinstance(holder, tuple):
        items = list(holder)
        items[int(key)] = value
        set_attribute(owner, before, type(holder)(items))
        return
    holder[int(key) if isinstance(holder, list) else key] = value


def _step(value, path):
    """Gives what the first key of `path` names in `value`, and the rest of the path."""
    key, _, rest = path.partition(".")
    if isinstance(value, Module):
        own = vars(value)
        return (own[key] if key in own else getattr(value, key, _NONE)), rest
    if isinstance(value, Mapping):
        if path in value:  # keys may have dots
            return value[path], ""
        return value.get(key, _NONE), rest
    if isinstance(value, (list, tuple)) and key.isdigit() and int(key) < len(value):
        return value[int(key)], rest
    return _NONE, rest


def holds(value):
    """Whether an attribute holds tensors or modules."""
    return next(entries((Tensor, Module), "", value), None) is not None


def paths_below(module):
    """(path, object) of every tensor and module of `module` and below, each path once."""
    for path, item, _ in module._every():
        yield path, item


def text_of(owner, name, path):
    """The expression of Python that reads `path` of the variable `name`, the module `owner`."""
    text, value, rest = name, owner, path
    while rest:
        key, _, _ = rest.partition(".")
        if isinstance(value, Module):
            is_plain = key.isidentifier() and not hasattr(type(value), key)
            text += f".{key}" if is_plain else f".__dict__[{key!r}]"
        elif isinstance(value, Mapping):
            text += f"[{(rest if rest in value else key)!r}]"
        else:
            text += f"[{key}]"
        value, rest = _step(value, rest)
    return text
