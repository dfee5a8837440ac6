"""The ways to take a gradient of a program: with the bits of the eager one."""

import re

import tessera
from tessera import _core, jit
from tessera.autodiff import GradManager

from tests.random.observe import CALLS, SkippedError, difference, skipping_refusals
from tests.random.settings import dropping, setting
from tests.support.helper import as_list, bits


def gradient_outside(program):
    """A GradManager around the call: the gradients of its arguments and parameters."""
    names, expected = _eager_gradients(program)
    return difference(_gradients(program, names, jit.trace), expected, "gradient outside")


def _eager_gradients(program):
    """The names of what has a gradient, and the gradients that eager gives."""
    names = [i.name for i in program.of_kind("argument", "parameter") if i.dtype == "float32"]
    if program.loss or not names or any(s.writes for s in program.statements):
        raise SkippedError("no gradient to take")
    with skipping_refusals():
        return names, _gradients(program, names, lambda function: function)


# A tensor of rank 0 as key is a number in eager, whose gradient is put into zeros; a trace adds it
# to zeros, which makes -0.0 of it 0.0.
_TENSOR_KEY = re.compile(r"\[ts\.tensor\(")


def _gradients(program, names, wrap):
    has_views = any(_TENSOR_KEY.search(each.text) for each in program.statements)
    function, captured = program.instance()
    call, rows = wrap(function), []
    tessera.seed(program.seed)
    for seed in CALLS:
        arguments = program.arguments(seed)
        tensors = dict(zip([i.name for i in program.of_kind("argument")], arguments, strict=True))
        tensors.update(captured)
        with GradManager().attach([tensors[name] for name in names]) as manager:
            results = as_list(call(*arguments))
            floats = [r for r in results if r.dtype.name == "float32"]
            if not floats:
                raise SkippedError("no gradient to take")
            loss = sum((r * r).sum() for r in floats)
            manager.backward(loss)
        grads = [g for g in (tensors[name].grad for name in names) if g is not None]
        rows.append((bits([g + 0.0 for g in grads] if has_views else grads), []))
        for name in names:
            tensors[name].grad = None
    return rows, []


def gradient_dropped(program):
    """A gradient while every tensor that can be made again is dropped."""
    names, expected = _eager_gradients(program)
    with dropping(program.seed % 2 == 0):
        got = _gradients(program, names, lambda function: function)
    return difference(got, expected, "gradient, dropped")


def sim_gradient(program):
    """The gradients of arguments and parameters on the emulated accelerator."""
    names, expected = _eager_gradients(program)
    _core.seed_sim_device(program.seed)
    with setting(tessera.get_default_device, tessera.set_default_device, "sim0"):
        found = difference(
            _gradients(program, names, lambda function: function), expected, "gradient on sim0"
        )
        return found or difference(
            _gradients(program, names, jit.trace), expected, "traced gradient on sim0"
        )
