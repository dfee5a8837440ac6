"""Modules for tests of passes, and how near an optimized one is to the module before."""

import numpy as np
import tessera as ts
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import tessera.traced_module as tm
from tessera.traced_module._passes.operands import limits_of

from tests.support.helper import bits


class Chain(M.Module):
    """Layers by their names, and a function of them and the input."""

    def __init__(self, function, **layers):
        super().__init__()
        self.function = function
        for name, layer in layers.items():
            setattr(self, name, layer)

    def forward(self, *args):
        """Calls the function."""
        return self.function(self, *args)


def floats(*shape, dtype="float32", seed=0):
    """Normal numbers."""
    array = np.random.RandomState(seed).standard_normal(shape).astype(np.float32)
    return ts.Tensor(array).astype(dtype)


def busy(module):
    """The module in inference, with random tensors."""
    for number, tensor in enumerate(module.tensors()):
        value = floats(*tensor.shape, seed=number).astype(tensor.dtype)
        tensor.set_value(value)
    for each in module.modules():
        if getattr(each, "running_var", None) is not None:
            each.running_var.set_value(F.abs(each.running_var) + 0.5)
    return module.eval()


def error(found, wanted):
    """The largest difference in units of eps of the largest element."""
    eps = limits_of(wanted.dtype)[0]
    a, b = (np.asarray(each._numbers(), dtype=np.float64) for each in (found, wanted))
    assert a.shape == b.shape and found.dtype == wanted.dtype
    return np.abs(a - b).max() / np.abs(b).max() / eps


def optimized(module, *args, passes="FuseConvBn", most=64):
    """The optimized module, whose result is right and which left the traced one alone."""
    traced = tm.trace_module(module, *args)
    before, text, wanted = bits(list(traced.tensors())), str(traced.graph), traced(*args)
    new = tm.optimize(traced, passes)
    assert (bits(list(traced.tensors())), str(traced.graph)) == (before, text)
    assert error(new(*args), wanted) <= most
    assert error(new.graph.interpret(*args), wanted) <= most
    return new


def is_fused(module):
    """Whether no batch norm is left in the graph."""
    norms = (M.BatchNorm1d, M.BatchNorm2d, M.BatchNorm3d, M.SyncBatchNorm)
    count = module.graph.get_function_by_type(F.batch_norm).as_count()
    return not count + sum(module.graph.get_module_by_type(norm).as_count() for norm in norms)


class Formula(M.Module):
    """A function of two inputs and a parameter."""

    def __init__(self, function, table):
        super().__init__()
        self.function, self.table = function, ts.Parameter(table)

    def forward(self, x, y):
        """Calls it."""
        return self.function(x, y, self.table)


def called(graph):
    """The functions and methods that it calls, by name."""
    exprs = [expr for expr in graph.exprs() if expr.inputs]
    return [getattr(each, "method", None) or each.func.__name__ for each in exprs]
