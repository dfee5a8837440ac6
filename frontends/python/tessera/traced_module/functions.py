"""The functions whose calls are recorded whole, and the modules that stay closed."""

import copy
import functools
import types

from .. import functional, random
from .. import module as modules
from .._custom.calls import call_operator
from ..autodiff import (
    Function,
    checkpoint,
    grad,
    hessian,
    jacobian,
    jvp,
    value_and_grad,
    vjp,
    vmap,
)
from ..functional import fft, metric, quantized, quantized_conv
from ..module import Module, Sequential, qat
from ..module import quantized as quantized_modules
from ..tensor import asarray, tensor
from .modes import ENTERING, LEAVING

_wrapped, _builtin = {}, set()
# Functions of functions.
REFUSED = frozenset((grad, hessian, jacobian, jvp, value_and_grad, vjp, vmap))
# Methods of generators that draw numbers.
_DRAWN = ("RNG", "seed")
DRAWING = frozenset(getattr(random.RNG, name) for name in random.__all__ if name not in _DRAWN)


def _exported(part):
    for name in getattr(part, "__all__", dir(part)):
        value = getattr(part, name)
        if isinstance(value, types.FunctionType) and not name.startswith("_"):
            yield value


@functools.cache
def recorded():
    """A dict whose keys are the functions in Python; operators tell of themselves."""
    found = dict.fromkeys(_exported(functional))
    for part in (fft, metric, quantized, quantized_conv, random):
        found.update(dict.fromkeys(_exported(part)))
    found.update(dict.fromkeys((tensor, asarray, checkpoint, Module.__call__, Function.__call__)))
    found[call_operator] = None
    found.update(dict.fromkeys(DRAWING))
    found.update(dict.fromkeys((*ENTERING, *LEAVING, *REFUSED, *_wrapped)))
    return found


def custom_gradient(function, *inputs):
    """The call of `function`, an autodiff.Function, by an object of its own: one is called once."""
    return copy.copy(function)(*inputs)


def wrap(func):
    """Has calls of the function `func` recorded as one expression, instead of the calls in it;
    returns the function, so that it is a decorator, too.

    TypeError: func must be a function written in Python.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> import tessera.traced_module as tm
    >>> @tm.wrap
    ... def double(x):
    ...     return x + x
    >>> class Net(M.Module):
    ...     def forward(self, x):
    ...         return double(x)
    >>> tm.trace_module(Net(), F.zeros(2)).graph.get_function_by_type(double).as_count()
    1
    """
    if not isinstance(func, types.FunctionType):
        raise TypeError(f"wrap: func must be a function written in Python, got {func!r}")
    _wrapped[func] = None
    recorded()[func] = None
    return func


def register_as_builtin(mod_cls):
    """Leaves modules of the class `mod_cls` closed: a call of one is one expression. Returns the
    class, so that it is a decorator, too. A file of the module is loaded where the class is known.

    TypeError: mod_cls must be a class of modules.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> import tessera.traced_module as tm
    >>> @tm.register_as_builtin
    ... class Double(M.Module):
    ...     def forward(self, x):
    ...         return x + x
    >>> net = tm.trace_module(M.Sequential(Double()), F.zeros(2))
    >>> [str(expr) for expr in net.graph.exprs()]
    ['_0 = getattr(self, "0") -> (Double)', '_0_out = _0(inp, )']
    """
    if not (isinstance(mod_cls, type) and issubclass(mod_cls, Module)):
        raise TypeError(f"register_as_builtin: mod_cls must be a class of modules, got {mod_cls!r}")
    _builtin.add(mod_cls)
    return mod_cls


# Rooms of the package with classes of modules, by the names that files give them.
_ROOMS = {"module": modules, "module.qat": qat, "module.quantized": quantized_modules}
_OPEN = (Module, Sequential, modules.ModuleList, modules.ModuleDict, qat.QATModule,
         quantized_modules.QuantizedModule)  # fmt: skip
_QUANTIZATION = f"{__package__.partition('.')[0]}.quantization"


def _modules_of(room, part):
    members = {f"{room}.{name}": getattr(part, name) for name in part.__all__}
    return {name: kind for name, kind in members.items()
            if isinstance(kind, type) and issubclass(kind, Module)}  # fmt: skip


@functools.cache
def package_modules():
    """Classes of modules of the package by name, but for `quantization_modules`."""
    return {
        name: kind
        for room, part in _ROOMS.items()
        for name, kind in _modules_of(room, part).items()
    }


@functools.cache
def quantization_modules():
    """Modules of quantization by name; who has one has imported the package."""
    from ..quantization import fake_quant, observer  # few need them
    from ..quantization.post_training import dynamic

    members = [*vars(observer).items(), *vars(fake_quant).items(), *vars(dynamic).items()]
    return {
        f"quantization.{name}": kind
        for name, kind in members
        if isinstance(kind, type) and issubclass(kind, Module) and _is_public(name, kind)
    }


def _is_public(name, kind):
    return kind.__module__.startswith(_QUANTIZATION) and not name.startswith("_")


def is_of_quantization(kind):
    """Whether the class is a module of `quantization`."""
    return kind.__module__.startswith(_QUANTIZATION) and kind in quantization_modules().values()


@functools.cache
def _closed():
    return frozenset(package_modules().values()).difference(_OPEN)


def is_closed(module):
    """Whether a call of the module is one expression."""
    kind = type(module)
    return kind in _closed() or kind in _builtin or is_of_quantization(kind)


def is_registered(kind):
    """Whether the user has registered the class."""
    return kind in _builtin


def wrapped():
    """The user's functions whose calls are recorded whole."""
    return _wrapped.keys()


def registered_modules():
    """The user's classes of modules that stay closed."""
    return frozenset(_builtin)
