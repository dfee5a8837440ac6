"""partial_trace: traced parts of a training step, by MegEngine's name."""

import functools
import inspect

from .options import options_of
from .trace import trace


def partial_trace(function=None, *, backend="default", without_host=True, **options):
    """As `trace`, by MegEngine's name for a function that is a part of a training step.

    Called within a GradManager's recording it is one operation: a program forwards, and one for the
    gradient. `options` are those of trace.

    ValueError: backend must be "default", and without_host True: no Python runs between operators.

    >>> import tessera as ts
    >>> from tessera.jit import partial_trace
    >>> from tessera.autodiff import GradManager
    >>> square = partial_trace(lambda x: x * x)
    >>> x = ts.tensor([3.0])
    >>> for _ in range(3):
    ...     x.grad = None
    ...     with GradManager().attach(x) as manager:
    ...         manager.backward(square(x).sum())
    >>> x.grad.tolist()
    [6.0]
    """
    if backend != "default":
        raise ValueError(f"partial_trace: backend must be 'default', got {backend!r}")
    if not without_host:
        raise ValueError(f"partial_trace: without_host must be True, got {without_host!r}")
    if function is None:
        return functools.partial(trace, **options)
    return trace(function, **options)


def _signature():
    """The own parameters, then the options of a trace."""
    *own, _ = inspect.signature(partial_trace).parameters.values()
    names = {each.name for each in own}
    return inspect.Signature([*own, *(x for x in options_of(trace) if x.name not in names)])


partial_trace.__signature__ = _signature()
