"""Traces that refuse constants."""

import contextlib

from . import _current


@contextlib.contextmanager
def refuse_constants():
    """A context in which `trace_module` of this thread refuses what only warns without it: each
    value must be computed by the graph.

    Refused are numbers that are read of tensors (`.item()`, `.numpy()`, `float()`), comparisons of
    sizes, decisions by `training`, changes of a module that are no tensors, and tensors from
    outside of the module or made of numbers.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> import tessera.traced_module as tm
    >>> class Net(M.Module):
    ...     def forward(self, x):
    ...         return x * x.max().item()
    >>> with tm.refuse_constants():
    ...     tm.trace_module(Net(), F.ones(2))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: trace_module: every value must be computed by the graph, got item() of a tensor, ...
    """
    before = _current.set_refuses_constants(True)
    try:
        yield
    finally:
        _current.set_refuses_constants(before)
