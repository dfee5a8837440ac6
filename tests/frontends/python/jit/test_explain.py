"""explain(), TESS_LOG=recompiles, the warning of many recordings: what was given, what differed."""

import logging
import warnings

import numpy as np
import pytest
import tessera
from tessera import jit

ONES = tessera.Tensor([1.0, 2.0])


def test_arguments_are_as_they_are_written():
    @jit.trace
    def scaled(x, factor, *more, **options):
        return x * factor

    array, count = np.zeros(2, "float32"), np.int8(3)
    scaled(ONES, 1 / 3, "text", array, names=["a", (1, None)], z=1 - 2j, n=count, s=frozenset("ab"))
    (line,) = scaled.explain().splitlines()
    assert line.startswith("scaled(x=float32[2], factor=0.3333333333333333, more=('text', array ")
    for text in ("float32[2])", "['a', (1, None)]", "(1-2j)", "int8(3)", "a frozenset of 2"):
        assert text in line, text
    assert "0x1" not in line


def test_a_bound_method_and_a_callable_name_their_arguments():
    class Model:
        @jit.trace
        def run(self, image):
            return image + 1

    model = Model()
    model.run(ONES)
    assert model.run.explain().startswith("run(image=float32[2]): ")


DIFFERENCES = {
    "a number": (lambda f: (f(ONES, 1.5), f(ONES, 2.5)), "rate is 2.5, was 1.5"),
    "a size": (lambda f: (f(ONES, 1.5), f(ONES[:1], 1.5)), "x is float32[1], was float32[2]"),
    "a dtype": (
        lambda f: (f(ONES, 1.5), f(tessera.Tensor([1, 2]), 1.5)),
        "x is int32[2], was float32[2]",
    ),
    "the nearest": (
        lambda f: (f(ONES, 1.5), f(ONES[:1], 2.5), f(ONES[:1], 1.5)),
        "x is float32[1], was float32[2]",
    ),
    "structure": (
        lambda f: (f(ONES, (1, 2)), f(ONES, (1,))),
        "its arguments have another structure",
    ),
    "one tensor": (
        lambda f: (f(ONES, ONES), f(ONES, ONES + 1)),
        "which arguments are one tensor has changed",
    ),
}


@pytest.mark.parametrize("case", DIFFERENCES)
def test_what_differed_is_told_with_the_line(case):
    run, expected = DIFFERENCES[case]
    traced = jit.trace(lambda x, rate: x + 1)
    run(traced)
    first, *others = traced.explain().splitlines()
    assert "recorded at" not in first
    assert others[-1].startswith("  recorded at test_explain.py:")
    assert others[-1].endswith(expected)


def test_changed_state_is_told():
    state = {"rate": 1}
    traced = jit.trace(lambda x: x * state["rate"])
    traced(ONES)
    state["rate"] = 2
    traced(ONES)
    assert traced.explain().splitlines()[-1].endswith("state.rate is 2, was 1")
    assert len(set(traced.explain().splitlines()[1:])) == 2  # the second is not the first's line


def test_the_log_tells_recordings_when_they_happen(monkeypatch, caplog):
    traced = jit.trace(lambda x, rate: x * rate)
    with caplog.at_level(logging.INFO, "tessera.trace"):
        traced(ONES, 1.0)
        traced(ONES, 2.0)
        assert caplog.messages == []
        monkeypatch.setenv("TESS_LOG", "other,recompiles")
        traced(ONES, 3.0)
        traced(ONES, 3.0)
    (text,) = caplog.messages
    assert text.startswith("<lambda> is recorded at test_explain.py:")
    assert text.endswith(": rate is 3.0, was 1.0")


def test_many_recordings_warn_once_and_say_what_to_do():
    traced = jit.trace(lambda x, rate: x * rate)
    with pytest.warns(RuntimeWarning) as caught:
        for number in range(20):
            assert traced(ONES, float(number)).tolist() == [number, 2 * number]
    (text,) = [str(each.message) for each in caught]
    assert "has been recorded 8 times, now because rate is 7.0, was" in text
    assert "give numbers that change as tensors" in text and "explain() lists them" in text


def test_many_sizes_say_why_no_program_serves_them():
    traced = jit.trace(lambda x: x * x.sum() if x.shape[0] % 2 else x + x.shape[0] * 2.5)
    with pytest.warns(RuntimeWarning, match="recorded 8 times, now because x is float32") as caught:
        for size in range(2, 30):
            traced(tessera.Tensor(np.ones(size, "float32")))
    assert "no other sizes, because" in str(caught[0].message)


def test_sizes_that_share_a_program_are_not_many_recordings(monkeypatch, caplog):
    monkeypatch.setenv("TESS_LOG", "recompiles")
    traced = jit.trace(lambda x: (x * 2).sum())
    with warnings.catch_warnings(), caplog.at_level(logging.INFO, "tessera.trace"):
        warnings.simplefilter("error")
        for size in range(2, 30):
            assert traced(tessera.Tensor(np.ones(size, "float32"))).item() == 2 * size
    assert len(caplog.messages) <= 1
