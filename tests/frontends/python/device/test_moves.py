"""Tensor.to, and what lies on which device: in gradients, in traced functions, beside a default."""

import warnings

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera.autodiff import GradManager

from tests.support.helper import as_list, default_device, floats, same_bits

SIM = "sim0"


def tensor(*shape, seed=0, device="cpu0"):
    return tessera.Tensor(floats(*shape, seed=seed), device=device)


def test_a_gradient_comes_back_from_another_device():
    w = tessera.Parameter(floats(3, seed=1))
    with GradManager().attach([w]) as gm:
        gm.backward((F.exp(w.to(SIM)) * 2).sum() * 3)
    there, w.grad = w.grad, None
    with GradManager().attach([w]) as gm:
        gm.backward((F.exp(w) * 2).sum() * 3)
    assert there.device == "cpu0"
    assert same_bits(there, w.grad)


def test_a_model_over_two_devices():
    """The first layer here, the second there, the loss here again."""

    def run(second):
        one, two = tessera.Parameter(floats(6, 5)), tessera.Parameter(floats(5, 2), device=second)
        opt = tessera.optimizer.SGD([{"params": [one]}, {"params": [two]}], lr=0.1, momentum=0.9)
        gm, losses = GradManager().attach([one, two]), []
        for seed in range(4):
            with gm:
                hidden = F.tanh(tensor(3, 6, seed=seed) @ one)
                loss = ((hidden.to(second) @ two).to("cpu0") ** 2).sum()
                gm.backward(loss)
            opt.step().clear_grad()
            losses.append(loss)
        assert two.device == second
        return [*losses, one, two]

    assert same_bits(run("cpu0"), run(SIM))


def test_where_a_tensor_is_already_a_trace_copies_nothing():
    traced = jit.trace(lambda x: F.softmax(x.to(SIM) * 2, 0).to(x.device))
    for number in range(3):
        x = tensor(5, seed=number, device=SIM)
        assert same_bits(traced(x), F.softmax(x * 2, 0))
    assert traced.program() is not None


MOVES = {
    "of an argument": lambda x: x.to(SIM) * 2,
    "of a result, and back": lambda x: (F.exp(x * 2).to(SIM) + 1).to("cpu0") * 3,
    "of both kinds": lambda x: (x + 1, F.tanh(x).to(SIM)),
    "into a tensor": lambda x: tessera.Tensor(x * 2, device=SIM) + 1,
    "by concat": lambda x: F.concat([x, x], device=SIM),
    "of a constant": lambda x: (x, F.full((2,), x[0]).to(SIM)),
}


@pytest.mark.parametrize("options", [{}, {"symbolic": True}], ids=str)
@pytest.mark.parametrize("what", MOVES)
def test_a_traced_function_that_moves_a_tensor_runs_eagerly(what, options):
    traced = jit.trace(MOVES[what], **options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for number in range(4):
            x = tensor(4, seed=number)
            got, want = traced(x), MOVES[what](x)
            for one, other in zip(as_list(got), as_list(want), strict=True):
                assert one.device == other.device
            assert same_bits(got, want)
    (warning,) = caught
    text = "<lambda> runs eagerly, because it copies a tensor to another device: a tensor from cpu0"
    assert text in str(warning.message)


def test_a_variable_from_outside_that_moves_is_read_at_each_call():
    w = tensor(3, seed=1)
    w.name = "w"
    traced = jit.trace(lambda x: x * w.to(SIM))
    with pytest.warns(RuntimeWarning, match="to another device: w from cpu0 to sim0"):
        for number in range(4):
            w._reset(tensor(3, seed=number))
            x = tensor(3, seed=9, device=SIM)
            assert same_bits(traced(x), x * w.to(SIM))


def test_a_constant_moves_without_a_copy_in_the_program():
    traced = jit.trace(lambda x: x + tessera.Tensor([1.0, 2.0]).to(SIM))
    for number in range(3):
        x = tensor(2, seed=number, device=SIM)
        assert same_bits(traced(x), x + tessera.Tensor([1.0, 2.0], device=SIM))
    assert traced.program() is not None


def test_what_cannot_run_says_what_it_must_not_move():
    moved = "must stay on its device in what is recorded and not run, got a copy of a tensor from"
    with pytest.raises(ValueError, match=f"trace: a tensor {moved} cpu0 to sim0"):
        jit.trace(MOVES["of an argument"], record_only=True)(tensor(3))
    function = jit.trace(MOVES["of an argument"], capture_as_const=True)
    with pytest.warns(RuntimeWarning):
        function(tensor(3))
    with pytest.raises(ValueError, match="dump: <lambda> must be a program, got one that runs"):
        function.dump("never.tess", arg_names=["x"])


def test_a_branch_that_moves_a_tensor_runs_eagerly():
    def function(x):
        return F.cond(x.max() > 0, lambda: x.to("cpu0"), lambda: x.to("cpu0") * 2)

    x = tensor(3, 2, device=SIM)
    with pytest.warns(RuntimeWarning, match="runs eagerly, because"):
        result = jit.trace(function)(x)
    assert result.device == "cpu0" and same_bits(result, function(x))


def test_a_loop_whose_step_moves_tensors_runs_eagerly():
    x = tensor(3, 2, device=SIM)
    function = lambda x: F.scan(lambda h, y: (h + y, y.to("cpu0")), x[0], x)  # noqa: E731
    with pytest.warns(RuntimeWarning, match="runs eagerly, because"):
        last, rows = jit.trace(function)(x)
    assert (last.device, rows.device) == (SIM, "cpu0") and same_bits([last, rows], function(x))


def test_tensors_on_several_devices_are_no_program():
    x, w = tensor(2, device=SIM), tensor(2, seed=1)
    x.name, w.name = "x", "w"
    function = lambda a: (a * 2, w + 1)  # noqa: E731
    for options in ({}, {"symbolic": True}):
        traced = jit.trace(function, **options)
        several = "because its tensors are on several devices: .* on sim0 and w on cpu0"
        with pytest.warns(RuntimeWarning, match=several):
            results = [traced(x) for _ in range(3)]
        for two, one in results:
            assert (two.device, one.device) == (SIM, "cpu0")
            assert same_bits([two, one], [x * 2, w + 1])


def test_what_is_made_lies_beside_an_operand():
    @jit.trace
    def function(x):
        there = x.device
        made = F.zeros(x.shape, device=there) + F.arange(3, device=there) + F.ones(3, device=there)
        made = made + F.eye(3, device=there)[0] + F.linspace(0, 1, 3, device=there)
        return made + F.full(3, 2.0, device=there) + x

    for _ in range(3):
        x = tensor(3)
        got = function(x.to(SIM))
        assert got.device == SIM
        assert same_bits(got, function(x))
    assert function.program() is not None
    assert F.zeros(2, device="null0").device == "null0"
    with pytest.raises(ValueError, match="device must be one of cpu0, sim0, null0.*, got 'gpu99'"):
        F.zeros(2, device="gpu99")


BESIDE = {
    "diag": lambda x: F.diag(x[0]) + F.diag(x),
    "batch_norm": lambda x: F.batch_norm(x.reshape(1, 3, 3, 1), training=True),
    "dropout": lambda x: F.dropout(x, 0.5),
    "one_hot": lambda x: F.one_hot(F.argmax(x, 1), 4),
    "permutation": lambda x: tessera.random.permutation(x),
    "numpy": lambda x: x + np.ones(3, "float32"),
    "lists": lambda x: F.where(x > 0, x, [1.0, 2.0, 3.0]),
    "indices": lambda x: x[np.array([2, 0])],
    "a cell": lambda x: _cell(x.device)(x),
}


def _cell(device):
    with default_device(device):
        tessera.seed(3)
        return tessera.module.LSTMCell(3, 2)


@pytest.mark.parametrize("what", BESIDE)
def test_what_functions_make_lies_beside_their_operands(what):
    results = []
    for device in ("cpu0", SIM):
        tessera.seed(4)
        got = BESIDE[what](tensor(3, 3, device=device))
        got = got if isinstance(got, tuple) else (got,)
        assert all(each.device == device for each in got)
        results.append(got)
    assert same_bits(*results)


def test_a_trace_without_tensors_follows_the_default_device():
    made = jit.trace(lambda n: F.arange(4) * n)
    for device in ("cpu0", "cpu0", SIM, SIM, SIM, "cpu0"):
        with default_device(device):
            assert made(3).device == device
            assert made(3).tolist() == [0, 3, 6, 9]


def test_an_update_from_another_device():
    w = tensor(3, device=SIM)
    w._reset(tensor(3, seed=5))
    assert w.device == SIM
    assert same_bits(w, tensor(3, seed=5))
    w[1:] = 4.0
    w[:1] = np.array([7.0], "float32")
    with pytest.raises(ValueError, match="must be on one device, got .* on sim0 and .* on cpu0"):
        w[0] = tensor(1)[0]
    assert w.tolist() == [7.0, 4.0, 4.0]
