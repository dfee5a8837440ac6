"""Settings of the process: what moves bits moves those of eager, traced and loaded alike; memory
moves none."""

import contextlib
from xml.etree import ElementTree

from tessera import _core, config, dtr, jit
from tessera.functional.debug_param import Strategy
from tessera.utils._profile.flow import flow_of
from tessera.utils._profile.page import profile_page
from tessera.utils._profile.picture import picture_of
from tessera.utils._profile.recording import Recording
from tessera.utils.profiler import Profiler

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


def recorded(program):
    """While a profile with all that there is is taken: eager and traced; its files are made."""
    expected = eager(program)
    profiler = Profiler(with_scopes=True, with_backtrace=True, counters=["task-clock"]).start()
    try:
        function, captured = program.instance()
        found = difference(observed(function, program, captured), expected, "in a profile")
        function, captured = program.instance()
        got = observed(jit.trace(function), program, captured)
        found = found or difference(got, expected, "traced in a profile")
    finally:
        profiler.stop()
    recording = Recording(profiler.json())
    ElementTree.fromstring(picture_of(flow_of(recording.events), "program", 10))
    profile_page(recording, "program", 10)
    return found


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
