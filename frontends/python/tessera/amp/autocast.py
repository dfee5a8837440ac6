"""autocast: operators that compute on narrow floats, and others that compute on wide ones."""

from contextlib import ContextDecorator

from .. import _core


class autocast(ContextDecorator):  # noqa: N801
    """Within it, as context or decorator, operators of this thread choose their precision.

    Operands of matmul, linear, einsum, convolutions and attention become `low_prec_dtype`. Those of
    sums and means, norms, softmax, losses, powers, quotients, exponentials and logarithms become
    `high_prec_dtype`. Batch normalisation takes narrow data and wide parameters. All others
    compute in the dtype that they are given. float64, integers and complex numbers stay as they
    are, and so does a tensor that is written in place.

    Which operators these are is what MegEngine's amp has, and for those that it has not, PyTorch's
    autocast. Parameters stay wide: their gradients, through the casts, are wide too. A gradient has
    the dtypes of the calls that it belongs to, whether backward is called within or outside. A
    traced function has a program for each setting around it.

    Args:
        enabled: False: operators within compute as they are given
        low_prec_dtype: "float16" or "bfloat16"
        high_prec_dtype: "float32" or "float64"

    Raises:
        ValueError: the dtypes must be among these
        TypeError: enabled must be a bool

    Example:
        >>> import tessera.functional as F
        >>> from tessera.amp import autocast
        >>> with autocast(low_prec_dtype="bfloat16"):
        ...     y = F.ones((2, 2)) @ F.ones((2, 2))
        ...     (y.dtype.name, F.softmax(y).dtype.name)
        ('bfloat16', 'float32')
    """

    def __init__(self, enabled=True, low_prec_dtype="float16", high_prec_dtype="float32"):
        if not isinstance(enabled, bool):
            raise TypeError(f"autocast: enabled must be a bool, got {enabled!r}")
        self._state = _core.autocast_of(enabled, low_prec_dtype, high_prec_dtype)
        self._before = []
        self.enabled = enabled
        self.low_prec_dtype, self.high_prec_dtype = self._state[1:]

    def _recreate_cm(self):
        return autocast(self.enabled, self.low_prec_dtype, self.high_prec_dtype)

    def __enter__(self):
        self._before.append(_core.swap_autocast(self._state))
        return self

    def __exit__(self, *exc):
        _core.swap_autocast(self._before.pop())
