"""MegEngine's checkpoints: pickles of containers, arrays and tensors.

The instructions of the pickle are followed here, one by one, and a name in it stands for one of the
functions below or is refused: nothing is imported, called or constructed besides. Arrays are made
of their bytes, never by NumPy's own unpickling, whose states can name memory.
"""

import math
import pickletools
import re
from collections import OrderedDict

import numpy as np

from ..tensor import Parameter, Tensor
from .dtypes import BITS, DTYPES

_MOST_AXES = 64  # of NumPy
_SCALARS = (str, bytes, int, float, complex, np.generic, type(None))
# How a pickle writes dtypes: "f4" for float32, and the class where a tensor says its own.
_DTYPE_NAMES = {np.dtype(name).str[1:]: name for name in DTYPES - BITS.keys()}
_DTYPE_CLASSES = {f"numpy.{np.dtype(name).type.__name__}": name for name in _DTYPE_NAMES.values()}
_DTYPE_CLASSES["numpy.bool_"] = "bool"  # NumPy 2 calls the class bool


def read_pickle(data, locate):
    """The value that the pickle `data` holds; ValueError names what it may not hold.

    `locate(device)` is the device for a tensor that was on that device.
    """
    machine = _Machine(locate, len(data))
    try:
        for opcode, argument, _ in pickletools.genops(data):
            machine.step(opcode.name, argument)
    except _RefusedError as refused:
        raise ValueError(
            f"load: a pickle must hold only containers, arrays and MegEngine tensors, "
            f"got {refused}; load it with pickle where you trust it"
        ) from None
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"load: a pickle must be whole and undamaged, got {error!r}") from None
    return machine.result


class _RefusedError(Exception):
    """What a pickle may not hold."""


class _Made:
    """What REDUCE or NEWOBJ makes: its state comes later, so the value is made at its first use."""

    def __init__(self, make, arguments):
        self._make, self._arguments, self._state = make, arguments, None
        self._values = []

    def build(self, state):
        """Gives the state, once, and before the first use."""
        if self._values or self._state is not None:
            raise _RefusedError("a second state of one object")
        self._state = state

    def value(self):
        """The value, made once."""
        if not self._values:
            self._values.append(self._make(self._arguments, self._state))
        return self._values[0]


def _dtype(arguments, state):
    name = _DTYPE_NAMES.get(str(arguments[0]))
    fields_or_metadata = state is not None and any(
        part is not None for part in (*state[2:5], *state[8:])
    )
    if name is None or fields_or_metadata:
        raise _RefusedError(f"the dtype {arguments[0]!r}")
    return np.dtype(name).newbyteorder(">" if state is not None and state[1] == ">" else "<")


def _array_of(data, dtype, shape, order):
    if isinstance(data, str):  # protocols below 3 have no bytes
        data = data.encode("latin-1")
    if not isinstance(data, (bytes, bytearray)):
        raise _RefusedError(f"an array of {type(data).__name__}")
    if not isinstance(dtype, np.dtype):
        raise TypeError(f"dtype {dtype!r}")
    if len(shape) > _MOST_AXES or not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError("a shape that is none")
    if math.prod(shape) * dtype.itemsize != len(data):
        raise ValueError(f"{len(data)} bytes for an array of {dtype} {shape}")
    array = np.frombuffer(bytearray(data), dtype=dtype).reshape(shape, order=order)
    return array.astype(dtype.newbyteorder("="), copy=False)


def _array(arguments, state):
    _, shape, dtype, fortran, data = state
    return _array_of(data, dtype, shape, "F" if fortran else "C")


def _frombuffer(arguments, state):
    return _array_of(*arguments)


def _scalar(arguments, state):
    dtype, data = arguments
    return _array_of(data, dtype, (), "C")[()]


def _encoded(arguments, state):
    text, encoding = arguments
    if encoding != "latin1":
        raise _RefusedError(f"the encoding {encoding!r}")
    return text.encode("latin-1")


def _no_bytes(arguments, state):
    if arguments:
        raise _RefusedError("bytes of arguments")
    return b""  # as protocol 2 writes it


def _ordered(arguments, state):
    return OrderedDict((_key(key), value) for key, value in (arguments[0] if arguments else ()))


def _key(value):
    """`value` as a key or an item of a set. (To hash a tuple of many levels ends the process.)"""
    parts = value if isinstance(value, tuple) else [value]
    if not all(isinstance(part, _SCALARS) for part in parts):
        raise _RefusedError(f"a key of type {type(value).__name__}")
    return value


def _tensor(kind, locate):
    def _make(arguments, state):
        given = dict(zip(("data", "dtype", "device"), arguments, strict=False))
        given.update(state or {})
        if any(value is not None for value in (given.get("qdict") or {}).values()):
            raise _RefusedError("a quantized tensor")
        data, device = given["data"], given.get("device") or "xpux"
        if not isinstance(data, (np.ndarray, np.generic)):
            raise _RefusedError(f"a tensor of {type(data).__name__}")
        dtype = data.dtype if given.get("dtype") is None else np.dtype(given["dtype"])
        tensor = kind(np.asarray(data), dtype=dtype.name, device=locate(device))
        tensor.name = given.get("name") or ""
        return tensor

    return _make


def _names(locate):
    """What stands for each name: a function of the arguments and the state, or a dtype."""
    return {
        "numpy.ndarray": None,  # an argument of _reconstruct
        "numpy.dtype": _dtype,
        "numpy.core.multiarray._reconstruct": _array,
        "numpy.core.multiarray.scalar": _scalar,
        "numpy.core.numeric._frombuffer": _frombuffer,
        "_codecs.encode": _encoded,
        "collections.OrderedDict": _ordered,
        "builtins.bytes": _no_bytes,
        "builtins.set": lambda arguments, state: set(map(_key, *arguments)),
        "builtins.frozenset": lambda arguments, state: frozenset(map(_key, *arguments)),
        "builtins.slice": lambda arguments, state: slice(*arguments),
        "builtins.complex": lambda arguments, state: complex(*arguments),
        "megengine.tensor.Tensor": _tensor(Tensor, locate),
        "megengine.tensor.Parameter": _tensor(Parameter, locate),
        **{name: np.dtype(dtype) for name, dtype in _DTYPE_CLASSES.items()},
    }


class _Machine:
    """The stack and the memo of a pickle; `result` is what it leaves."""

    def __init__(self, locate, size):
        self._names = _names(locate)
        self._left = 4 * size  # bytes; an array in a tensor is copied twice
        self._stack, self._marks, self._memo = [], [], {}
        self.result = None

    def step(self, name, argument):
        """Follows one instruction."""
        if name in _PLAIN:
            self._stack.append(argument)
        elif name in _STEPS:
            _STEPS[name](self, argument)
        else:
            raise _RefusedError(f"the instruction {name}")

    def _popped(self, count):
        """The `count` values on top, in order; made where they are not yet."""
        first = len(self._stack) - count
        if first < (self._marks[-1] if self._marks else 0):
            raise IndexError("pop below a mark")
        values = self._stack[first:]
        del self._stack[first:]
        return tuple(value.value() if isinstance(value, _Made) else value for value in values)

    def _popped_to_mark(self):
        values = self._popped(len(self._stack) - self._marks[-1])
        self._marks.pop()
        return values

    def _top(self, kind):
        """The container on top of the stack, which must be of the class `kind`."""
        value = self._stack[-1]
        if isinstance(value, _Made):
            value = value.value()
        if not isinstance(value, kind):
            raise TypeError(f"{type(value).__name__} for {kind.__name__}")
        return value

    def _push(self, value):
        self._stack.append(value)

    def _extend(self, values):
        self._top(list).extend(values)

    def _add(self, values):
        self._top(set).update(map(_key, values))

    def _update(self, values):
        if len(values) % 2:
            raise ValueError("a key without a value")
        keys = map(_key, values[::2])
        self._top(dict).update(zip(keys, values[1::2], strict=True))

    def _dict(self, argument):
        values = self._popped_to_mark()
        self._push({})
        self._update(values)

    def _memoize(self, number):
        self._memo[len(self._memo) if number is None else number] = self._stack[-1]

    def _global(self, name):
        dotted = re.sub("^__builtin__", "builtins", name.replace("numpy._core.", "numpy.core."))
        if dotted not in self._names:
            raise _RefusedError(name)
        self._push(self._names[dotted])

    def _charge(self, values):
        """Counts what is copied, so that bytes named often do not become many."""
        for value in values:
            size = getattr(value, "nbytes", None)
            self._left -= (
                size if size is not None else len(value) if hasattr(value, "__len__") else 0
            )
        if self._left < 0:
            raise _RefusedError("more numbers than the file has bytes")

    def _make(self, argument):
        function, arguments = self._popped(2)
        if not callable(function) or not isinstance(arguments, tuple):
            raise TypeError(f"a call of {type(function).__name__}")
        self._charge(arguments)
        self._push(_Made(function, arguments))

    def _build(self, argument):
        (state,), made = self._popped(1), self._stack[-1]
        if not isinstance(made, _Made):
            raise _RefusedError(f"a state for {type(made).__name__}")
        self._charge(state.values() if isinstance(state, dict) else state)
        made.build(state)

    def _stop(self, argument):
        (self.result,) = self._popped(1)


_PLAIN = frozenset(
    ["INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4",
     "FLOAT", "BINFLOAT", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "BINBYTES",
     "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"]
)  # fmt: skip
_STEPS = {
    **dict.fromkeys(("PROTO", "FRAME"), lambda machine, argument: None),
    "STOP": _Machine._stop,
    "NONE": lambda machine, argument: machine._push(None),
    "NEWTRUE": lambda machine, argument: machine._push(True),
    "NEWFALSE": lambda machine, argument: machine._push(False),
    "MARK": lambda machine, argument: machine._marks.append(len(machine._stack)),
    "POP": lambda machine, argument: machine._popped(1),
    "POP_MARK": lambda machine, argument: machine._popped_to_mark(),
    "EMPTY_TUPLE": lambda machine, argument: machine._push(()),
    "TUPLE": lambda machine, argument: machine._push(machine._popped_to_mark()),
    "TUPLE1": lambda machine, argument: machine._push(machine._popped(1)),
    "TUPLE2": lambda machine, argument: machine._push(machine._popped(2)),
    "TUPLE3": lambda machine, argument: machine._push(machine._popped(3)),
    "EMPTY_LIST": lambda machine, argument: machine._push([]),
    "LIST": lambda machine, argument: machine._push(list(machine._popped_to_mark())),
    "APPEND": lambda machine, argument: machine._extend(machine._popped(1)),
    "APPENDS": lambda machine, argument: machine._extend(machine._popped_to_mark()),
    "EMPTY_DICT": lambda machine, argument: machine._push({}),
    "DICT": _Machine._dict,
    "SETITEM": lambda machine, argument: machine._update(machine._popped(2)),
    "SETITEMS": lambda machine, argument: machine._update(machine._popped_to_mark()),
    "EMPTY_SET": lambda machine, argument: machine._push(set()),
    "ADDITEMS": lambda machine, argument: machine._add(machine._popped_to_mark()),
    "FROZENSET": lambda machine, argument: machine._push(
        frozenset(map(_key, machine._popped_to_mark()))
    ),
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"), _Machine._memoize),
    **dict.fromkeys(
        ("GET", "BINGET", "LONG_BINGET"),
        lambda machine, number: machine._push(machine._memo[number]),
    ),
    "GLOBAL": lambda machine, argument: machine._global(argument.replace(" ", ".")),
    "STACK_GLOBAL": lambda machine, argument: machine._global(".".join(machine._popped(2))),
    **dict.fromkeys(("REDUCE", "NEWOBJ"), _Machine._make),
    "BUILD": _Machine._build,
}
