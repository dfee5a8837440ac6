"""detect_anomaly: where the first NaN or infinity comes from, forwards and backwards."""

from contextlib import contextmanager

from .. import config


@contextmanager
def detect_anomaly():
    """Within it the operator that makes the first NaN or infinity raises ValueError, which names
    the line that called it and, of a gradient, the line of the forward call as well.

    For debugging: each call waits for its result, and traced functions run operator by operator
    (see `config.set_check_finite`, which this switches on). What was given as NaN or infinity is no
    error. Calls whose gradients are taken within must have been made within. Holds for all threads;
    it may also decorate a function.

    >>> import tessera as ts
    >>> from tessera.autodiff import detect_anomaly
    >>> x = ts.Parameter([0.0, 4.0])
    >>> manager = ts.autodiff.GradManager().attach(x)
    >>> try:
    ...     with detect_anomaly(), manager:
    ...         manager.backward(ts.functional.sqrt(x).sum())
    ... except ValueError as error:
    ...     print("in the gradient of sqrt" in str(error))
    True
    """
    before = config.get_check_finite()
    config.set_check_finite(True)
    try:
        yield
    finally:
        config.set_check_finite(before)
