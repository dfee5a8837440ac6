"""The functions of an operator in Python, as the kernel calls them."""

import numpy as np

from .._foreign_dtypes import NAMES, array_dtype

_ADD = 3  # the request that adds to what is there


class Meta:
    """The dtype and shape of a value without data; `infer` gives and takes such."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape, dtype):
        self.shape, self.dtype = (
            tuple(shape),
            np.dtype(dtype).name if not isinstance(dtype, str) else dtype,
        )

    def __repr__(self):
        return f"Meta({self.shape}, {self.dtype!r})"

    @property
    def ndim(self):
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self):
        """The number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))


class _Memory:
    """Memory of a tensor, for NumPy."""

    def __init__(self, address, dtype, shape):
        self.__array_interface__ = {
            "version": 3, "shape": shape, "typestr": dtype.str, "data": (address, False),
        }  # fmt: skip


def _array(tensor):
    """The array over a tensor's memory, and its request; None where there is none."""
    if tensor is None:
        return None
    address, name, shape, _ = tensor
    dtype = array_dtype(name, "custom_op") if name in NAMES else np.dtype(name)
    if 0 in shape:
        return np.empty(shape, dtype)
    if dtype.kind == "V" or dtype.num >= 256:  # a dtype that NumPy does not know by its text
        return np.asarray(_Memory(address, np.dtype((np.void, dtype.itemsize)), shape)).view(dtype)
    return np.asarray(_Memory(address, dtype, shape))


def arrays_of(tensors, kind):
    """Arrays of a class over the memory of tensors; None where there is none."""
    return [None if each is None else _array(each).view(kind) for each in tensors]


def _listed(name, method, results, count):
    listed = list(results) if isinstance(results, list | tuple) else [results]
    if len(listed) != count:
        raise ValueError(f"{name}: {method} must give {count} values, got {len(listed)}")
    return listed


def _store(name, what, result, tensor, array, sized):
    """Writes a result where it belongs; the size of its axis 0 where data decides that."""
    made = np.asarray(result)
    wanted = array.shape[1:] if sized else array.shape
    fits = (
        made.shape[1:] == wanted and made.ndim and len(made) <= len(array)
        if sized
        else made.shape == wanted
    )
    if not fits:
        raise ValueError(f"{name}: {what} must have shape {array.shape}, got {made.shape}")
    target = array[: len(made)] if sized else array
    if tensor[3] == _ADD:
        target += made
    else:
        np.copyto(target, made, casting="same_kind")
    return len(made) if sized else -1


class Functions:
    """Calls functions of an operator with arrays over the kernel's memory."""

    def __init__(self, declaration, infer, forward, backward, data_sized, random):
        self.declaration = declaration
        self.infer_function, self.forward_function = infer, forward
        self.backward_function = backward
        self.data_sized, self.random = frozenset(data_sized), random

    def infer(self, metas, parameters):
        """(dtype, sizes) of each output."""
        d = self.declaration
        parameters.pop("is_training", None)
        found = self.infer_function(*(Meta(shape, dtype) for dtype, shape in metas), **parameters)
        results = _listed(d.name, "infer", found, len(d.outputs) + len(d.hidden))
        return [(Meta(each.shape, each.dtype).dtype, each.shape) for each in results]

    def forward(self, inputs, outputs, states, parameters, draws):
        """Computes the outputs. Returns the sizes that data decides, or None."""
        d = self.declaration
        if self.random:
            seed, offset = draws
            parameters["rng"] = np.random.Generator(np.random.Philox(key=seed, counter=offset))
        given = [_array(each) for each in inputs + states]
        for each in given[: len(inputs)]:
            each.flags.writeable = False
        names = [*d.outputs, *d.hidden]
        results = _listed(
            d.name, "forward", self.forward_function(*given, **parameters), len(names)
        )
        sizes = [
            _store(
                d.name, f"output {name}", result, tensor, _array(tensor), name in self.data_sized
            )
            for name, result, tensor in zip(names, results, outputs, strict=True)
        ]
        return sizes if self.data_sized else None

    def backward(self, inputs, outputs, states, parameters, draws):
        """Computes the gradients that are wanted."""
        d = self.declaration
        parameters.pop("is_training", None)
        given = [_array(each) for each in inputs]
        for each in given:
            each.flags.writeable = False
        results = self.backward_function(*given, **parameters)
        results = _listed(d.name, "backward", results, len(d.inputs))
        for name, result, tensor in zip(d.inputs, results, outputs, strict=True):
            if tensor is None:
                continue
            array = _array(tensor)
            if result is None:
                array[...] = 0
            else:
                _store(d.name, f"gradient of {name}", result, tensor, array, False)
