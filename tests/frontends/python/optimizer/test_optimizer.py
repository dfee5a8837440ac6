"""Optimizers: groups, gradients, state, bad input; clipping of gradients."""

import inspect

import numpy as np
import pytest
import tessera
from tessera import optimizer
from tessera.autodiff import GradManager

from tests.support.helper import assert_close, floats, same_bits
from tests.support.optimizer_formulas import FORMULAS

NAN, INF = float("nan"), float("inf")


def parameter(*shape, seed=0):
    return tessera.Parameter(floats(*shape, seed=seed))


def test_groups_have_their_own_settings():
    a, b = parameter(2), parameter(2, seed=1)
    before = a.numpy(), b.numpy()
    optim = optimizer.SGD([{"params": a, "lr": 1.0}, {"params": [b]}], lr=0.5)
    a.grad, b.grad = tessera.Tensor([1.0, 1.0]), tessera.Tensor([1.0, 1.0])
    optim.step()
    assert_close(a, before[0] - 1)
    assert_close(b, before[1] - 0.5)


def test_parameters_without_gradient_stay():
    a, b = parameter(2), parameter(2)
    b.grad = tessera.Tensor([1.0, 1.0])
    before = a.tolist()
    optimizer.SGD([a, b], lr=1.0).step()
    assert a.tolist() == before and b.tolist() != before


def test_gradients_add_up_over_backward_calls():
    p, manager = parameter(3), GradManager()
    manager.attach(p)
    for factor in (2.0, 3.0):
        with manager:
            manager.backward((p * factor).sum())
    assert p.grad.tolist() == [5.0, 5.0, 5.0]


def test_zero_grad():
    p = parameter(2)
    p.grad = tessera.Tensor([1.0, 2.0])
    optimizer.SGD([p], lr=1.0).zero_grad()
    assert p.grad.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("name", [*FORMULAS, "LAMBFp16"])
def test_every_optimizer_warns_without_gradients(name):
    p = parameter(2)
    step, before = getattr(optimizer, name)([p], lr=0.5).step, p.tolist()
    with pytest.warns(RuntimeWarning, match=f"{name}.step: a parameter must have a gradient"):
        step()
    assert p.tolist() == before


CONTINUED = [name for name in FORMULAS if name != "SGD"]


@pytest.mark.parametrize(
    "make",
    [
        lambda p: optimizer.SGD(p, 0.1, momentum=0.9),
        lambda p: optimizer.LAMBFp16(p, 0.1, always_adapt=True),
        lambda p: optimizer.RMSprop(p, 0.1, momentum=0.9, centered=True),
        *(lambda p, name=name: getattr(optimizer, name)(p, lr=0.1) for name in CONTINUED),
    ],
    ids=["SGD", "LAMBFp16", "RMSprop centered", *CONTINUED],
)
def test_state_dict_continues_exactly(make, tmp_path):
    def step(optim, p, seed):
        p.grad = tessera.Tensor(floats(4, seed=seed))
        optim.step().clear_grad()

    p, q = parameter(4), parameter(4, seed=9)
    one, two = make([p]), make([q])
    for seed in range(3):
        step(one, p, seed)
    tessera.save({"optim": one.state_dict(), "p": p}, tmp_path / "state")
    state = tessera.load(tmp_path / "state")
    q._reset(state["p"])
    two.load_state_dict(state["optim"])
    step(one, p, 5)
    step(two, q, 5)
    assert p.numpy().tobytes() == q.numpy().tobytes()


def test_load_state_dict_wants_the_same_groups():
    one, two = (
        optimizer.SGD([parameter(2)], lr=1.0),
        optimizer.SGD([parameter(2), parameter(3)], lr=1.0),
    )
    with pytest.raises(ValueError, match=r"SGD: groups must have \[2\] parameters, got \[1\]"):
        two.load_state_dict(one.state_dict())
    with pytest.raises(ValueError, match=r"SGD: groups must have \[2\] parameters, got \[\]"):
        two.load_state_dict(None)


def test_a_state_of_another_model_is_told_whole_and_changes_nothing():
    optim = optimizer.Adam([parameter(2), parameter(3)], lr=1.0)
    before, state = optim.state_dict(), optim.state_dict()
    state["param_groups"][0] |= {"lr": 0.5, "nesterov": True}
    state["state"][0] = {**state["state"][0], "exp_avg": np.ones(5), "momentum_buffer": np.ones(2)}
    del state["state"][0]["step"], state["state"][1]
    with pytest.raises(ValueError) as caught:
        optim.load_state_dict(state)
    assert str(caught.value) == (
        "Adam: state must be that of the same parameters, "
        "got group 0 with unexpected ['nesterov']; "
        "parameter 0 without ['step']; parameter 0 with unexpected ['momentum_buffer']; "
        "parameter 0 with exp_avg of shape (5,) for (2,); "
        "parameter 1 without ['exp_avg', 'exp_avg_sq', 'step']"
    )
    after = optim.state_dict()
    assert after["param_groups"] == before["param_groups"]
    for number in (0, 1):
        assert same_bits(
            list(after["state"][number].values()), list(before["state"][number].values())
        )
    for broken in (before | {"state": {}}, {"param_groups": [{"params": [0, 1]}]}):
        with pytest.raises(
            ValueError, match="parameter 1 without .*'exp_avg', 'exp_avg_sq', 'step'"
        ):
            optim.load_state_dict(broken)
    rate = {**before["param_groups"][0], "lr": NAN}
    with pytest.raises(ValueError, match="Adam: lr must be finite and >= 0, got nan"):
        optim.load_state_dict(before | {"param_groups": [rate]})
    optim.load_state_dict(before)  # still usable


# Names and shapes in MegEngine's state_dict(), of a parameter of shape (2, 3).
MEGENGINE_STATES = {
    "SGD": ({}, {}),
    "SGD momentum": ({"momentum": 0.9}, {"momentum_buffer": (2, 3)}),
    "Adam": ({}, {"exp_avg": (2, 3), "exp_avg_sq": (2, 3), "step": ()}),
    "AdamW": ({}, {"exp_avg": (2, 3), "exp_avg_sq": (2, 3), "step": ()}),
    "Adagrad": ({}, {"square_avg": (2, 3), "step": ()}),
    "Adadelta": ({}, {"square_avg": (2, 3), "acc_delta": (2, 3)}),
    "LAMB": ({}, {"exp_avg": (2, 3), "exp_avg_sq": (2, 3), "step": ()}),
    "LAMBFp16": ({}, {"exp_avg": (2, 3), "exp_avg_sq": (2, 3), "step": (), "param_fp32": (2, 3)}),
}  # fmt: skip


@pytest.mark.parametrize("name", MEGENGINE_STATES)
def test_states_have_megengines_names(name):
    settings, shapes = MEGENGINE_STATES[name]
    optim = getattr(optimizer, name.split()[0])([parameter(2, 3)], lr=0.1, **settings)
    state = optim.state_dict()
    assert {key: array.shape for key, array in state["state"][0].items()} == shapes
    # MegEngine's file: fewer settings, scalars of any dtype.
    tensors = {key: np.full(shape, 2.0) for key, shape in shapes.items()}
    groups = [{"lr": 0.25, "params": [0]}]
    optim.load_state_dict({"param_groups": groups, "state": {0: tensors}})
    assert optim.param_groups[0]["lr"] == 0.25
    assert all((array == 2).all() for array in optim.state_dict()["state"][0].values())


ARGUMENTS = [
    (lambda: optimizer.SGD([], lr=1.0), ValueError, "SGD: params must not be empty, got none"),
    (lambda: optimizer.SGD([{"params": []}], lr=1.0), ValueError, "must not be empty, got empty"),
    (lambda: optimizer.SGD(iter(()), lr=1.0), ValueError, "params must not be empty, got none"),
    (lambda: optimizer.SGD([tessera.Tensor(1.0)], lr=1.0), TypeError, "be Parameter, got Tensor"),
    (lambda: optimizer.SGD([{"params": [3]}], 1.0), TypeError, "params must be Parameter, got int"),
    (lambda: optimizer.SGD([{"lr": 1.0}], 1.0), ValueError, r"group must have params, got .'lr'."),
    (
        lambda: optimizer.SGD([{"params": [parameter(1)]}, 3], 1.0),
        TypeError,
        "a group must be a di",
    ),
    (lambda: optimizer.SGD([parameter(1)] + [p := parameter(1), p], 1.0), ValueError, "given once"),
    (
        lambda: optimizer.SGD([{"params": [p := parameter(1)]}, {"params": p}], 1.0),
        ValueError,
        r"SGD: a parameter must be given once, got \(1,\) twice",
    ),
    (lambda: optimizer.SGD([parameter(1)], lr=-1), ValueError, "SGD: lr must be >= 0, got -1"),
    (
        lambda: optimizer.SGD([parameter(1)], lr=NAN),
        ValueError,
        "lr must be finite and .*, got nan",
    ),
    (
        lambda: optimizer.SGD([parameter(1)], lr=INF),
        ValueError,
        "lr must be finite and .*, got inf",
    ),
    (lambda: optimizer.SGD([parameter(1)], lr="x"), TypeError, "lr must be a number >= 0, got 'x'"),
    (
        lambda: optimizer.SGD([{"params": [parameter(1)], "lr": NAN}], lr=1),
        ValueError,
        "lr must be",
    ),
    (lambda: optimizer.SGD([parameter(1)], lr=optimizer.required), ValueError, "must give .'lr'."),
    (
        lambda: optimizer.SGD([parameter(1)], 1.0, nesterov=True),
        ValueError,
        "must come with momentum",
    ),
    (
        lambda: optimizer.Adam([parameter(1)], 1.0, betas=(1.0, 0.9)),
        ValueError,
        r"Adam: betas\[0\] must be >= 0 and < 1, got 1.0",
    ),
    (lambda: optimizer.Adam([parameter(1)], 1.0, betas=(0.9,)), ValueError, "betas must be 2 numb"),
    (lambda: optimizer.Adadelta([parameter(1)], rho=1), ValueError, "rho must be .* < 1, got 1"),
]


@pytest.mark.parametrize(("make", "error", "message"), ARGUMENTS, ids=range(len(ARGUMENTS)))
def test_arguments(make, error, message):
    with pytest.raises(error, match=message):
        make()


LIMITED = [(name, key) for name in FORMULAS for key in getattr(optimizer, name).limits]


@pytest.mark.parametrize(("name", "key"), LIMITED, ids=lambda each: each)
@pytest.mark.parametrize("value", [-0.5, NAN])
def test_every_setting_is_checked(name, key, value):
    kind = getattr(optimizer, name)
    given = (value, 0.9) if isinstance(kind.limits[key], tuple) else value
    with pytest.raises(ValueError, match=rf"{name}: {key}.* must be .*>= 0.*, got {value}"):
        kind([parameter(1)], **{"lr": 0.1, key: given})
    constructor = {*inspect.signature(kind).parameters} - {"params"}
    assert set(kind.limits) <= constructor


def test_an_optimizer_goes_on_after_a_wrong_group():
    p = parameter(2)
    optim = optimizer.SGD([p], lr=1.0)
    for group in ({"params": parameter(1), "lr": NAN}, {"params": [p]}, {"params": [None]}):
        with pytest.raises((ValueError, TypeError)):
            optim.add_param_group(group)
    assert len(optim.param_groups) == 1
    optim.add_param_group({"params": [parameter(1)], "lr": 0.5})
    assert len(optim.step().state_dict()["state"]) == 2


def test_backward_and_bcast_param():
    optim = optimizer.SGD([p := parameter(2)], lr=1.0)
    with pytest.raises(NotImplementedError, match="backward: gradients must come from autodiff"):
        optim.backward(p.sum())
    before = p.tolist()
    assert optim.bcast_param() is optim  # one process: there is nobody to give them to
    assert p.tolist() == before


@pytest.mark.parametrize("order", [1.0, 2.0, 3.0, float("inf")])
def test_clip_grad_norm(order):
    ps = [parameter(3, seed=1), parameter(2, 2, seed=2), parameter(4)]
    grads = [floats(3, seed=5), floats(2, 2, seed=6)]
    for p, g in zip(ps, grads, strict=False):
        p.grad = tessera.Tensor(g)
    norm = np.linalg.norm(np.concatenate([g.ravel() for g in grads]).astype(np.float64), order)
    got = optimizer.clip_grad_norm(ps, max_norm=0.5, ord=order)
    assert_close(got, norm, rtol=1e-5)
    for p, g in zip(ps, grads, strict=False):
        assert_close(p.grad, g * 0.5 / norm, rtol=1e-4)
    before = ps[0].grad.tolist()
    optimizer.clip_grad_norm(ps, max_norm=1e6, ord=order)
    assert ps[0].grad.tolist() == before


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("numbers", [[3000.0, 4000.0], [3e-5, 4e-5]])
@pytest.mark.parametrize("order", [2.0, 3.0, float("inf")])
def test_clip_grad_norm_of_half_precision(dtype, numbers, order):
    p = tessera.Parameter(np.zeros(2), dtype=dtype)
    p.grad = tessera.Tensor(numbers, dtype=dtype)
    want = np.linalg.norm(p.grad.astype("float64").numpy(), order)
    norm = optimizer.clip_grad_norm(p, want / 2, order)
    assert norm.dtype == "float32" and norm.item() == pytest.approx(want, rel=1e-3)
    assert p.grad.dtype == dtype
    assert_close(p.grad.astype("float32"), np.array(numbers) / 2, rtol=2e-2)


def test_clip_grad_value():
    p = parameter(3)
    p.grad = tessera.Tensor([-5.0, 0.5, 5.0])
    optimizer.clip_grad_value(p, -1, 2)
    assert p.grad.tolist() == [-1.0, 0.5, 2.0]
    with pytest.raises(ValueError, match="clip_grad_value: lower must be <= upper, got 2 and 1"):
        optimizer.clip_grad_value(p, 2, 1)
