"""Python's own exceptions in the form of every message: `<op>: <what must hold>, got <values>`.

This is the adapter of the functions written in Python, as Errors.cpp is the extension's. They look
at no argument before they use it: None has no shape, an empty tuple no last item, a text no width,
and NumPy refuses a negative size. Checks of all that would repeat what inference says one call
later; without the adapter one of 60 random calls (tests/fuzz/calls.py), in some 30 functions, ends
in words that name neither the function nor what it got. Functions of one operator go without it:
the extension reads their arguments and speaks the form.
"""

import functools
import re
import types

_FORM = re.compile(r"[^\n:]+: .+, got .+", re.DOTALL)
_TYPE_ERRORS = (TypeError, AttributeError)


def has_known_form(error):
    """True when the message of `error` says what must hold and what came."""
    return bool(_FORM.match(str(error)))


@functools.cache  # so that a function in two modules stays one function
def known_form(function):
    """`function`, with the message of each of its errors in the known form.

    What Python says when arguments do not bind stays, and so do errors that speak the form.
    """

    @functools.wraps(function)
    def checked(*args, **kwargs):
        """The function itself, once more."""
        try:
            return function(*args, **kwargs)
        except Exception as error:
            if error.__traceback__.tb_next is None:  # the arguments did not bind
                _check_names(function, args, kwargs)
                raise
            raise in_known_form(function, error, args, kwargs)  # noqa: B904  # it sets the cause

    return checked


def _check_names(function, args, kwargs):
    """TypeError where a constructor was given names that it does not have, which lists its own."""
    if function.__name__ != "__init__" or not args:
        return
    known = _names_of(type(args[0]))
    unknown = [name for name in kwargs if name not in known]
    if unknown:
        raise TypeError(
            f"{type(args[0]).__name__}: arguments must be among {', '.join(known)}, got "
            f"{', '.join(unknown)}"
        )


def _names_of(kind):
    """The arguments of a class, with those that `**kwargs` passes on to the classes above it."""
    import inspect  # for errors only

    names = []
    for base in kind.__mro__:
        if "__init__" in vars(base):
            parameters = [*inspect.signature(vars(base)["__init__"]).parameters.values()][1:]
            names += [each.name for each in parameters if each.kind != each.VAR_KEYWORD]
            if not any(each.kind == each.VAR_KEYWORD for each in parameters):
                break
    return list(dict.fromkeys(names))


def export_known_form(part, names):
    """Gives the Python-written functions of a module, and the constructors of its classes, their
    edge.
    """
    for name in names:
        value = getattr(part, name)
        if isinstance(value, types.FunctionType):
            setattr(part, name, known_form(value))
        elif isinstance(value, type):
            _export_constructors(value)


def _export_constructors(kind):
    for base in kind.__mro__:
        made = vars(base).get("__init__")
        if isinstance(made, types.FunctionType) and not hasattr(made, "__wrapped__"):
            base.__init__ = known_form(made)


def in_known_form(function, error, args, kwargs):
    """`error` itself when it has the form; else one that has, of which it is the cause."""
    if has_known_form(error):
        return error
    name = function.__name__
    if name in ("__init__", "forward"):
        name, args = type(args[0]).__name__, args[1:]
    given = [*map(_described, args), *(f"{k}={_described(v)}" for k, v in kwargs.items())]
    message = (
        f"{name}: arguments must be as its documentation says, got ({', '.join(given)}), "
        f"at which Python says {type(error).__name__}: {error}"
    )
    new = TypeError(message) if isinstance(error, _TYPE_ERRORS) else ValueError(message)
    if isinstance(error, (MemoryError, NotImplementedError, OSError)):
        new = type(error)(message)
    new.__cause__ = error
    return new


def _described(value):
    dtype, shape = getattr(value, "dtype", None), getattr(value, "shape", None)
    if dtype is not None and isinstance(shape, tuple):
        return f"{dtype}{list(shape)}"
    if value is None or isinstance(value, (bool, int, float, str)):
        text = repr(value)
        return text if len(text) <= 40 else text[:40] + "..."
    return type(value).__name__
