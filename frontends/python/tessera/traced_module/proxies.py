"""Stand-ins for what a recorded module computes with: tensors and numbers that know their nodes.

Each has the value that the call has here. A tensor's stand-in is no Tensor, though it is an
instance of that class for `isinstance`: what no recorded call takes cannot slip through.
"""

import operator

from .._numpy_functions import array_function, array_ufunc
from . import _current
from .operators import BINARY, COMPARISONS, SUBSCRIPTS, UNARY


class TensorProxy:
    """A tensor of the call that is recorded."""

    __slots__ = ("__weakref__", "node", "value")

    def __init__(self, node, value):
        object.__setattr__(self, "node", node)
        object.__setattr__(self, "value", value)

    @property
    def __class__(self):
        return type(self.value)

    def __getattr__(self, name):
        found = _current.recorder()
        if found is None or found.is_muted:
            return getattr(self.value, name)
        return found.attribute(self, name)

    def __setattr__(self, name, value):
        found = _current.recorder()
        if found is not None and not found.is_muted:
            found.refuse_change(f"{type(self.value).__name__}.{name}")
        setattr(self.value, name, value)

    def __bool__(self):
        if (found := _current.recorder()) is not None and not found.is_muted:
            found.refuse_branch(self)
        return bool(self.value)

    def __len__(self):
        return len(self.value)

    def __iter__(self):
        return iter([self[i] for i in range(len(self.value))])

    def __contains__(self, item):
        return bool((self == item).any())

    def __hash__(self):
        return id(self)

    def __repr__(self):
        return repr(self.value)

    def __str__(self):
        return str(self.value)

    def __format__(self, spec):
        return format(self.value, spec)

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self.copy()

    __array_ufunc__ = array_ufunc
    __array_function__ = array_function
    __array_priority__ = 1000


def _operator(name):
    def _method(self, *args):
        found = _current.recorder()
        if found is None or found.is_muted:
            return getattr(self.value, name)(*map(_plain, args))
        return found.call_method(self, name, args, {})

    _method.__name__ = name
    return _method


def _number(name):
    """A method that gives what Python computes with from then on."""

    def _method(self, *args, **kwargs):
        found = _current.recorder()
        if found is not None:
            found.tell_constant(f"{name}() of a tensor")
        return getattr(self.value, name)(*args, **kwargs)

    _method.__name__ = name
    return _method


for _name in (*BINARY, *UNARY, *SUBSCRIPTS):
    setattr(TensorProxy, _name, _operator(_name))
READ_AS_NUMBERS = ("item", "tolist", "numpy", "__array__", "__int__", "__float__", "__index__",
                   "__complex__", "__dlpack__", "__dlpack_device__")  # fmt: skip
for _name in READ_AS_NUMBERS:
    setattr(TensorProxy, _name, _number(_name))


def _plain(value):
    return value.value if type(value) is TensorProxy else value


class NumberProxy:
    """A size, or a number that is computed of sizes: an instance of `int` or `float` for
    `isinstance`. Arithmetic is recorded; where Python itself wants a number it is a constant.
    """

    __slots__ = ("node", "value")

    def __init__(self, node, value):
        self.node, self.value = node, value

    @property
    def __class__(self):
        return type(self.value)

    def __hash__(self):
        return hash(self.value)

    def __repr__(self):
        return repr(self.value)

    def __format__(self, spec):
        return format(self.value, spec)


def _arithmetic(name):
    """A method of numbers that is recorded."""

    def _method(self, *others):
        found = _current.recorder()
        if any(type(other) is TensorProxy for other in others):
            return NotImplemented  # which the tensor computes
        if found is None or found.is_muted or not all(map(_is_number, others)):
            return getattr(self.value, name)(*map(_number_of, others))
        return found.call_method(self, name, others, {})

    _method.__name__ = name
    return _method


def _as_constant(name):
    """A method that gives what Python computes with from then on."""

    def _method(self, *others):
        found = _current.recorder()
        if found is not None and not found.is_muted:
            is_comparison = name in COMPARISONS
            how = f"a comparison with {self.value}" if is_comparison else f"{self.value}"
            found.tell_constant(f"{how}, a size")
        return getattr(self.value, name)(*map(_number_of, others))

    _method.__name__ = name
    return _method


def _is_number(value):
    return isinstance(value, (int, float))


def _number_of(value):
    return value.value if type(value) is NumberProxy else value


for _name in ("add", "sub", "mul", "floordiv", "mod", "truediv", "pow"):
    for _method in (f"__{_name}__", f"__r{_name}__"):
        setattr(NumberProxy, _method, _arithmetic(_method))
for _name in ("__neg__", "__abs__", "__pos__"):
    setattr(NumberProxy, _name, _arithmetic(_name))
for _name in (*COMPARISONS, "__index__", "__int__", "__float__", "__bool__", "__round__",
              "__divmod__", "__and__", "__or__", "__lshift__", "__rshift__"):  # fmt: skip
    setattr(NumberProxy, _name, _as_constant(_name))


class FlagProxy:
    """Whether a module is in training; what Python decides by it is recorded as it is now."""

    __slots__ = ("node", "value")

    def __init__(self, node, value):
        self.node, self.value = node, value

    @property
    def __class__(self):
        return bool

    def __bool__(self):
        found = _current.recorder()
        if found is not None and not found.is_muted:
            found.tell_constant(f"training={self.value} of a module")
        return self.value

    def __eq__(self, other):
        return bool(self) == other

    def __hash__(self):
        return hash(self.value)

    def __repr__(self):
        return repr(self.value)

    def __index__(self):
        return operator.index(bool(self))


def scalar(node, value):
    """The stand-in of a number."""
    return (FlagProxy if type(value) is bool else NumberProxy)(node, value)
