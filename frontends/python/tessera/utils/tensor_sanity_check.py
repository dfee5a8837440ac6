"""A look at the result of every operator."""

import threading

from .. import _core, config

__all__ = ["TensorSanityCheck"]

_lock = threading.Lock()
_depth = 0  # checks that are active, and what held before the first of them
_before = False


class TensorSanityCheck:
    """Within it the operator that makes the first NaN or infinity raises ValueError.

    A context manager by MegEngine's name over `config.set_check_finite`, which says what counts and
    what it costs; it holds for all threads until the last one active ends. Work that was queued
    before it is not looked at. (MegEngine's compares the operands of each operator before and after
    it instead, which a kernel must not change.)

    >>> import tessera
    >>> x = tessera.tensor([1.0, 0.0])
    >>> with TensorSanityCheck():
    ...     try:
    ...         1 / x
    ...     except ValueError as error:
    ...         print(str(error).split(", at ")[0])
    div: result out must be finite, got inf at [1] of f32[2] (x f32[], y f32[2])
    """

    def __enter__(self):
        global _depth, _before
        _core.sync()
        with _lock:
            if _depth == 0:
                _before = config.get_check_finite()
            _depth += 1
            config.set_check_finite(True)
        return self

    def __exit__(self, *_):
        global _depth
        with _lock:
            _depth -= 1
            if _depth == 0:
                config.set_check_finite(_before)
        _core.sync()
