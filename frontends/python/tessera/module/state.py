"""Values of a module's tensors by name: read, checked and taken over."""

from collections.abc import Mapping

import numpy as np

from ..dtype import is_quantize
from ..tensor import Tensor


def array_of(tensor, owner):
    """The read-only array that stands for the tensor of the module `owner`."""
    array = tensor.numpy().view()
    array = array.reshape(-1) if owner._has_flat_state else array
    array.flags.writeable = False
    return array


def load(module, state_dict, strict):
    """See Module.load_state_dict."""
    rows = list(module._every())
    tensors = [row for row in rows if isinstance(row[1], Tensor)]
    values = _values(module, rows, tensors, state_dict)
    found = [row for row in tensors if values.get(row[0]) is not None]
    missing = list(_left(tensors, {id(tensor) for _, tensor, _ in found}))
    if strict:
        names = {name for name, _, _ in tensors}
        _check_names(module, missing, [name for name in values if name not in names])
    arrays = {name: np.asarray(values[name]) for name, _, _ in found}
    _check_shapes(module, found, arrays)
    for name, tensor, _ in found:
        array = arrays[name].reshape(tensor.shape)
        value = Tensor(array, dtype=_dtype_of(array, tensor))
        value.format = tensor.format
        tensor._reset(value)
    return missing


def _values(module, rows, tensors, state_dict):
    """The value of each name; None for a tensor that is left."""
    if callable(state_dict):
        return {name: state_dict(name, tensor) for name, tensor, _ in tensors}
    if not isinstance(state_dict, Mapping):
        kind = type(state_dict).__name__
        raise TypeError(f"load_state_dict: state_dict must be a dict or a function, got {kind}")
    values = dict(state_dict)
    module._convert_state(values, "")
    for name, value, _ in rows:
        if not isinstance(value, Tensor):
            value._convert_state(values, f"{name}.")
    return values


def _left(tensors, taken):
    """The first name of each tensor whose id is not in `taken`."""
    for name, tensor, _ in tensors:
        if id(tensor) not in taken:
            taken.add(id(tensor))
            yield name


def _dtype_of(array, tensor):
    """That of the tensor; of quantized numbers for a quantized tensor their own, with its scale."""
    are_quantized = is_quantize(array.dtype) and is_quantize(tensor.dtype)
    return array.dtype if are_quantized else tensor.dtype


def _check_names(module, missing, unexpected):
    if missing or unexpected:
        raise KeyError(
            f"load_state_dict: names must be those of {type(module).__name__}, "
            f"got missing {missing} and unexpected {unexpected}"
        )


def _check_shapes(module, found, arrays):
    wrong = [
        f"{name} {arrays[name].shape} for {tuple(tensor.shape)}"
        for name, tensor, owner in found
        if not _fits(arrays[name], tensor, owner)
    ]
    if wrong:
        raise ValueError(
            f"load_state_dict: shapes must be those of {type(module).__name__}, got "
            + ", ".join(wrong)
        )


def _fits(array, tensor, owner):
    if owner._has_flat_state:
        return array.size == tensor.size
    return array.shape == tuple(tensor.shape)
