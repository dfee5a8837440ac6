"""utils.TensorSanityCheck: operands that change without an operator, while it is active."""

import threading

import numpy as np
import pytest
import tessera
from tessera import _core
from tessera import functional as F  # noqa: N812
from tessera.autodiff import GradManager
from tessera.jit import trace
from tessera.optimizer import Adam
from tessera.utils import TensorSanityCheck
from tessera.utils.dlpack import from_dlpack

MESSAGE = "operands must stay as they were when an operator read them first, got other bytes"


def shared(*values):
    """A tensor, and the array whose memory it is."""
    array = np.array(values, dtype="float32")
    return from_dlpack(array.__dlpack__()), array


def test_the_operator_that_reads_it_next_is_named():
    x, array = shared(1.0, 2.0)
    with TensorSanityCheck():
        y = x * 2
        array[0] = 5
        with pytest.raises(ValueError, match=rf"add: {MESSAGE} in the memory of f32\[2\]") as error:
            y + x
    assert "test_tensor_sanity_check.py:" in str(error.value)
    assert (y + x).tolist() == [7.0, 6.0]


def test_views_of_the_memory():
    x, array = shared(1.0, 2.0, 3.0, 4.0)
    view = x.reshape(2, 2)[1]
    with TensorSanityCheck():
        F.exp(view)
        array[3] = 0
        with pytest.raises(ValueError, match=f"neg: {MESSAGE}"):
            F.neg(view)


def test_a_change_before_the_first_read_is_none():
    x, array = shared(1.0)
    F.exp(x)
    array[0] = 2
    with TensorSanityCheck():
        assert (x + x).tolist() == [4.0]
    array[0] = 3
    with TensorSanityCheck():
        assert (x + x).tolist() == [6.0]


def test_writes_of_operators_are_none():
    x = tessera.tensor([1.0, 2.0, 3.0])
    with TensorSanityCheck():
        y = x + 1
        x[0] = 7.0
        x += y
        F.relu(x, inplace=True)
        x[1:] = y[1:]
        y.set_value(x.numpy())
        x.reset_zero()
        assert (x + y).tolist() == [9.0, 3.0, 4.0]


def test_a_training_step():
    def losses():
        w = tessera.Parameter([1.0, 2.0])
        gm, optimizer = GradManager().attach(w), Adam([w], lr=0.1)

        @trace
        def step():
            with gm:
                loss = F.exp(w).sum()
                gm.backward(loss)
            optimizer.step().clear_grad()
            return loss

        return [step().item() for _ in range(4)]

    plain = losses()
    with TensorSanityCheck(), pytest.warns(RuntimeWarning, match="because TensorSanityCheck looks"):
        assert losses() == plain


def test_a_traced_function_runs_by_operators():
    x, array = shared(1.0, 2.0)
    f = trace(lambda x: F.exp(x) + x)
    for _ in range(3):
        f(x)
    with TensorSanityCheck(), pytest.warns(RuntimeWarning, match="runs eagerly"):
        f(x)
        array[1] = 0
        with pytest.raises(ValueError, match=f"exp: {MESSAGE}"):
            f(x)


def test_results_are_the_same():
    x = tessera.random.normal(size=(5, 5))
    with TensorSanityCheck():
        checked = F.matmul(F.exp(x), x)
    assert (checked.numpy() == F.matmul(F.exp(x), x).numpy()).all()


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
        assert _core.get_check_operands()
    inner_ended.set()
    thread.join()
    assert outer_ended.is_set() and not _core.get_check_operands()


def test_an_error_within_ends_it():
    with pytest.raises(ZeroDivisionError), TensorSanityCheck():
        1 / 0  # noqa: B018
    assert not _core.get_check_operands()
