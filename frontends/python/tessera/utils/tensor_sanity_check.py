"""A look at the operands of every operator."""

import threading

from .. import _core

__all__ = ["TensorSanityCheck"]

_lock = threading.Lock()
_active = 0  # checks that have begun and not ended


class TensorSanityCheck:
    """Within it a tensor that changes without an operator is an error of the next one to read it.

    The bytes of each operand are compared before and after the operator, and with those that an
    operator read before; writes in place that operators do count as changes of theirs. So it finds
    memory that is shared with other code and written there, through DLPack or an array, and kernels
    that write what they should read. As MegEngine's context manager of this name; values that are
    not finite are what `config.set_check_finite` looks for.

    Each call waits for its result, and traced functions run operator by operator. It holds for all
    threads until the last check active ends. The error is a ValueError with operator, operands and
    the line of the call.

    >>> from tessera.utils import TensorSanityCheck
    >>> import numpy as np
    >>> array = np.ones(3, dtype="float32")
    >>> from tessera.utils.dlpack import from_dlpack
    >>> x = from_dlpack(array.__dlpack__())
    >>> with TensorSanityCheck():
    ...     y = x + 1
    ...     array[1] = 7
    ...     try:
    ...         x * 2
    ...     except ValueError as error:
    ...         print(str(error).split(", at ")[0])
    mul: operands must stay as they were when an operator read them first, got other bytes in the \
memory of f32[3] (x f32[3], y f32[])
    """

    def __enter__(self):
        global _active
        _core.sync()
        with _lock:
            _active += 1
            if _active == 1:
                _core.set_check_operands(True)
        return self

    def __exit__(self, *_):
        global _active
        with _lock:
            _active -= 1
            if _active == 0:
                _core.set_check_operands(False)
        _core.sync()
