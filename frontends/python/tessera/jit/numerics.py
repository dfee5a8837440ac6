"""numerics: how far programs may be from the results of their operators one by one."""

import threading
from contextlib import ContextDecorator

from .. import _core

STRICT = "strict"


class _Chosen(threading.local):
    value = STRICT


_chosen = _Chosen()


def current():
    """The numerics that a context of this thread asks for."""
    return _chosen.value


def checked(caller, name):
    """The name of some numerics. ValueError, which begins with `caller`: it must be known."""
    return _core.checked_numerics(caller, name if isinstance(name, str) else repr(name))


def with_numerics(options):
    """Options of a program with the numerics of the context, unless they have their own."""
    return {"numerics": current(), **options}


class numerics(ContextDecorator):  # noqa: N801
    """Within it, as context or decorator, traced functions of this thread have these numerics.

    "strict", which holds elsewhere: a program's results are those of its operators one by one, bit
    for bit. "fast": the compiler may join factors and terms that are constants, to each other and
    to constant weights, and take shorter forms of functions:

    - a factor for each channel behind a convolution or a matrix product, or before it, goes into
      the weight, and so does a batch normalisation in inference;
    - `x * a * b` is `x * (a * b)`, and `x + a + b` is `x + (a + b)`;
    - `x / a` is `x * (1 / a)`;
    - sigmoid and tanh, also within silu and others, are within 2.5 units in the last place of
      float32, where the long forms are within 1.5; below -87 sigmoid is within 2**-126.

    Constants are numbers in the function's code, and with `capture_as_const` the tensors from
    outside. Each rewrite of constants adds at most 3 roundings to the way of a result, each
    relative to the largest term of the sum that it is in. Constants beside narrow floats stay, and
    so do factors beyond 2**-100 to 2**100. Operators outside of traced functions are as ever. All
    thread counts and processors still give the same bits. `trace.explain()` lists each change.

    A trace's own `numerics` comes before that of a context. A file keeps its numerics, and beside
    the code for each target the weights that have been changed.

    Args:
        name: "strict" or "fast"

    Raises:
        ValueError: the name must be one of these

    Example:
        >>> import tessera as ts
        >>> from tessera.jit import numerics, trace
        >>> third = trace(lambda x: x / 3 / 7)
        >>> with numerics("fast"):
        ...     for _ in range(2):
        ...         y = third(ts.tensor([21.0]))
        >>> round(y.item(), 6)
        1.0
        >>> print(third.explain().splitlines()[1].partition(" (")[0])
          fast: div: division by a constant became a product with its reciprocal
    """

    def __init__(self, name):
        self.name = checked("numerics", name)
        self._before = []

    def _recreate_cm(self):
        return numerics(self.name)

    def __enter__(self):
        self._before.append(_chosen.value)
        _chosen.value = self.name
        return self

    def __exit__(self, *exc):
        _chosen.value = self._before.pop()
