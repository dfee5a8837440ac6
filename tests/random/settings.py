"""Settings of the process: what moves bits moves those of eager, traced and loaded alike."""

import contextlib

from tessera import _core, config, jit
from tessera.functional.debug_param import Strategy

from tests.random.files import loaded
from tests.random.observe import SkippedError, difference, eager, observed, skipping_refusals


def without_winograd(program):
    """Convolutions of 3 x 3 by direct sums, after a trace that had none: eager, traced, loaded."""
    function, captured = program.instance()
    with skipping_refusals():
        observed(jit.trace(function), program, captured)
    before = config.winograd
    config.winograd = False
    try:
        expected = eager(program)
        function, captured = program.instance()
        got = observed(jit.trace(function), program, captured)
        found = difference(got, expected, "traced without winograd")
        with contextlib.suppress(SkippedError):
            found = found or loaded(program)
        return found
    finally:
        config.winograd = before


def profiled(program):
    """Kernels that were measured, eagerly and traced: they have the bits of those of the rules."""
    expected = eager(program)
    _core.set_strategy(Strategy.PROFILE.value)  # without the times of other processes
    try:
        function, captured = program.instance()
        got = observed(jit.trace(function), program, captured)
        found = difference(got, expected, "traced with measured kernels")
        return found or difference(eager(program), expected, "eager with measured kernels")
    finally:
        _core.set_strategy(Strategy.HEURISTIC.value)
        _core.clear_timings()
