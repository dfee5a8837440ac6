"""Values that traced functions look at, and results that are tensors of the caller."""

import numpy as np
import pytest
import tessera
from tessera import jit
from tessera.autodiff import GradManager

from tests.support.helper import same_bits

READS = {
    "item": lambda y: y.item(),
    "numpy": lambda y: float(y.numpy().max()),
    "bool": lambda y: 2.0 if y > 4 else 3.0,
    "float": lambda y: float(y[0]),
    "tolist": lambda y: y.tolist()[0],
    "asarray": lambda y: float(np.asarray(y)[0]),
    "array": lambda y: float(np.array(y)[0]),
    "from_dlpack": lambda y: float(np.from_dlpack(y)[0]),
    "memoryview": lambda y: float(memoryview(y)[0]),
    "str": lambda y: len(str(y * 1000)),
}


@pytest.mark.parametrize("of", ["argument", "result"])
@pytest.mark.parametrize("read", READS)
def test_a_function_that_looks_at_a_value_runs_eagerly_and_loudly(read, of):
    def f(x):
        y = x if of == "argument" else x * 2
        return y * READS[read](y)

    traced = jit.trace(f)
    match = r"it looks at the value of a tensor at test_trace_reads.py:\d+"
    with pytest.warns(RuntimeWarning, match=match) as caught:
        for number in (1.0, 2.0, 3.0, 30.0):
            x = tessera.Tensor([number])
            assert same_bits(traced(x), f(x))
    assert len(caught) == 1
    if read == "str":  # the text says that there is no value, and why
        return
    for strict in (jit.trace(f, symbolic=True), jit.trace(f, check=True)):
        with pytest.raises(ValueError, match="trace: a traced function must not look at the value"):
            for _ in range(2):
                strict(tessera.Tensor([1.0]))


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("read", READS)
def test_a_value_from_outside_that_changes_is_read_anew(read, symbolic):
    if symbolic and read in ("bool", "float", "str"):
        pytest.skip("operators compute what is read, and do not run")
    limit, x = tessera.Tensor([2.0]), tessera.Tensor([1.0])

    def f(x):
        return x * READS[read](limit)

    traced = jit.trace(f, symbolic=symbolic)
    for value in (2.0, 2.0, 5.0, 5.0, 70.0, 3.0, 3.0):
        if value != limit.item():
            limit[0] = value
        assert same_bits(traced(x), f(x))
    limit._reset(tessera.Tensor([8.0]))
    assert same_bits(traced(x), f(x))


@pytest.mark.parametrize("symbolic", [False, True])
def test_results_that_are_arguments_or_from_outside_are_the_same_tensors(symbolic):
    kept = tessera.Tensor([0.0])
    traced = jit.trace(lambda x, y: (y, kept, x + y, x), symbolic=symbolic)
    for number in range(4):
        x, y = tessera.Tensor([1.0]), tessera.Tensor([2.0])
        first, outside, total, last = traced(x, y)
        assert first is y and outside is kept and last is x and total.item() == 3
        outside += 1
        assert kept.item() == number + 1


def test_an_argument_that_is_overwritten_has_its_gradient():
    def invert(x, y):
        result = 1 / x
        x[:] = y
        return result, x * 3

    def gradients(function):
        for number in range(4):
            x, y = tessera.Tensor([1.0 + number]), tessera.Tensor([7.0])
            with GradManager().attach([x, y]) as manager:
                first, second = function(x, y)
                manager.backward(first.sum() + second.sum())
            yield x.grad.tolist(), y.grad.tolist()

    assert list(gradients(jit.trace(invert))) == list(gradients(invert))


def test_a_recorded_tensor_prints_one_short_sentence():
    recorded = jit.trace(lambda x: x * 2, record_only=True)(tessera.Tensor([1.0, 2.0, 3.0]))
    text = "Tensor(<recorded, not computed, of shape [3]>, dtype=float32, device=cpu0)"
    assert repr(recorded) == str(recorded) == f"{recorded}" == text
    with pytest.raises(ValueError, match="value: a tensor must come from a call that ran"):
        recorded.numpy()
