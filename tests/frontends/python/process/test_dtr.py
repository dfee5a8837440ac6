"""Dynamic tensor rematerialisation: less memory, the same bits; the rest stays."""

import threading

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import config, device, dtr, jit
from tessera.autodiff import Function, GradManager

from tests.frontends.python.process.dropping import counted, dropping, numbers  # noqa: F401

MIB = 1 << 20


def test_a_limit_below_one_operator_names_it():
    x = numbers(512, 512)
    tessera.sync()
    device.set_memory_limit(device.get_allocated_memory() + MIB // 2)
    try:
        with pytest.raises(MemoryError, match="wanted by mul"):
            x * 2.0
    finally:
        device.set_memory_limit(1 << 60)
    assert (x * 2.0).numpy()[0, 0] == x.numpy()[0, 0] * 2  # the process goes on


def test_a_dropped_tensor_is_computed_again():
    x = numbers(300, 300)
    y = F.exp(x) @ x
    expected = y.numpy().tobytes()
    before = device.get_allocated_memory()
    assert dtr.drop(y)
    assert device.get_allocated_memory() <= before - y.numpy().nbytes or dtr.drop(y)
    assert y.numpy().tobytes() == expected
    assert not dtr.drop(x)  # no operator made it
    with pytest.raises(TypeError, match="drop: tensor must be a Tensor"):
        dtr.drop(3)


def test_drop_frees_the_memory():
    x = numbers(512, 512)
    y = x * 2.0
    tessera.sync()
    before = device.get_allocated_memory()
    assert dtr.drop(y)
    assert before - device.get_allocated_memory() >= 512 * 512 * 4
    assert dtr.stats()["evicted_now"] == 1
    assert (y + 0.0).numpy()[3, 4] == x.numpy()[3, 4] * 2
    assert dtr.stats()["evicted_now"] == 0


def test_operands_that_are_gone_are_computed_again_too():
    x = numbers(64, 64)
    y = F.sin(F.cos(x * 2.0) + x)
    expected = y.numpy().tobytes()
    assert dtr.drop(y)
    _, counts = counted(lambda: y.numpy())
    assert y.numpy().tobytes() == expected
    assert counts["recomputations"] == 4


def test_a_value_that_many_need_is_computed_once():
    """Each step reads the one before it twice: 2 ** 100 calls where nothing is kept meanwhile."""
    x = numbers(32, 32)
    y = x
    for _ in range(100):
        y = F.sin(y) + y * 0.5
    expected = y.numpy().tobytes()
    assert dtr.drop(y)
    _, counts = counted(lambda: y.numpy())
    assert y.numpy().tobytes() == expected
    assert counts["recomputations"] == 300


def test_random_numbers_are_drawn_again():
    tessera.seed(3)
    x = tessera.random.uniform(size=(50, 50))
    y = F.dropout(x, 0.5)
    tessera.random.normal(size=(9,))  # the generator goes on
    expected = x.numpy().tobytes(), y.numpy().tobytes()
    assert dtr.drop(y) and dtr.drop(x)
    assert (x.numpy().tobytes(), y.numpy().tobytes()) == expected


WRITES = {
    "an update": lambda x: x.__iadd__(1.0),
    "elements": lambda x: x.__setitem__((slice(None), 1), 5.0),
    "inplace": lambda x: F.relu(x, inplace=True),
    "a view": lambda x: F.relu(x[3], inplace=True),
}


@pytest.mark.parametrize("what", list(WRITES))
def test_an_operand_that_is_written(what):
    x = numbers(40, 40)
    y = x * 3.0
    z = y + 1.0  # of a value that is dropped, too
    expected = y.numpy().tobytes(), z.numpy().tobytes()
    assert dtr.drop(y) and dtr.drop(z)
    WRITES[what](x)
    tessera.sync()
    written = x.numpy()
    assert (y.numpy().tobytes(), z.numpy().tobytes()) == expected
    assert np.array_equal(x.numpy(), written)


def test_what_was_written_in_place_stays():
    y = numbers(40, 40) * 3.0
    y[0] = 1.0
    expected = y.numpy()
    assert not dtr.drop(y)
    assert np.array_equal(y.numpy(), expected)


def test_a_dropped_tensor_is_written():
    x = numbers(40, 40)
    y = x * 3.0
    expected = y.numpy()
    expected[0] = 1.0
    assert dtr.drop(y)
    y[0] = 1.0
    assert np.array_equal(y.numpy(), expected)


def test_views_of_a_dropped_tensor():
    x = numbers(40, 40)
    y = x * 3.0
    views = y[3:9], y.transpose(1, 0), y.reshape(20, 80)
    expected = [view.numpy() for view in views]
    assert dtr.drop(y)
    for view, want in zip(views, expected, strict=True):
        assert dtr.drop(y) or y.numpy() is not None
        assert np.array_equal((view + 0.0).numpy(), want)
    z = views[1] * 2.0  # computed from a view
    want = z.numpy()
    assert dtr.drop(z) and dtr.drop(y)
    assert np.array_equal(z.numpy(), want)


def test_memory_that_another_library_sees_stays():
    y = numbers(40, 40) * 3.0
    seen = np.from_dlpack(y)
    z = y + 1.0
    assert not dtr.drop(y)
    assert not dtr.drop(z)  # the other library may write y
    assert np.array_equal(seen, y.numpy())
    w = numbers(40, 40) * 3.0
    shown = memoryview(w)
    assert not dtr.drop(w)
    assert np.array_equal(np.asarray(shown), w.numpy())


def test_results_of_one_operator():
    x = numbers(40, 40)
    values, indices = F.sort(x, dim=0)
    expected = values.numpy(), indices.numpy()
    assert dtr.drop(values) and dtr.drop(indices)
    got, counts = counted(lambda: (values.numpy(), indices.numpy()))
    assert all(np.array_equal(a, b) for a, b in zip(got, expected, strict=True))
    assert counts["recomputations"] == 1
    parts = F.split(x, 2)
    expected = [part.numpy() for part in parts]
    for part in parts:
        dtr.drop(part)
    assert all(np.array_equal(p.numpy(), e) for p, e in zip(parts, expected, strict=True))


class Scale(Function):
    """A gradient of its own, with tensors that it keeps."""

    def forward(self, x):
        self.kept = F.exp(x)
        return self.kept * 2.0

    def backward(self, dy):
        return dy * self.kept * 2.0


def test_tensors_that_a_custom_function_keeps():
    def gradient(drops):
        x = numbers(64, 64)
        scale = Scale()
        with GradManager().attach([x]) as manager:
            y = scale(x)
            if drops:
                assert dtr.drop(scale.kept) and dtr.drop(y)
            manager.backward(y.sum())
        return x.grad.numpy().tobytes()

    assert gradient(True) == gradient(False)


def test_second_derivatives():
    def gradient():
        x = numbers(64, 64)
        with GradManager().attach([x]) as outer:
            with GradManager().attach([x]) as inner:
                inner.backward((F.tanh(x) * F.exp(x)).sum())
            first, x.grad = x.grad, None
            outer.backward((first * first).sum())
        return x.grad.numpy().tobytes()

    dtr.disable()
    expected = gradient()
    dtr.enable()
    dtr.eviction_threshold = 1
    got, counts = counted(gradient)
    assert got == expected and counts["evictions"] > 0


def test_arguments_of_a_traced_function():
    x = numbers(64, 64)
    y, z = x * 2.0, x + 1.0
    traced = jit.trace(lambda a, b: a @ b)
    expected = (y @ z).numpy().tobytes()
    for _ in range(3):
        assert dtr.drop(y) and dtr.drop(z)
        assert traced(y, z).numpy().tobytes() == expected


def test_settings_of_the_call_count():
    x, w = numbers(1, 8, 24, 24), numbers(8, 8, 3, 3, seed=1)
    before = config.winograd
    try:
        config.winograd = True
        y = F.conv2d(x, w, padding=1)
        expected = y.numpy().tobytes()
        assert dtr.drop(y)
        config.winograd = False
        assert y.numpy().tobytes() == expected
        assert config.winograd is False
    finally:
        config.winograd = before


def test_after_disable_tensors_are_read_still():
    x = numbers(40, 40)
    y = F.exp(x)
    expected = y.numpy().tobytes()
    assert dtr.drop(y)
    dtr.disable()
    x += 1.0
    assert y.numpy().tobytes() == expected
    z = F.exp(x)
    assert not dtr.drop(z)


def test_two_threads_read_one_value():
    x = numbers(200, 200)
    y = F.sin(F.exp(x) @ x)
    expected, found = y.numpy().tobytes(), []

    def work():
        for _ in range(50):
            dtr.drop(y)
            found.append((y * 1.0).numpy().tobytes() == expected)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert all(found) and len(found) == 150
