"""Whatever is passed to a public function: a result, or an exception in the known form."""

import sys

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import module as M  # noqa: N812

from tests import quick
from tests.fuzz import drive

COUNT = 1500


@pytest.mark.parametrize("seed", quick.few([1, 2, 3]))
def test_random_calls(seed):
    report = drive.run(drive.command_of(seed, COUNT), deadline=60 + COUNT * drive.SECONDS_A_CALL)
    assert not report, f"seed {seed}:\n{report}"


def fake(source):
    return [sys.executable, "-c", source]


ENDS = [
    ("import os; print('F.add(1)', flush=True); os.abort()", "ended by signal 6 at\nF.add(1)"),
    ("import time; print('F.mul(2)', flush=True); time.sleep(99)", "deadline of 1 s at\nF.mul(2)"),
    ("print('call'); print('FINDING F.sub(3)'); print('  form'); exit(1)", "FINDING F.sub(3)\n  f"),
]


@pytest.mark.parametrize(("source", "text"), ENDS, ids=range(len(ENDS)))
def test_the_call_that_ends_a_process_is_named(source, text):
    assert text in drive.run(fake(source), deadline=1)


def test_a_process_that_ends_well_has_no_report():
    assert drive.run(fake("print('F.add(1)')"), deadline=20) == ""


WRONG = [
    (
        lambda: F.split("text", 2),
        TypeError,
        r"^split: arguments must be .*, got \('text', 2\), .*'",
    ),
    (
        lambda: F.batch_norm(tessera.tensor(1.0), training=True),
        ValueError,
        r"^batch_norm: .*float32\[\]",
    ),
    (lambda: M.Conv2d(4, 4, 3, groups=0), ValueError, r"^Conv2d: .*, got \(.*groups=0\)"),
    (lambda: M.Embedding(-1, 8), ValueError, "^Embedding: "),
    (lambda: M.BatchNorm1d(8)("text"), TypeError, r"^BatchNorm1d: .*, got \('text'\)"),
    (lambda: tessera.random.shuffle(b"text"), TypeError, "^shuffle: .*got .bytes"),
]


@pytest.mark.parametrize(("call", "kind", "text"), WRONG, ids=range(len(WRONG)))
def test_errors_of_python_functions_have_the_form(call, kind, text):
    with pytest.raises(kind, match=text) as caught:
        call()
    assert caught.value.__cause__ is not None  # where Python met it


@pytest.mark.parametrize(
    "call", [lambda kind: F.argmin(kind, axis=[0]), lambda kind: F.sort(kind, dim=0)]
)
def test_classes_of_numpy_are_no_tensors(call):
    with pytest.raises(TypeError, match="^(argmin|sort): inp must be a Tensor, got"):
        call(np.float32)


def test_a_second_stride_is_not_ignored():
    with pytest.raises(ValueError, match=r"^Conv1d: .*stride.* length 1, got \(1, 2\)"):
        M.Conv1d(4, 2, 2, stride=(1, 2))


def test_errors_of_the_user_stay():
    with pytest.raises(TypeError, match=r"^split\(\) missing 2 required positional arguments"):
        F.split()
    with pytest.raises(ValueError, match=r"^add: .*, got "):
        F.add(tessera.tensor([1.0, 2.0]), tessera.tensor([1.0, 2.0, 3.0]))
