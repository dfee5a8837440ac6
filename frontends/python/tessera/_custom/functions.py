"""The functions of an operator in Python, as the kernel calls them."""

import numpy as np

from .. import _core
from .._foreign_dtypes import NAMES, array_dtype
from .declaration import ABI

_ADD = ABI["TESS_ADD"]


class OpenSizeError(TypeError):
    """A size has no number yet."""


class Size:
    """A size without a number yet: one may calculate with it, and ask no more of it."""

    __slots__ = ("handle",)

    def __init__(self, handle):
        self.handle = handle

    def __repr__(self):
        return "Size(?)"

    def _number(self, *others):
        raise OpenSizeError("infer: a size must have a number to be looked at, got an open one")

    __index__ = __int__ = __float__ = __bool__ = _number
    __lt__ = __le__ = __gt__ = __ge__ = _number

    def __eq__(self, other):
        if isinstance(other, Size) and other.handle == self.handle:
            return True
        return self._number()

    def __hash__(self):
        return hash(self.handle)


def _operation(number):
    """Methods for an operator of Python: the one with `self` on the left, the one on the right."""

    def _left(a, b):
        return _size(_core.combine_sizes(number, _handle(a), _handle(b)))

    return _left, lambda a, b: _left(b, a)


def _size(number):
    return Size(number) if number < 0 else number


def _handle(size):
    return size.handle if isinstance(size, Size) else int(size)


for _name in ("add", "sub", "mul", "floordiv", "mod"):
    _methods = _operation(ABI[f"TESS_SIZE_{_name.upper()}"])
    for _prefix, _method in zip(("", "r"), _methods, strict=True):
        setattr(Size, f"__{_prefix}{_name}__", _method)


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
        product = 1
        for size in self.shape:
            product = product * size
        return product


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
        """(dtype, sizes) of each output; None where it needs numbers for open sizes."""
        d = self.declaration
        parameters.pop("is_training", None)
        given = [Meta([_size(n) for n in shape], dtype) for dtype, shape in metas]
        try:
            found = self.infer_function(*given, **parameters)
        except OpenSizeError:
            return None
        results = _listed(d.name, "infer", found, len(d.outputs) + len(d.hidden))
        return [
            (Meta(each.shape, each.dtype).dtype, [_handle(n) for n in each.shape])
            for each in results
        ]

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
