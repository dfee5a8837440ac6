"""Recorded calls in words: what they were given, and why another one was recorded."""

import inspect
import os

import numpy as np

from .. import _caller, logger
from .._tree import unflatten
from .telling import warn_once

_MANY = 8  # recordings of one function
_MOST = 3  # differences that are told


class _Text(str):
    """Shown as it is, also within a container."""

    __slots__ = ()
    __repr__ = str.__str__


def _of_kind(kind, base, number):
    """A number of Python as it is written, one of a subclass, as NumPy's float64, with its name."""
    return number if kind is base else f"{kind.__name__}({number})"


def _shown(leaf):
    """An argument by its part of the signature (signature.py): a number as it is written."""
    kind, *rest = leaf
    if kind == "array":
        return _Text(f"array {np.dtype(rest[0])}{list(rest[1])}")
    if not isinstance(kind, type):
        return _Text(f"{kind}{list(map(int, rest[0]))}")
    if issubclass(kind, float):
        return _Text(_of_kind(kind, float, float.fromhex(rest[0])))
    if issubclass(kind, complex):
        return _Text(_of_kind(kind, complex, complex(*map(float.fromhex, rest))))
    if issubclass(kind, np.generic):
        text = rest[1] if rest[1] == "nan" else np.frombuffer(rest[1], rest[0])[0]
        return _Text(f"{kind.__name__}({text})")
    if issubclass(kind, frozenset):
        return _Text(f"a {kind.__name__} of {len(rest[0])}")
    return _Text(repr(rest[0]))


def _names(function, args, kwargs):
    """The arguments as the function calls them."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        return {**{f"argument {number}": value for number, value in enumerate(args)}, **kwargs}
    return bound


def _described(function, variant, key):
    """{name of an argument: text} of a recorded call."""
    structure, _ = variant.arguments
    args, kwargs = unflatten(structure, [_shown(leaf) for leaf in key[1:-1]])
    return {name: repr(value) for name, value in _names(function, args, kwargs).items()}


def call_text(trace, variant):
    """The recorded call, `step(x=float32[4, 3], rate=0.1)`."""
    named = _described(trace.function, variant, variant.key)
    return f"{trace.__name__}({', '.join(f'{name}={text}' for name, text in named.items())})"


def _differing_arguments(trace, key, variant, known):
    """How the call differs from `known`, and what to do about it."""
    if variant.arguments[0] != known.arguments[0]:
        return ["its arguments have another structure"], "give it one structure of arguments"
    new = _described(trace.function, variant, key)
    old = _described(trace.function, known, known.key)
    found = [
        f"{name} is {text}, was {old[name]}" for name, text in new.items() if text != old[name]
    ]
    if found and _tensors(key) == _tensors(known.key):
        return found, "give numbers that change as tensors"
    if found:
        return found, _size_advice(variant)
    if key[-1] != known.key[-1]:
        return ["which arguments are one tensor has changed"], "give it different tensors"
    return ["autocast or the gradients asked for have changed"], "keep them as they are"


def _tensors(key):
    return [leaf for leaf in key[1:-1] if not isinstance(leaf[0], type)]


def _size_advice(variant):
    if variant.fixed:
        return f"one program serves no other sizes, because {variant.fixed}"
    return "pad to a few sizes, or cast to one dtype"


def _distance(key, known):
    """The number of arguments in which two signatures differ."""
    if key[0] != known.key[0] or len(key) != len(known.key):
        return len(key)
    return sum(one != other for one, other in zip(key, known.key, strict=True))


def _why_recorded(trace, key, variant):
    """Differences from the recordings that `trace` has, and what to do; None: it has none."""
    siblings = trace._variants.get(key, ())
    for known in siblings:
        if changes := known.state.changes():
            return [_change_text(*change) for change in changes], "keep what changes in a tensor"
    if siblings:
        return ["an argument is used from outside, too"], "give it different tensors"
    others = [each for kept in trace._variants.values() for each in kept]
    if not others:
        return None
    known = min(others, key=lambda each: _distance(key, each))
    return _differing_arguments(trace, key, variant, known)


def _change_text(path, old, new):
    return f"{path} is {new}, was {old}" if old or new else f"{path} is another object"


def tell_recording(trace, key, variant):
    """Notes in `variant` why it was recorded, and tells it where it gets a program and where many
    do.
    """
    why = _why_recorded(trace, key, variant)
    has_program = variant.sized is None  # no other one serves it
    trace._recordings += has_program
    if why is None:
        return
    found, advice = why
    rest = len(found) - _MOST
    text = "; ".join(found[:_MOST]) + (f" and {rest} more" if rest > 0 else "")
    variant.why = f"recorded at {_caller.place()}: {text}"
    if not has_program:
        return
    if "recompiles" in os.environ.get("TESS_LOG", "").split(","):
        logger.get_logger("trace").warning("%s is %s", trace.__name__, variant.why)
    if trace._recordings == _MANY:
        many = f"has been recorded {_MANY} times, now because {text}: {advice}"
        warn_once(trace, f"{many}; explain() lists them", "many")
