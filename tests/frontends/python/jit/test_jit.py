"""tessera.jit: trace and its effects on Python state."""

from collections import OrderedDict, namedtuple

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera import module as M  # noqa: N812
from tessera.autodiff import GradManager
from tessera.optimizer import SGD

from tests.support.helper import same_bits
from tests.support.networks import Net, tensor

Pair = namedtuple("Pair", "a b")

# `counted` changes Python state on purpose.
pytestmark = pytest.mark.filterwarnings("ignore:trace. wrapper changes Python state")


def counted(function):
    """`function`, and a list that grows with each run of its Python code."""
    runs = []

    def wrapper(*args, **kwargs):
        runs.append(1)
        return function(*args, **kwargs)

    return wrapper, runs


def test_python_runs_twice_for_a_signature():
    function, runs = counted(lambda x: F.exp(x) * 2 + 1)
    traced = jit.trace(function)
    for seed in range(4):
        x = tensor(3, 4, seed=seed)
        assert same_bits(traced(x), F.exp(x) * 2 + 1)
    assert len(runs) == 2  # recorded, and compared with that
    traced(tensor(2, 4))
    traced(tessera.Tensor(np.ones((3, 4)), dtype="float64"))
    assert len(runs) == 4
    traced(tensor(3, 4))
    assert len(runs) == 4


@pytest.mark.parametrize(
    "options", [{}, {"symbolic": True}, {"symbolic": False, "capture_as_const": True}]
)
def test_decorator_forms(options):
    @jit.trace(**options)
    def double(x):
        """Twice."""
        return x * 2

    assert double.__name__ == "double" and double.__doc__ == "Twice."
    assert [double(tessera.Tensor([i])).tolist() for i in range(3)] == [[0], [2], [4]]


def test_nested_arguments_and_results():
    @jit.trace
    def f(pair, options, *, scale):
        s = pair.a + options["b"][0]
        return {"s": s * scale, "rest": [(s, None), Pair(pair.b, "text")]}, OrderedDict(x=3)

    for i in range(3):
        pair, b = Pair(tensor(2, seed=i), tensor(3)), tensor(2, seed=9)
        got, last = f(pair, {"b": [b]}, scale=2.0)
        assert same_bits(got["s"], (pair.a + b) * 2.0) and last == OrderedDict(x=3)
        assert got["rest"][0][1] is None and isinstance(got["rest"][1], Pair)
        assert same_bits(got["rest"][1].a, pair.b) and got["rest"][1].b == "text"


def test_other_values_make_other_programs():
    function, runs = counted(lambda x, n, mode="a": x * n + (mode == "a"))
    traced = jit.trace(function)
    x = tessera.Tensor([1.0])
    for _ in range(2):
        assert [traced(x, 2).item(), traced(x, 3).item(), traced(x, 2, mode="b").item()] == [
            3,
            4,
            2,
        ]
        assert traced(x, 2.0).item() == 3 and traced(x, True).item() == 2
    assert len(runs) == 2 * 5


def test_one_tensor_given_twice():
    function, runs = counted(lambda a, b: a * 10 + b)
    traced = jit.trace(function)
    a, b = tessera.Tensor([1.0]), tessera.Tensor([2.0])
    assert [traced(a, a).item() for _ in range(2)] == [11, 11]
    assert [traced(a, b).item() for _ in range(2)] == [12, 12]
    assert len(runs) == 2 * 2


def test_array_arguments_are_constants_by_value():
    function, runs = counted(lambda x, n: x + tessera.Tensor(n))
    traced = jit.trace(function)
    x = tessera.Tensor([1.0])
    assert [traced(x, np.float32([n])).item() for n in (1, 2, 1, 2, 1)] == [2, 3, 2, 3, 2]
    assert len(runs) == 2 * 2
    with pytest.raises(TypeError, match="trace: arguments must be tensors or hashable, got set"):
        traced(x, {1})


def test_inputs_and_constants_as_results():
    outside = tessera.Tensor([7.0])
    traced = jit.trace(lambda x: (x, outside, x))
    for i in range(3):
        a, b, c = traced(tessera.Tensor([float(i)]))
        assert (a.item(), b.item(), c.item()) == (i, 7, i)


def test_outside_tensors_are_read_at_every_call():
    weight = tessera.Parameter(np.ones(2, dtype=np.float32))
    traced = jit.trace(lambda x: x * weight)
    x = tensor(2)
    for factor in (1.0, 2.0, 3.0):
        weight.set_value(np.full(2, factor, dtype=np.float32))
        assert same_bits(traced(x), x * factor)


def test_captured_constants_keep_their_values():
    weight = tessera.Parameter(np.ones(2, dtype=np.float32))
    traced = jit.trace(lambda x: x * weight, capture_as_const=True)
    x = tensor(2)
    traced(x)
    weight.set_value(np.zeros(2, dtype=np.float32))
    assert same_bits(traced(x), x)


def test_outside_tensors_are_updated():
    count = tessera.Tensor([0.0])

    @jit.trace
    def step(x):
        count._reset(count + x)
        return count * 10

    assert [step(tessera.Tensor([1.0])).item() for _ in range(4)] == [10, 20, 30, 40]
    assert count.item() == 4


def test_batch_norm_follows_the_mode():
    layer, plain = M.BatchNorm2d(2), M.BatchNorm2d(2)
    function, runs = counted(layer)
    traced = jit.trace(function)
    for step in range(6):
        mode = step % 4 < 2
        layer.train(mode)
        plain.train(mode)
        x = tensor(3, 2, 4, 4, seed=step)
        assert same_bits(traced(x), plain(x)), step
    assert same_bits(layer.running_var, plain.running_var) and len(runs) == 2 * 2


def train(traced, clear=True):
    net = Net()
    optim = SGD(net.parameters(), lr=0.1, momentum=0.9)
    manager = GradManager().attach(net.parameters())

    def step(x, y):
        with manager:
            loss = F.cross_entropy(net(x), y)
            manager.backward(loss)
        optim.step()
        if clear:
            optim.clear_grad()
        return loss

    run, losses = jit.trace(step) if traced else step, []
    labels = tessera.Tensor(np.arange(8) % 3)
    for seed in range(7):
        losses.append(run(tensor(8, 6, seed=seed), labels).item())
        if not clear and seed % 3 == 2:
            optim.clear_grad()
    grads = [None if p.grad is None else p.grad.tolist() for p in net.parameters()]
    return losses, {k: v.tobytes() for k, v in net.state_dict().items()}, grads


@pytest.mark.parametrize("clear", [True, False])
def test_training_is_the_same_bit_for_bit(clear):
    assert train(True, clear) == train(False, clear)


def test_gradients_of_arguments():
    manager = GradManager()

    @jit.trace
    def slope(x):
        manager.attach(x)
        with manager:
            manager.backward((x * x).sum())
        return x.grad

    for seed in range(3):
        x = tensor(4, seed=seed)
        assert same_bits(slope(x), x * 2) and same_bits(x.grad, x * 2)


def test_a_module_is_a_function():
    net = Net().eval()
    traced, x = jit.trace(net), tensor(8, 6)
    for _ in range(3):
        assert same_bits(traced(x), net(x))
    assert traced.explain().startswith("Net(") and traced.program() is not None


def test_traces_within_traces_are_part_of_them():
    inner = jit.trace(lambda x: x + 1)
    outer = jit.trace(lambda x: inner(x) * 2)
    assert [outer(tessera.Tensor([float(i)])).item() for i in range(3)] == [2, 4, 6]
    assert outer.program().launches == 1 and inner.program() is None
    assert [inner(tessera.Tensor([float(i)])).item() for i in range(3)] == [1, 2, 3]
    assert [outer(tessera.Tensor([float(i)])).item() for i in range(3)] == [2, 4, 6]


def test_a_trace_that_calls_itself():
    @jit.trace
    def power(x, n):
        return x * power(x, n - 1) if n else x * 0 + 1

    for _ in range(3):
        assert [power(tessera.Tensor([2.0]), n).item() for n in range(5)] == [1, 2, 4, 8, 16]
    assert power.program().launches == 1


def test_methods_that_call_each_other():
    class Model:
        def __init__(self):
            self.runs = 0

        @jit.trace
        def inner(self, x):
            return x * 3

        @jit.trace
        def outer(self, x):
            return self.inner(x) + self.inner(x + 1)

    model, x = Model(), tessera.Tensor([1.0])
    assert [model.outer(x).item() for _ in range(3)] == [9, 9, 9]
    assert model.outer.program().launches == 1 and model.inner.program() is None


def test_methods():
    class Model:
        def __init__(self, factor):
            self.factor = factor

        @jit.trace
        def run(self, x):
            return x * self.factor

    a, b = Model(2.0), Model(3.0)
    x = tessera.Tensor([1.0])
    assert [m.run(x).item() for m in (a, b, a, b)] == [2, 3, 2, 3]


VIEWS = {
    "column": lambda x: x[:, 1] * 2,
    "column kept": lambda x: x[:, 1:2] * x[:, 2:3],
    "part": lambda x: F.split(x, 3, 1)[1] + 1,
    "new axis": lambda x: F.expand_dims(x[:, 0], -1) * x,
    "every second": lambda x: x[::2, ::2] * 3,
    "inner": lambda x: x[1:, 1:] * x[:-1, :-1],
    "reversed": lambda x: x[::-1, ::-1] - 1,
    "transposed": lambda x: x.T[1:] * 2,
    "row": lambda x: x[0] * x[1],
    "sum of a column": lambda x: F.sum(x[:, 1] * 2),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("shape", [(3, 3), (40, 40), (3, 1), (1, 3)], ids=str)
def test_kernels_read_views(view, shape):
    try:
        expected = VIEWS[view](tensor(*shape))
    except (ValueError, IndexError):
        return  # the shape has no such view
    traced = jit.trace(VIEWS[view])
    traced(tensor(*shape))
    assert same_bits(traced(tensor(*shape)), expected)


def test_an_exception_while_recording_leaves_no_trace():
    @jit.trace
    def fails(x):
        if not allowed:
            raise KeyError("user's")
        return x + 1

    allowed = False
    for _ in range(2):
        with pytest.raises(KeyError, match="user's"):
            fails(tensor(2))
    allowed = True
    x = tensor(2)
    assert same_bits(fails(x), x + 1) and same_bits(fails(x), x + 1)


def test_reading_outside_tensors_is_allowed_only_as_constants():
    outside = tessera.Tensor([2.0])
    traced = jit.trace(lambda x: x * outside.shape[0])
    assert same_bits(traced(tensor(2)), tensor(2))


def test_disable_trace(monkeypatch):
    monkeypatch.setenv("TESS_DISABLE_TRACE", "1")
    function, runs = counted(lambda x: x + 1)
    traced = jit.trace(function)
    for _ in range(3):
        traced(tensor(2))
    assert len(runs) == 3


def test_explain_and_program():
    traced = jit.trace(lambda x: F.exp(x) + 1)
    assert traced.program() is None
    traced(tensor(2))
    assert "not compiled yet" in traced.explain()
    traced(tensor(2))
    assert traced.program().launches == 1 and "1 launches" in traced.explain()


def compiled(function, *arguments):
    """A trace after its second call."""
    traced = jit.trace(function)
    traced(*arguments)
    traced(*arguments)
    return traced


def test_equal_work_is_done_once():
    x = tensor(8, 8)
    traced = compiled(lambda x: x @ x + x @ x, x)
    assert traced._last.recording.num_ops == 3 and traced.program().launches == 2
    assert same_bits(traced(x), x @ x + x @ x)
    different = compiled(lambda x: x @ x + (x + 1) @ x, x)
    assert different.program().launches == 4


def test_work_that_nobody_reads_is_not_done():
    traced = compiled(lambda x: (x @ x, x + 1)[1], tensor(8, 8))
    assert traced._last.recording.num_ops == 2 and traced.program().launches == 1


def test_fused_equals_separate():
    def f(x):
        return F.softmax(F.gelu(x * 1.5 + 0.5), -1).sum(0)

    x = tensor(7, 33)
    fused, separate = jit.trace(f), jit.trace(f, without_fusion=True)
    for _ in range(2):
        assert same_bits(fused(x), f(x)) and same_bits(separate(x), f(x))
    assert fused.program().launches < separate.program().launches
