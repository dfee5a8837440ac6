"""utils.tensor_sanity_check: a look at every result, and only while it is active."""

import threading

import numpy as np
import pytest
import tessera
from tessera import config
from tessera import functional as F  # noqa: N812
from tessera.autodiff import GradManager
from tessera.utils.tensor_sanity_check import TensorSanityCheck

ZERO = np.array([1.0, 0.0], dtype="float32")


def test_the_operator_that_makes_the_first_one_is_named():
    x = tessera.tensor(ZERO)
    with TensorSanityCheck(), pytest.raises(ValueError, match=r"log: .* got -inf at \[1\] of") as e:
        y = x * 2
        F.exp(F.log(y))
    assert "test_tensor_sanity_check.py:" in str(e.value)
    assert not config.get_check_finite() and F.log(x).tolist()[1] == -np.inf


def test_nan():
    with TensorSanityCheck(), pytest.raises(ValueError, match=r"sqrt: .* got nan at \[0\]"):
        F.sqrt(tessera.tensor([-1.0]))


def test_a_gradient():
    x = tessera.tensor(ZERO)
    with TensorSanityCheck(), GradManager().attach(x) as manager:
        y = F.sqrt(x).sum()
        with pytest.raises(ValueError, match="must be finite, got inf"):
            manager.backward(y)


def test_results_that_are_finite_are_the_same():
    x = tessera.random.normal(size=(5, 5))
    with TensorSanityCheck():
        checked = F.matmul(F.exp(x), x)
    assert (checked.numpy() == F.matmul(F.exp(x), x).numpy()).all()


def test_what_was_on_before_stays_on():
    config.set_check_finite(True)
    try:
        with TensorSanityCheck():
            pass
        assert config.get_check_finite()
    finally:
        config.set_check_finite(False)


def test_the_last_one_ends_it():
    inner_ended, outer_ended = threading.Event(), threading.Event()

    def other():
        with TensorSanityCheck():
            inner_ended.wait(10)
        outer_ended.set()

    thread = threading.Thread(target=other)
    with TensorSanityCheck():
        thread.start()
        with TensorSanityCheck():
            pass
        assert config.get_check_finite()
    inner_ended.set()
    thread.join()
    assert outer_ended.is_set() and not config.get_check_finite()


def test_an_error_within_ends_it():
    with pytest.raises(ZeroDivisionError), TensorSanityCheck():
        1 / 0  # noqa: B018
    assert not config.get_check_finite()
