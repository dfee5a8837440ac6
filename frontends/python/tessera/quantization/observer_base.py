"""The base class of observers."""

from .. import effects
from ..logger import get_logger
from ..module.module import Module
from .utils import QParamsModuleMixin, limits_of


class Observer(QParamsModuleMixin, Module):
    """Base class of observers: a module that gives its input, and QParams of what it has seen.

    It observes while it is enabled; `train` enables it, `eval` disables it. A subclass gives
    `forward` and `get_qparams`.

    Args:
        dtype: kind of dtype, as "qint8", "qint8_narrow", "quint8", "qint4" or "quint4"
        narrow_range: ignored, with a warning, as in MegEngine; "qint8_narrow" is the narrow dtype
        name: name of the module

    Raises:
        TypeError: a subclass must give get_qparams
        ValueError: dtype must be the name of a quantized dtype
    """

    def __init__(self, dtype, narrow_range=None, name=None):
        super().__init__(name)
        if narrow_range is not None:
            get_logger(__name__).warning(
                "%s: narrow_range is ignored; the dtype qint8_narrow is narrow", type(self).__name__
            )
        self.qmin, self.qmax = limits_of(type(self).__name__, dtype)
        self.dtype = dtype
        self.enabled = True

    def enable(self):
        """Lets the module observe."""
        self.enabled = True

    def disable(self):
        """Lets the module give its input only."""
        self.enabled = False

    def train(self, mode=True, recursive=True):
        """Sets training mode, in which it observes; returns the module."""
        super().train(mode, recursive)
        self.enabled = mode
        return self

    def is_observed(self):
        """Whether it has seen numbers, so that `get_qparams` can say what fits them."""
        return True

    def _check_observed(self):
        """RuntimeError where it has seen nothing; a traced function cannot ask."""
        if not effects.is_tracing() and not self.is_observed():
            raise RuntimeError(
                f"{type(self).__name__}: no number has been observed (call it with finite numbers "
                "while it is enabled)"
            )
