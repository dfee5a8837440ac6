"""Estimates of a program's memory, within a limit too; and its shapes without values."""

import re

import tessera
from tessera import jit

from tests.random.observe import (
    CALLS,
    SkippedError,
    difference,
    eager,
    observed,
    skipping_refusals,
)
from tests.random.program import REFUSALS
from tests.random.settings import setting
from tests.support.helper import as_list

# Bytes of scalar constants that the trace of a call may have beside those of its estimate.
_SCALARS = 64


def _estimate(program, **options):
    function, _ = program.instance()
    try:
        return jit.estimate(function, *program.arguments(CALLS[0]), **options)
    except REFUSALS as error:
        raise SkippedError(f"estimate: {error}") from None


def _planned(estimate):
    """Bytes that count for a limit."""
    return estimate.arena + estimate.outputs + estimate.constants


def _within(program, limit):
    """An estimate within the limit, or the least one that its error says, and that limit."""
    try:
        return _estimate(program, memory_limit=limit), limit
    except MemoryError as error:
        least = int(re.match(r"trace: memory_limit must be at least (\d+) bytes", str(error))[1])
    if least <= limit:
        return None, limit
    return _estimate(program, memory_limit=least), least


def limited(program):
    """Traced within a limit: the bits of eager, in the memory that an estimate says."""
    plain = _estimate(program)
    if sum(plain.by_category.values()) != plain.total:
        return f"limited: categories are {plain.by_category}, the total is {plain.total}"
    if plain.arena < 1024:
        raise SkippedError("it has no temporaries")
    try:
        within, limit = _within(program, max(_planned(plain) - plain.arena // 2, 1))
    except MemoryError as error:
        return f"limited: the least limit that was said is not kept: {error}"
    if within is None or _planned(within) > limit or within.time_factor < 1:
        return f"limited: within {limit} bytes the estimate is {within!r}"
    with skipping_refusals():
        expected = eager(program)
    function, captured = program.instance()
    call = jit.trace(function, memory_limit=limit + _SCALARS)
    found = difference(observed(call, program, captured), expected, "limited")
    compiled = call.program()
    if not found and compiled is not None and compiled.planned_bytes > limit + _SCALARS:
        found = f"limited: the program takes {compiled.planned_bytes} bytes of {limit}"
    return found


def without_values(program):
    """On the device that keeps shapes: those of the results are eager's."""
    wanted = [(each.shape, each.dtype) for each in _results(program)]
    with setting(tessera.get_default_device, tessera.set_default_device, "null0"):
        try:
            found = [(each.shape, each.dtype) for each in _results(program)]
        except REFUSALS as error:  # it looks at values, or a vmap of no element would have to
            if "null0" in str(error) or "needs values" in str(error):
                raise SkippedError(str(error)) from None
            raise
    return "" if found == wanted else f"without values: {found} instead of {wanted}"


def _results(program):
    function, _ = program.instance()
    return as_list(function(*program.arguments(CALLS[0])))
