"""Parts of modules by the names that walks give them."""

from collections.abc import Mapping

from ..module import Module


def get_expand_structure(obj, key):
    """The attribute, tensor or module called `key`, such as "layers.0.bias": through modules,
    lists, tuples and dicts.

    KeyError: each part of key must name something in what stands before it.

    >>> import tessera.module as M
    >>> from tessera.utils.module_utils import get_expand_structure
    >>> get_expand_structure(M.Sequential(M.Linear(4, 2)), "0.out_features")
    2
    """
    found, rest = obj, key
    while rest:
        name, rest = _split("get_expand_structure", found, rest, key)
        found = _item(found, name)
    return found


def set_expand_structure(obj, key, value):
    """Puts `value` in the place of what get_expand_structure gives. A tuple on the way is replaced
    by another, in its list, dict or module.

    KeyError: each part of key must name something in what stands before it. TypeError: a part of
    obj must be able to change.

    >>> import tessera.module as M
    >>> from tessera.utils.module_utils import set_expand_structure
    >>> net = M.Sequential(M.Linear(4, 2))
    >>> set_expand_structure(net, "0", M.Identity())
    >>> net[0]
    Identity()
    """
    _replaced(obj, key, key, value)


def _replaced(container, rest, key, value):
    """What `container` is after the change: itself, or another tuple."""
    if not rest:
        return value
    name, below = _split("set_expand_structure", container, rest, key)
    item = _replaced(_item(container, name), below, key, value)
    if isinstance(container, tuple):
        items = [item if i == name else each for i, each in enumerate(container)]
        is_named = hasattr(container, "_make")
        return container._make(items) if is_named else type(container)(items)
    if isinstance(container, (list, dict)):
        container[name] = item
    elif isinstance(container, Module):
        setattr(container, name, item)
    else:
        raise TypeError(
            f"set_expand_structure: {key} must lead through modules, lists, tuples and dicts, "
            f"got {type(container).__name__}"
        )
    return container


def _split(function, container, rest, key):
    """The first part of `rest` that `container` has something for, and what is left."""
    parts = rest.split(".")
    for count in range(1, len(parts) + 1):  # names in dicts may have dots
        name = ".".join(parts[:count])
        if isinstance(container, (list, tuple)) and name.isdecimal():
            name = int(name)
        if _has(container, name):
            return name, ".".join(parts[count:])
    raise KeyError(
        f"{function}: key must lead to a part of the module, got {key!r} with nothing at "
        f"{parts[0]!r} of {type(container).__name__}"
    )


def _has(container, name):
    if isinstance(container, (list, tuple)):
        return isinstance(name, int) and name < len(container)
    return name in container if isinstance(container, Mapping) else hasattr(container, name)


def _item(container, name):
    if isinstance(container, (list, tuple, Mapping)):
        return container[name]
    return getattr(container, name)
