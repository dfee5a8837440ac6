"""Checks that a graph computes what its module does."""

import numpy as np

from ..tensor import Tensor
from .pytree import leaves_of

_settings = {"outputs": True, "exprs": False}


def enable_expr_checker(value=True):
    """Has every expression checked while a module is traced: it must compute again what the call
    gave. With False no more.

    >>> import tessera.traced_module as tm
    >>> tm.enable_expr_checker()
    >>> tm.enable_expr_checker(False)
    """
    _settings["exprs"] = bool(value)


def disable_default_checker(value=True):
    """Leaves out the check that a traced or an optimized module gives what the module before gave.
    With False it is made again.

    >>> import tessera.traced_module as tm
    >>> tm.disable_default_checker()
    >>> tm.disable_default_checker(False)
    """
    _settings["outputs"] = not value


def checks_outputs():
    """Whether results of modules are checked."""
    return _settings["outputs"]


def checks_exprs():
    """Whether each expression is checked."""
    return _settings["exprs"]


class TracedModuleChecker:
    """Compares values: by bits, or within `rtol` of the largest element of each tensor.

    `name` says who checks, in messages.
    """

    def __init__(self, name="trace_module", rtol=0.0):
        self.name, self.rtol = name, rtol

    def check_net_outputs(self, result, expected):
        """ValueError: results must be those that are expected."""
        self._check("the results", leaves_of(result), leaves_of(expected))

    def check_expr(self, expr, values, expected, first=0):
        """ValueError: the outputs of `expr`, from number `first` on, must be those expected."""
        title = f"'%{expr.id}: {expr}' of {expr.top_graph.qualname} ({expr.line})"
        self._check(title, values, expected, first)

    def _check(self, what, found, expected, first=0):
        if len(found) != len(expected):
            raise ValueError(
                f"{self.name}: {what} must be as many as those of the module, {len(expected)}, "
                f"got {len(found)}"
            )
        for number, (value, wanted) in enumerate(zip(found, expected, strict=True), first):
            if isinstance(wanted, Tensor):
                self._check_tensor(f"{what}, number {number}", value, wanted)
            elif type(wanted) in (int, float, bool) and value != wanted:
                raise ValueError(
                    f"{self.name}: {what}, number {number} must be {wanted}, as of the module, got "
                    f"{value}"
                )

    def _check_tensor(self, what, value, wanted):
        if tuple(value.shape) != tuple(wanted.shape) or value.dtype != wanted.dtype:
            raise ValueError(
                f"{self.name}: {what} must be {wanted.dtype}{list(wanted.shape)}, as of the "
                f"module, got {value.dtype}{list(value.shape)}"
            )
        a, b = np.asarray(value._numbers()), np.asarray(wanted._numbers())
        if np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"):
            return
        with np.errstate(invalid="ignore"):
            error = np.abs(a.astype(np.result_type(a, np.float64)) - b)
        largest, limit = np.nanmax(error), self.rtol * np.nanmax(np.abs(b))
        if np.isnan(largest) or largest > limit or not np.array_equal(np.isnan(a), np.isnan(b)):
            raise ValueError(
                f"{self.name}: {what} must be as of the module, got a difference of {largest:.3g}"
                + (f", more than {limit:.3g}" if limit else "")
            )
