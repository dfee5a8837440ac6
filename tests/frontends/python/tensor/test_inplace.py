"""`inplace=True`: what it writes, who sees it, and when it is refused."""

import copy
import inspect

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import _core, config, jit
from tessera.autodiff import GradManager, no_grad

from tests.records import samples
from tests.records.test_ops import every_case
from tests.support import helper
from tests.support.helper import same_bits


def floats(*shape):
    """A tensor of random numbers."""
    return tessera.Tensor(helper.floats(*shape))


def function_of(record):
    """The Python function of a record; None without one that writes in place."""
    function = getattr(_core.ops, record.python, None) if record.python else None
    parameters = inspect.signature(function).parameters if function else {}
    return function if "inplace" in parameters else None


WRITERS = {name: record for name, record in samples.records().items() if function_of(record)}


def test_the_records_say_who_writes_in_place():
    assert {"add", "relu", "clip", "where", "slice_set", "logical_not"} <= set(WRITERS)
    assert not {"matmul", "equal", "sgd_update", "softmax"} & set(WRITERS)


def call(record, sample, operands, **more):
    """The function of a record, its attributes by their names in Python."""
    function = function_of(record)
    names = list(inspect.signature(function).parameters)
    index = {attr: names[len(record.operands) + i] for i, attr in enumerate(record.attrs)}
    return function(*operands, **{index[a]: v for a, v in sample.attrs.items()}, **more)


def target_of(record, operands, shape, dtype):
    """The operand that a record writes: the first that is not a mask."""
    number = 1 if record.name == "where" else 0
    fits = operands[number].shape == shape and operands[number].dtype == dtype
    return operands[number] if fits else None


def two_dtypes(record):
    return [(s, dtype) for s in record.samples for dtype in samples.tested_dtypes(record, s)[:2]]


def operands_of(record, sample, dtype):
    operands = samples.tensors(samples.arrays(record, sample, dtype))
    variadic = record.operands[-1].arity == "variadic"
    return [*operands[:2], operands[2:]] if variadic else operands


@every_case(two_dtypes, lambda record: record.name in WRITERS)
def test_every_record_writes_the_bits_that_it_returns(record, sample, dtype):
    operands = operands_of(record, sample, dtype)
    expected = call(record, sample, operands)
    target = target_of(record, operands, expected.shape, expected.dtype)
    if target is None:
        with pytest.raises(ValueError, match="must have the shape and dtype of the result"):
            call(record, sample, operands, inplace=True)
        return
    view = target.reshape(-1)
    assert call(record, sample, operands, inplace=True) is target
    assert same_bits(target, expected)
    assert same_bits(view, expected.reshape(-1))


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_every_record_writes_a_sample(name):
    def writes(sample, dtype):
        operands = operands_of(WRITERS[name], sample, dtype)
        result = call(WRITERS[name], sample, operands)
        return target_of(WRITERS[name], operands, result.shape, result.dtype) is not None

    assert any(writes(sample, dtype) for sample, dtype in two_dtypes(WRITERS[name]))


def test_it_needs_no_memory():
    x = floats(64, 1024)
    F.exp(x, inplace=True)
    tessera.sync()
    before = tessera.utils.counters.memory()["in_use"]
    for _ in range(10):
        assert F.relu(F.add(x, x, inplace=True), inplace=True) is x
        assert tessera.utils.counters.memory()["in_use"] == before
    assert tessera.utils.counters.memory()["in_use"] == before


def test_attributes_are_read_with_it():
    x = tessera.tensor([-1.5, 2.5])
    for high in (2, 1, 2):  # the second and third are remembered
        assert F.clip(x, 0, high, inplace=False) is not x and x.tolist() == [-1.5, 2.5]
    assert F.clip(x, 0, 2, inplace=True) is x and x.tolist() == [0.0, 2.0]
    assert F.clip(x, 0, 1, inplace=True).tolist() == [0.0, 1.0]


def test_views_see_it():
    x = tessera.tensor([[1.0, -2.0], [-3.0, 4.0]])
    row, turned = x[1], x.transpose(1, 0)
    F.relu(x, inplace=True)
    assert row.tolist() == [0, 4] and turned.tolist() == [[1, 0], [0, 4]]
    F.add(row, 1, inplace=True)
    assert x.tolist() == [[1, 0], [1, 5]]


def test_operands_that_overlap_are_read_before():
    x = tessera.Tensor(np.arange(5, dtype=np.float32))
    F.add(x[1:], x[:4], inplace=True)
    assert x.tolist() == [0, 1, 3, 5, 7]
    square = tessera.Tensor(np.arange(4, dtype=np.float32).reshape(2, 2))
    F.add(square, square.transpose(1, 0), inplace=True)
    assert square.tolist() == [[0, 3], [3, 6]]
    F.add(square, square[0], inplace=True)
    assert square.tolist() == [[0, 6], [3, 9]]


COPIES = {
    "Tensor": tessera.Tensor,
    "detach": lambda x: x.detach(),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "set_value": lambda x: tessera.tensor([0.0, 0.0]).set_value(x),
    "reset": lambda x: tessera.tensor([0.0, 0.0])._reset(x),
}


@pytest.mark.parametrize("how", COPIES)
def test_copies_have_value_semantics(how):
    x = tessera.tensor([1.0, -2.0])
    other = COPIES[how](x)
    F.relu(x, inplace=True)
    assert (x.tolist(), other.tolist()) == ([1, 0], [1, -2])
    F.neg(other, inplace=True)
    assert (x.tolist(), other.tolist()) == ([1, 0], [-1, 2])


def test_operators_of_python_rebind():
    x = tessera.tensor([1.0, 2.0])
    view, same = x[:1], x
    x += 1
    x[0] = 7
    assert view.tolist() == [1] and same is x and x.tolist() == [7, 3]


def test_operators_of_python_copy_on_write():
    def written(function):
        before = tessera.cache_stats()["results_in_place"]
        function()
        return tessera.cache_stats()["results_in_place"] - before

    def update():
        nonlocal x
        x += 1
        x *= x

    x = tessera.tensor([1.0, 2.0])
    assert written(update) == 2 and x.tolist() == [4, 9]
    view = x[:1]
    assert written(update) == 1 and (x.tolist(), view.tolist()) == ([25, 100], [4])
    other = x.detach()
    assert written(update) == 1 and (x.dtype, other.tolist()) == ("float32", [25, 100])
    with GradManager().attach([other]):
        assert written(update) == 0  # a tape may save what a call reads
    integer = tessera.tensor([1, 2])
    integer += 0.5
    assert integer.dtype == "float32" and integer.tolist() == [1.5, 2.5]


def test_elements_are_set_copy_on_write():
    def new_results(key, value):
        before = tessera.cache_stats()
        x[key] = value
        after = tessera.cache_stats()
        return after["results"] - after["views"] - before["results"] + before["views"]

    x, row = tessera.Tensor(np.zeros((3, 2), np.float32)), tessera.tensor([1.0, 2.0])
    assert new_results(1, row) == 0  # no new tensor
    assert new_results((slice(None, None, -2), 1), 7) == 0
    assert x.tolist() == [[0, 7], [1, 2], [0, 7]]
    view, other = x[1], x.detach()
    assert new_results(0, row) == 1
    assert x.tolist() == [[1, 2], [1, 2], [0, 7]]
    assert view.tolist() == [1, 2] and other.tolist() == [[0, 7], [1, 2], [0, 7]]
    assert new_results(slice(1, None), x[:2]) == 1  # of its own memory
    assert x.tolist() == [[1, 2], [1, 2], [1, 2]]
    with pytest.raises(ValueError, match="broadcast"):
        x[0] = floats(3)
    with pytest.raises(IndexError, match="getitem: index must be in"):
        x[3] = 1
    assert x.tolist() == [[1, 2], [1, 2], [1, 2]]


def test_a_value_that_is_set_may_change_afterwards():
    x, y = (
        tessera.Tensor(np.zeros((2, 1 << 18), np.float32)),
        tessera.Tensor(np.ones(1 << 18, np.float32)),
    )
    for number in range(2):
        y = F.exp(y * 0)  # queued
        x[number] = y
        y += 5
    np.testing.assert_array_equal(x.numpy(), np.ones((2, 1 << 18), np.float32))


def test_memory_of_copies_and_views_alike_is_refused():
    x = tessera.tensor([1.0, 2.0])
    other, view = x.detach(), x[:1]
    message = r"relu: x must not share its memory with copies .* and with views alike .*, got f32"
    with pytest.raises(ValueError, match=message):
        F.relu(x, inplace=True)
    assert (other.tolist(), view.tolist()) == ([1, 2], [1])


REFUSED = {
    "a dtype": (lambda: F.add(tessera.tensor([1, 2]), 0.5, inplace=True), ValueError,
                r"add: x must have the shape and dtype of .*, got i32\[2\] for f32\[2\]"),
    "a shape": (lambda: F.add(floats(3), floats(2, 3), inplace=True), ValueError,
                r"add: x must have the shape .*, got f32\[3\] for f32\[2, 3\]"),
    "repeats": (lambda: F.neg(F.broadcast_to(floats(3), (2, 3)), inplace=True), ValueError,
                r"neg: x must have an element of its own for each index .*, got f32\[2, 3\] with "
                r"strides \[0, 1\]"),
    "an array": (lambda: F.neg(np.zeros(2, np.float32), inplace=True), TypeError,
                 "neg: x must be a Tensor to be written in place, got numpy.ndarray"),
    "a number": (lambda: F.add(1, floats(2), inplace=True), TypeError,
                 "add: x must be a Tensor to be written in place, got int"),
    "no bool": (lambda: F.neg(floats(2), inplace=1), TypeError,
                "neg: inplace must be a bool, got int"),
    "no writer": (lambda: F.equal(floats(2), floats(2), inplace=True), TypeError,
                  "equal: arguments must be among .*, got 'inplace'"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_written_is_refused(case):
    function, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        function()


def test_a_refused_call_writes_nothing():
    x = tessera.tensor([1, 2])
    with pytest.raises(ValueError, match="add: x must have"):
        F.add(x, 0.5, inplace=True)
    assert x.tolist() == [1, 2] and x.dtype == "int32"


def test_a_trace_refuses_it():
    step = jit.trace(lambda x: F.relu(x + 1, inplace=True))
    with pytest.raises(ValueError, match="relu: inplace must be False while a trace records"):
        step(floats(3))


@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize("size", [4, 1 << 18])
def test_the_order_is_that_of_the_program(level, size):
    old = config.get_async_level()
    config.set_async_level(level)
    try:
        x, ones = (
            tessera.Tensor(np.zeros(size, np.float32)),
            tessera.Tensor(np.ones(size, np.float32)),
        )
        seen = []
        for _ in range(20):
            seen.append(F.exp(x) * 1)  # reads before, queued when large
            F.add(x, ones, inplace=True)
            F.add(x[:1], ones[:1], inplace=True)
        for number, each in enumerate(seen):
            expected = np.exp(np.array([2 * number, number], np.float32))
            np.testing.assert_allclose(each.numpy()[:2], expected, rtol=1e-5)
        assert x.numpy()[:2].tolist() == [40, 20]
    finally:
        config.set_async_level(old)


def test_a_failure_poisons_the_memory():
    x, index = tessera.Tensor(np.ones(1 << 18, np.float32)), tessera.tensor([1 << 18])
    view = x[:1]
    F.add(x, (x * 2)[index], inplace=True)
    with pytest.raises(IndexError, match="index_get: .*test_inplace.py"):
        view.numpy()


def gradient(function, x):
    """Of the sum of function(x), with respect to x."""
    with GradManager().attach([x]) as manager:
        manager.backward(function(x).sum())
    return x.grad.tolist()


def test_gradients_go_through_it():
    def function(x):
        y = x * 3
        assert F.exp(F.neg(y, inplace=True), inplace=True) is y
        return y * 2

    x = tessera.tensor([-1.0, 0.5])
    assert gradient(function, x) == gradient(lambda x: F.exp(F.neg(x * 3)) * 2, x.detach())


def here():
    """The line of the caller."""
    return inspect.currentframe().f_back.f_lineno


def test_a_saved_tensor_that_was_written_names_both_lines():
    x = tessera.tensor([1.0, 2.0])
    with GradManager().attach([x]) as manager:
        y, saved = F.exp(x), here()
        written = here() + 1
        F.add(y, 1, inplace=True)
        with pytest.raises(ValueError, match=(
            r"exp: result out must be unchanged until the gradient is taken \(the call at "
            rf"test_inplace.py:{saved} saved it\), got a write by add at test_inplace.py:{written}"
        )):  # fmt: skip
            manager.backward(y.sum())


def test_an_operand_that_its_own_call_wrote():
    x = tessera.tensor([1.0, 2.0])
    with GradManager().attach([x]) as manager:
        y = F.sin(x * 1, inplace=True)
        with pytest.raises(ValueError, match="sin: operand x must be unchanged until the gradient"):
            manager.backward(y.sum())


def test_a_leaf_is_refused_while_it_is_recorded():
    x = tessera.tensor([1.0, 2.0])
    with GradManager().attach([x]):
        message = r"relu: inplace must write no tensor whose gradient is wanted .*, got f32\[2\]"
        with pytest.raises(ValueError, match=message):
            F.relu(x, inplace=True)
        with no_grad():
            F.add(x, 1, inplace=True)
    F.add(x, 1, inplace=True)
    assert x.tolist() == [3, 4]


def test_a_recorded_value_that_another_tensor_wrote():
    x = tessera.tensor([1.0, 2.0])
    with GradManager().attach([x]) as manager:
        y = x * 2
        F.add(y[:1], 1, inplace=True)
        with pytest.raises(ValueError, match=r"mul: operands must be unchanged since their "
                                             r"gradient is recorded, got f32\[2\] in memory "
                                             r"written by add at test_inplace.py"):  # fmt: skip
            y * 3
        with pytest.raises(ValueError, match="backward: operands must be unchanged"):
            manager.backward(y, floats(2))


def test_each_leaf_has_a_gradient_of_its_own():
    a, b, dy = tessera.tensor([1.0]), tessera.tensor([2.0]), tessera.tensor([3.0])
    for expected in (3, 6):
        with GradManager().attach([a, b]) as manager:
            manager.backward(a + b, dy)
        assert (a.grad.item(), b.grad.item(), dy.item()) == (expected, expected, 3)
    F.neg(a.grad, inplace=True)
    assert (a.grad.item(), b.grad.item(), dy.item()) == (-6, 6, 3)


def test_gradients_are_added_in_their_memory():
    x, weight = floats(64), floats(64)

    def backward():
        with GradManager().attach([x]) as manager:
            manager.backward((x * weight + x * weight).sum())

    backward()
    first, once = x.grad, x.grad.numpy()
    tessera.sync()
    before = tessera.cache_stats()["results_in_place"]
    backward()
    assert tessera.cache_stats()["results_in_place"] == before + 2  # on the tape, and in x.grad
    assert x.grad is first and same_bits(first, once + once)
    view = x.grad[:1]
    backward()
    assert same_bits(view, (once + once)[:1])
    np.testing.assert_array_equal(x.grad.numpy(), once + once + once)
