"""`python -m tessera.doctor`: what this machine and this build can do, and a self-test of 5
seconds.
"""

import sys
import time

import numpy as np

from . import autodiff, functional, jit
from ._versions import show_versions
from .tensor import Tensor


def _check_elementwise():
    x = np.linspace(-3, 3, 1000, dtype=np.float32)
    return np.abs(functional.exp(Tensor(x)).numpy() / np.exp(x.astype(np.float64)) - 1).max(), 1e-6


def _check_matmul():
    a, b = np.random.RandomState(0).rand(2, 33, 33)
    return np.abs(functional.matmul(Tensor(a), Tensor(b)).numpy() - a @ b).max(), 1e-4


def _check_gradient():
    x = Tensor(np.array([1.0, 2.0, 3.0]))
    return np.abs(autodiff.grad(lambda t: (t * t * t).sum())(x).numpy() - [3, 12, 27]).max(), 1e-5


def _check_trace():
    traced = jit.trace(lambda t: t * 2.0 + 1.0)
    x = Tensor(np.arange(5, dtype=np.float32))
    first, second = traced(x).numpy(), traced(x).numpy()
    return np.abs(first - second).max(), 0


_CHECKS = {
    "elementwise": _check_elementwise,
    "matmul": _check_matmul,
    "gradient": _check_gradient,
    "trace": _check_trace,
}


def self_test(file=None):
    """Runs a few small computations; True when all are right."""
    good = True
    for name, check in _CHECKS.items():
        start = time.perf_counter()
        try:
            error, limit = check()
            state = "ok" if error <= limit else f"must be within {limit}, got {error}"
        except Exception as failure:  # the report goes on with the next line
            state = f"must run, got {type(failure).__name__}: {failure}"
        good &= state == "ok"
        elapsed = (time.perf_counter() - start) * 1e3
        print(f"{name:12} {state} ({elapsed:.0f} ms)", file=file or sys.stdout)
    return good


def main():
    """Prints versions and the self-test; 0 when all is well."""
    show_versions()
    return 0 if self_test() else 1


if __name__ == "__main__":
    sys.exit(main())
