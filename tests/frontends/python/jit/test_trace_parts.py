"""Parts of traced functions left out, lazy and recorded-only traces, partial_trace."""

import contextlib
import threading

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera import module as M  # noqa: N812
from tessera.autodiff import GradManager
from tessera.optimizer import Adam
from tessera.utils import counters

from tests.support.helper import same_bits
from tests.support.networks import Net, tensor


def launches(function, *args):
    """Kernels of a call."""
    tessera.sync()
    before = counters.launches()
    function(*args)
    tessera.sync()
    return counters.launches() - before


def test_code_left_out_runs_at_every_call_and_decides():
    odd, seen = False, []

    @jit.trace
    def f(x):
        y = F.exp(x) * 2 + 1
        with jit.exclude_from_trace():
            seen.append(y.numpy())
            if odd:
                y = y * 3
        return F.tanh(y) - x

    for number in range(6):
        odd, x = number % 2 == 1, tensor(3, 4, seed=number)
        y = F.exp(x) * 2 + 1
        assert same_bits(f(x), F.tanh(y * 3 if odd else y) - x)
        assert len(seen) == number + 1 and same_bits(seen[-1], y)


def test_what_is_between_runs_compiled():
    @jit.trace
    def f(x):
        y = F.exp(x * 2) + 1
        with jit.exclude_from_trace():
            y.sum().item()
        return F.tanh(y * 3 - 1)

    x = tensor(64, 64)
    counts = [launches(f, x) for _ in range(3)]
    summed = launches(lambda x: x.sum().item(), x)
    assert counts[1] == counts[2] == 1 + summed + 1 < counts[0]
    assert len(f._segments.programs) == 2
    f(tensor(2, 2))  # another shape, other programs
    assert len(f._segments.programs) == 4


def test_only_what_is_held_is_computed():
    @jit.trace
    def f(x):
        unused = x @ x  # noqa: F841
        del unused
        y = x + 1
        with jit.exclude_from_trace():
            y.item()
        return y

    x = tensor(1, 1)
    f(x)
    assert launches(f, x) == 1


def test_variables_and_random_numbers():
    def run(wrap):
        tessera.seed(5)
        state, norm, drop = tessera.Tensor([1.0]), M.BatchNorm1d(4), M.Dropout(0.5)
        values = []

        @wrap
        def f(x):
            state._reset(state * 2)
            y = drop(norm(x))
            with jit.exclude_from_trace():
                values.append(state.item())
                state._reset(state + 1)
            state._reset(state * y.sum())
            return y + state

        rows = [f(tensor(3, 4, seed=n)) for n in range(5)]
        return values, [r.numpy().tobytes() for r in rows], norm.running_var.tolist(), state.item()

    assert run(jit.trace) == run(lambda f: f)


def test_training_with_a_part_left_out_is_the_same_bit_for_bit():
    def train(wrap):
        tessera.seed(2)
        net, printed = Net(), []
        optim = Adam(net.parameters(), lr=0.01)
        manager = GradManager().attach(net.parameters())

        @wrap
        def step(x, y):
            with manager:
                logits = net(x)
                with jit.exclude_from_trace():
                    printed.append(float(logits.numpy().max()))
                loss = F.cross_entropy(logits, y)
                manager.backward(loss)
            optim.step().clear_grad()
            return loss

        labels = tessera.Tensor(np.arange(8) % 3)
        losses = [step(tensor(8, 6, seed=n), labels).item() for n in range(5)]
        return losses, printed, {k: v.tobytes() for k, v in net.state_dict().items()}

    assert train(jit.trace) == train(lambda f: f)


@pytest.mark.parametrize("symbolic", [False, True])
def test_an_exception_comes_out_when_what_was_before_it_ran(symbolic):
    state, fails = tessera.Tensor([0.0]), False

    @jit.trace(symbolic=symbolic)
    def f(x):
        with jit.exclude_from_trace():
            pass
        state._reset(state + x)
        if fails:
            raise KeyError("user's")
        return state * 2

    x = tessera.Tensor([1.0])
    assert [f(x).item() for _ in range(3)] == [2, 4, 6]
    fails = True
    with pytest.raises(KeyError, match="user's"):
        f(x)
    assert state.item() == 4
    fails = False
    assert f(x).item() == 10


def test_errors_within_the_part():
    @jit.trace
    def f(x):
        y = x * 2
        with jit.exclude_from_trace():
            if y.sum().item() > 10:
                raise ValueError("too large")
        return y

    small, large = tessera.Tensor([1.0]), tessera.Tensor([9.0])
    for _ in range(3):
        assert f(small).item() == 2
        with pytest.raises(ValueError, match="too large"):
            f(large)


def test_values_that_are_looked_at_outside_of_the_part_part_it():
    @jit.trace
    def f(x, look):
        y = x * 2
        with jit.exclude_from_trace():
            y.item()
        z = y + 1
        if look:
            z.item()
        return z

    x = tessera.Tensor([1.0])
    assert [f(x, False).item() for _ in range(3)] == [3, 3, 3]
    assert [f(x * n, True).item() for n in (1, 2)] == [3, 5]
    assert f(x, False).item() == 3


def masked(x, part):
    y = x[x > 0] * 2
    with part():
        total = float(y.numpy().sum())
    z = F.concat([y, x[x < 0]]) * total
    return y.sum() + 1, F.non_zero(z), z[: len(y)], F.arange(F.argmax(x) + 1)


@pytest.mark.parametrize("symbolic", [False, True])
def test_sizes_that_data_decides_beside_a_part(symbolic):
    call = jit.trace(lambda x: masked(x, jit.exclude_from_trace), symbolic=symbolic)
    for seed in range(6):
        x = tensor(5, seed=seed)
        assert same_bits(call(x), masked(x, contextlib.nullcontext))


def test_a_failure_of_what_parts_a_stretch_is_told():
    @jit.trace
    def f(x, index):
        with jit.exclude_from_trace():
            pass
        y = x[x > 0] * 2
        return y[index]

    x = tessera.Tensor([1.0, -1.0, 2.0])
    assert [f(x, tessera.tensor([1])).tolist() for _ in range(3)] == [[4.0]] * 3
    with pytest.raises(IndexError, match=r"index must be in \[-2, 1\]"):
        f(x, tessera.tensor([5])).numpy()
    assert f(x, tessera.tensor([0])).tolist() == [2.0]


def test_traces_within_the_part_are_programs_of_their_own():
    inner = jit.trace(lambda x: F.exp(x) + 1)

    @jit.trace
    def f(x):
        with jit.exclude_from_trace(), jit.exclude_from_trace():
            y = inner(x * 2)
        return inner(y) * 2

    for seed in range(3):
        x = tensor(3, seed=seed)
        assert same_bits(f(x), (F.exp(F.exp(x * 2) + 1) + 1) * 2)
    assert inner.program() is not None


def test_a_part_that_the_first_call_did_not_meet():
    prints, seen = False, []

    @jit.trace
    def f(x):
        y = x * 2
        if prints:
            with jit.exclude_from_trace():
                seen.append(y.item())
        return y + 1

    x = tessera.Tensor([1.0])
    assert f(x).item() == 3
    prints = True
    assert [f(x).item() for _ in range(3)] == [3, 3, 3] and seen == [2, 2, 2]


def test_outside_of_a_trace_and_in_calls_that_do_not_run():
    def f(x):
        with jit.exclude_from_trace():
            return x + 1

    x = tessera.Tensor([1.0])
    assert f(x).item() == 2
    text = "exclude_from_trace: the code to leave out must run, got a call that is recorded only"
    with pytest.raises(RuntimeError, match=text):
        tessera.estimate(f, x)
    with pytest.raises(RuntimeError, match=text):
        jit.trace(f, record_only=True)(x)
    traced = jit.trace(f, capture_as_const=True)
    traced(x)
    with pytest.raises(RuntimeError, match="dump: f must be one program, got parts within"):
        traced.dump("never.tess")


@pytest.mark.parametrize("seed", range(3))
def test_a_symbolic_trace_is_lazy_from_the_first_call(seed):
    def f(x):
        return F.tanh(F.exp(x * 2) + 1) * 3

    x = tensor(32, 32, seed=seed)
    traced, eager = jit.trace(f, symbolic=True), jit.trace(f)
    first = launches(traced, x)
    assert first == 1 < launches(eager, x) and traced.program() is not None
    assert same_bits(traced(x), f(x))


def test_a_lazy_call_whose_sizes_depend_on_data_runs():
    traced = jit.trace(lambda x: F.cond_take(x > 0, x)[0] * 1, symbolic=True)
    assert traced(tessera.Tensor([1.0, -1.0, 2.0])).tolist() == [1, 2]


def test_record_only_runs_nothing_and_dumps(tmp_path):
    weight, state = tessera.Tensor([2.0, 3.0]), tessera.Tensor([5.0])

    def f(x):
        state._reset(state + 1)
        return x * weight

    traced, x = jit.trace(f, record_only=True, capture_as_const=True), tensor(4, 2)
    for _ in range(3):
        assert launches(traced, x) == 0
        y = traced(x)
        assert y.shape == (4, 2) and state.item() == 5
        with pytest.raises(ValueError, match="value: a tensor must come from a call that ran"):
            y.numpy()
    assert traced.program() is None
    only = jit.trace(lambda x: x * weight, record_only=True, capture_as_const=True)
    only(tensor(4, 2))
    only.dump(tmp_path / "f.tess", arg_names=["x"])
    x = tensor(4, 2, seed=1)
    assert same_bits(jit.load(tmp_path / "f.tess")(x), x * weight)
    data = jit.trace(lambda x: F.cond_take(x > 0, x)[0], record_only=True)
    with pytest.raises(ValueError, match="shapes must be known without data"):
        data(tensor(3))


def test_partial_trace():
    def plain(x):
        return F.exp(x) * x

    def slope(function):
        x = tensor(5)
        with GradManager().attach(x) as manager:
            manager.backward(function(x).sum())
        return x.grad

    f = jit.partial_trace(check=True)(plain)
    assert isinstance(f, jit.trace) and f.check
    for _ in range(3):
        assert same_bits(slope(f), slope(plain))
    assert f.program() is not None
    with pytest.raises(ValueError, match="partial_trace: backend must be 'default', got 'xla'"):
        jit.partial_trace(f, backend="xla")
    with pytest.raises(ValueError, match="partial_trace: without_host must be True, got False"):
        jit.partial_trace(f, without_host=False)


@pytest.mark.parametrize("excludes", [False, True])
def test_threads_that_call_one_trace_at_once(excludes):
    def plain(x):
        return F.tanh(F.exp(x) + x.shape[0])

    @jit.trace
    def f(x):
        y = F.exp(x)
        if excludes:
            with jit.exclude_from_trace():
                y.numpy()
        return F.tanh(y + x.shape[0])

    failures = []

    def work(number):
        for seed in range(12):
            x = tensor(2 + (number + seed) % 3, 5, seed=seed)
            if not same_bits(f(x), plain(x)):
                failures.append((number, seed))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
