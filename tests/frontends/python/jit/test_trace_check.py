"""What Python does otherwise when a traced function is called again: found, and explained."""

import warnings

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera import module as M  # noqa: N812
from tessera.autodiff import GradManager
from tessera.optimizer import SGD

from tests.support.helper import same_bits
from tests.support.networks import tensor

total = 0


def mismatch(traced, *args):
    """The explanation that the call gives."""
    with pytest.raises(jit.TraceMismatchError) as caught:
        traced(*args)
    return str(caught.value)


def changing(*values):
    """A function that gives one value after the other."""
    left = iter(values)
    return lambda: next(left)


def test_control_flow_is_explained_by_both_lines():
    flag = changing(False, *[True] * 4)

    @jit.trace(check=True)
    def step(x):
        y = x + 1
        if flag():
            return y * 3
        return y * 2

    x = tensor(2)
    first = step(x)
    text = mismatch(step, x)
    assert text.startswith("trace: step must do the same whenever it is called like this, got two")
    minus, plus = (next(row for row in text.splitlines() if row[2] == s) for s in "-+")
    line = step.function.__code__.co_firstlineno
    assert f"test_trace_check.py:{line + 5}: return y * 2  [%1 = mul(%0, 2 f32[])" in minus
    assert f"test_trace_check.py:{line + 4}: return y * 3  [%1 = mul(%0, 3 f32[])" in plus
    assert f"test_trace_check.py:{line + 2}: y = x + 1  [%0 = add(arg0, 1 f32[])" in text
    assert same_bits(first, (x + 1) * 2)
    # What is called next is recorded anew.
    for _ in range(3):
        assert same_bits(step(x), (x + 1) * 3)


OTHER = {
    "number": (changing(2.0, 3.0), lambda x, v: x * v, "2 f32[]", "3 f32[]"),
    "count": (changing(1, 2), lambda x, v: x * v, "1 f32[]", "2 f32[]"),
    "array": (
        changing(np.float32([1, 2]), np.float32([1, 3])),
        lambda x, v: x + tessera.Tensor(v),
        "[1, 2] f32[2]",
        "[1, 3] f32[2]",
    ),
    "large array": (
        changing(np.zeros(98, np.float32), np.ones(98, np.float32)),
        lambda x, v: tessera.Tensor(v).reshape(-1, 2) + x[0],
        "constant ",
        "constant ",
    ),
    "attribute": (changing(0, 1), lambda x, v: F.softmax(x, v), "axis=0", "axis=1"),
    "shape": (changing(1, 2), lambda x, v: x[:v] + 1, "f32[1, 2]", "f32[2, 2]"),
    "operator": (changing(F.exp, F.tanh), lambda x, v: v(x), "exp(arg0)", "tanh(arg0)"),
    "operand": (changing(0, 1), lambda x, v: (x, x + 1)[v] * 2, "mul(arg0", "mul(%0"),
    "more": (changing(1, 2), lambda x, v: [x + n for n in range(v)][0], None, "1 f32[]"),
    "outside": (
        changing(tensor(2), tensor(2)),
        lambda x, v: x + v,
        "outside#0",
        "outside#1",
    ),
    "result": (changing("a", "b"), lambda x, v: (x, v), "'a'", "'b'"),
    "structure": (changing(1, 2), lambda x, v: [None] * v, "[None]", "[None, None]"),
}


@pytest.mark.parametrize("what", OTHER)
def test_whatever_differs_is_shown(what):
    value, function, old, new = OTHER[what]
    traced, x = jit.trace(lambda x: function(x, value()), check=True), tensor(2, 2)
    traced(x)
    lines = mismatch(traced, x).splitlines()
    if old is not None:
        assert any(line.startswith("  -") and old in line for line in lines), lines
    assert any(line.startswith("  +") and new in line for line in lines), lines


def test_modules_and_gradients_that_differ():
    layers, x = [M.ReLU(), M.Sigmoid()], tensor(2)
    use = changing(0, 1)
    traced = jit.trace(lambda x: layers[use()] and x)
    traced(x)
    traced(x)  # a module that does not run is no difference

    weight = tessera.Parameter(np.ones(2, np.float32))
    manager, clears = GradManager().attach(weight), changing(True, False)
    optim = SGD([weight], lr=0.1)

    @jit.trace(check=True)
    def step(x):
        with manager:
            manager.backward((weight * x).sum())
        if clears():
            optim.clear_grad()

    step(x)
    text = mismatch(step, x)
    assert "  - grad of outside becomes None" in text or "  - grad of outside stays" in text
    assert "  + grad of outside becomes gradient 0" in text
    assert weight.grad is None  # nothing ran


def test_long_differences_are_cut():
    count = changing(1, 40)

    @jit.trace(check=True)
    def grow(x):
        for _ in range(count()):
            x = x + 1
        return x

    grow(tensor(2))
    text = mismatch(grow, tensor(2))
    assert "  ... and " in text and len(text.splitlines()) == 1 + 16 + 1 + 1


class Counter(M.Module):
    def __init__(self):
        super().__init__()
        self.calls, self.kept, self.scale = 0, [], 1.0
        self.last = None

    def forward(self, x):
        self.calls += 1
        self.last = y = x * self.scale
        self.kept.append(y)
        return y


def test_side_effects_on_python_state_are_told():
    net, n = Counter(), 0

    @jit.trace
    def step(x, array):
        global total
        nonlocal n
        n += 1
        total += 2
        array[0] = n
        return net(x)

    step(tensor(2), np.zeros(2))
    with pytest.warns(RuntimeWarning) as caught:
        step(tensor(2), np.zeros(2))
    texts = [str(each.message) for each in caught]
    line = step.function.__code__.co_firstlineno
    head = "trace: step changes Python state, which its program will not: "
    assert f"{head}test_trace_check.py:{line + 4}: n += 1: n was 1, is 2" in texts
    assert f"{head}test_trace_check.py:{line + 5}: total += 2: total was 2, is 4" in texts
    array = "argument 1 was a ndarray, is a ndarray with other contents"
    assert f"{head}test_trace_check.py:{line + 6}: array[0] = n: {array}" in texts
    line = Counter.forward.__code__.co_firstlineno
    place = f"{head}test_trace_check.py:{line}"[: -len(str(line))]
    assert f"{place}{line + 1}: self.calls += 1: net.calls was 1, is 2" in texts
    kept = "self.kept.append(y): net.kept was a list of 1, is a list of 2"
    assert f"{place}{line + 3}: {kept}" in texts
    assert any("net.last was a tensor float32[2], is a tensor" in each for each in texts[:6])


def test_what_follows_from_state_that_the_function_changes_is_as_python_says():
    state = {"count": 0}

    @jit.trace
    def step(x):
        state["count"] += 1
        return x * state["count"]

    with pytest.warns(
        RuntimeWarning, match=r'runs eagerly, because it changes Python state .*"count"\] \+= 1'
    ):
        assert [step(tessera.Tensor([1.0])).item() for _ in range(5)] == [1, 2, 3, 4, 5]


def test_what_the_first_call_makes_is_there_in_the_second():
    class Lazy(M.Module):
        def __init__(self):
            super().__init__()
            self.weight = self.layer = None

        def forward(self, x):
            if self.weight is None:
                self.weight, self.layer = tessera.Parameter([2.0]), M.Linear(1, 1)
            return self.layer(x * self.weight)

    net = Lazy()
    traced = jit.trace(net)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for value in (1.0, 2.0, 3.0, 4.0):
            assert same_bits(traced(tessera.Tensor([value])), net(tessera.Tensor([value])))
    assert traced.program() is not None


def test_an_attribute_that_each_call_makes_a_tensor_of():
    class Recurrent:
        hidden = None

        def run(self, x):
            self.hidden = x if self.hidden is None else self.hidden * 0.5 + x
            return self.hidden * 2

    ours, theirs = Recurrent(), Recurrent()
    traced = jit.trace(ours.run)
    with pytest.warns(RuntimeWarning, match="runs eagerly, because it changes Python state"):
        for value in (1.0, 2.0, 3.0, 4.0):
            x = tessera.Tensor([value])
            assert same_bits(traced(x), theirs.run(x))


def test_no_side_effect_no_warning():
    net, unused = M.Linear(2, 2), 0
    optim = SGD(net.parameters(), lr=0.1, momentum=0.9)
    manager = GradManager().attach(net.parameters())

    @jit.trace
    def step(x):
        count = unused
        with manager:
            loss = net(x).sum() + count
            manager.backward(loss)
        optim.step().clear_grad()
        return loss

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(3):
            step(tensor(3, 2, seed=seed))


@pytest.mark.filterwarnings("ignore:trace. ")
def test_the_second_call_does_what_python_says():
    results, runs = [], 0

    @jit.trace
    def f(x):
        nonlocal runs
        runs += 1
        y = x * 2
        z = y + 1
        results.append((y, z))
        return z

    x = tensor(3)
    for _ in range(4):
        assert same_bits(f(x), x * 2 + 1)
    assert runs == 2 and same_bits(results[1], (x * 2, x * 2 + 1))


def test_the_second_call_changes_variables_once():
    state = tessera.Tensor([0.0])

    @jit.trace
    def step(x):
        state._reset(state + x)
        return state * 10

    for n in range(1, 5):
        assert step(tessera.Tensor([1.0])).item() == 10 * n and state.item() == n


@pytest.mark.parametrize("kind", ["setitem", "add", "reset"])
def test_writes_to_arguments_reach_the_caller(kind):
    def write(x):
        if kind == "setitem":
            x[0] = 5.0
        elif kind == "add":
            x += 1
        else:
            x._reset(x * 2)
        return x.sum()

    traced = jit.trace(write)
    for seed in range(4):
        ours, theirs = tensor(3, seed=seed), tensor(3, seed=seed)
        assert same_bits(traced(ours), write(theirs)) and same_bits(ours, theirs)


def test_a_tensor_from_outside_that_changes_its_shape_is_recorded_anew():
    weight = tessera.Parameter(np.ones(2, np.float32))
    traced, x = jit.trace(lambda x: (x * weight).sum()), tensor(2, 2)
    for shape in [(2,), (2,), (2, 2), (2, 2), (2,), (1,), (1,)]:
        weight._reset(tensor(*shape, seed=3))
        assert same_bits(traced(x), (x * weight).sum())
    weight._reset(tessera.Tensor(np.ones(2), dtype="float64"))
    assert traced(x).dtype == np.float64


def test_check_compares_every_call():
    factor = changing(2.0, 2.0, 2.0, 3.0)
    traced = jit.trace(lambda x: x * factor(), check=True)
    for seed in range(3):
        x = tensor(2, seed=seed)
        assert same_bits(traced(x), x * 2.0)
    assert "3 f32[]" in mismatch(traced, tensor(2))


def test_an_exception_in_the_second_call_leaves_everything():
    weight = tessera.Parameter(np.ones(2, np.float32))
    manager, fails = GradManager().attach(weight), changing(False, True, False)

    @jit.trace(check=True)
    def step(x):
        with manager:
            manager.backward((weight * x).sum())
        weight._reset(weight + 1)
        if fails():
            raise KeyError("user's")
        return x * 2

    x = tensor(2)
    step(x)
    grad, value = weight.grad, weight.numpy()
    weight.grad = None
    with pytest.raises(KeyError, match="user's"):
        step(x)
    assert weight.grad is None and (weight.numpy() == value).all()
    assert same_bits(step(x), x * 2) and same_bits(weight.grad, grad)
