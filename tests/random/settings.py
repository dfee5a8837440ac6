"""Settings of the process: what moves bits moves those of eager, traced and loaded alike; memory
moves none."""

import contextlib

from tessera import _core, config, dtr, jit
from tessera.functional.debug_param import Strategy

from tests.random.files import loaded
from tests.random.observe import SkippedError, difference, eager, observed, skipping_refusals


@contextlib.contextmanager
def setting(getter, setter, value):
    """Within it, a setting of the process has another value."""
    before = getter()
    setter(value)
    try:
        yield
    finally:
        setter(before)


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


@contextlib.contextmanager
def dropping(samples):
    """Within it, tensors of any size are dropped as soon as no operator uses them."""
    names = "eviction_threshold", "evictee_minimum_size", "enable_sqrt_sampling"
    before = [getattr(dtr, name) for name in names]
    dtr.eviction_threshold = dtr.evictee_minimum_size = 1
    dtr.enable_sqrt_sampling = samples
    dtr.enable()
    try:
        yield
    finally:
        dtr.disable()
        for name, value in zip(names, before, strict=True):
            setattr(dtr, name, value)


def dropped(program):
    """Every tensor that can be made again is dropped: eager, and what is traced of it."""
    expected = eager(program)
    with dropping(program.seed % 2 == 0):
        function, captured = program.instance()
        found = difference(observed(function, program, captured), expected, "dropped")
        function, captured = program.instance()
        got = observed(jit.trace(function), program, captured)
        return found or difference(got, expected, "traced, dropped")
