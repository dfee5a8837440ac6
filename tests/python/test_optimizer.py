"""tessera.optimizer against plain NumPy in float64."""

import numpy as np
import pytest
import tessera
from tessera import jit, optimizer
from tessera.autodiff import GradManager

from tests.python.helper import assert_close, floats


def parameter(*shape, seed=0):
    return tessera.Parameter(floats(*shape, seed=seed))


def run(make, steps=5):
    """Values of one parameter over some steps with given gradients."""
    p = parameter(3, 4)
    optim = make([p])
    for step in range(steps):
        p.grad = tessera.Tensor(floats(3, 4, seed=step + 1))
        assert optim.step().clear_grad() is optim
        assert p.grad is None
    return p


def sgd(momentum=0.0, nesterov=False, weight_decay=0.0, lr=0.1):
    p, v = floats(3, 4).astype(np.float64), 0
    for step in range(5):
        g = floats(3, 4, seed=step + 1) + weight_decay * p
        v = momentum * v + g
        p = p - lr * (g + momentum * v if nesterov else v)
    return p


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"momentum": 0.9},
        {"momentum": 0.9, "weight_decay": 0.1},
        {"momentum": 0.8, "nesterov": True, "weight_decay": 0.01},
    ],
)
def test_sgd(settings):
    got = run(lambda params: optimizer.SGD(params, lr=0.1, **settings))
    assert_close(got, sgd(**settings), rtol=1e-5, atol=1e-6)


def adam(weight_decay=0.0, decoupled=False, lr=0.1, betas=(0.9, 0.999), eps=1e-8):
    p, m, v = floats(3, 4).astype(np.float64), 0, 0
    for step in range(1, 6):
        g = floats(3, 4, seed=step).astype(np.float64)
        if decoupled:
            p = p - lr * weight_decay * p
        else:
            g = g + weight_decay * p
        m, v = betas[0] * m + (1 - betas[0]) * g, betas[1] * v + (1 - betas[1]) * g * g
        p = p - lr * (m / (1 - betas[0] ** step)) / (np.sqrt(v / (1 - betas[1] ** step)) + eps)
    return p


@pytest.mark.parametrize(
    "settings", [{}, {"weight_decay": 0.1}, {"betas": (0.5, 0.9), "eps": 1e-3}]
)
def test_adam(settings):
    got = run(lambda params: optimizer.Adam(params, lr=0.1, **settings))
    assert_close(got, adam(**settings), rtol=1e-4, atol=1e-6)


def test_adamw():
    got = run(lambda params: optimizer.AdamW(params, lr=0.1, weight_decay=0.2))
    assert_close(got, adam(weight_decay=0.2, decoupled=True), rtol=1e-4, atol=1e-6)


def adagrad(lr_decay=0.0, weight_decay=0.0, lr=0.1, eps=1e-10):
    p, s = floats(3, 4).astype(np.float64), 0
    for step in range(5):
        g = floats(3, 4, seed=step + 1) + weight_decay * p
        s = s + g * g
        p = p - lr / (1 + step * lr_decay) * g / np.sqrt(s + eps)
    return p


@pytest.mark.parametrize("settings", [{}, {"lr_decay": 0.5, "weight_decay": 0.1}])
def test_adagrad(settings):
    got = run(lambda params: optimizer.Adagrad(params, lr=0.1, **settings))
    assert_close(got, adagrad(**settings), rtol=1e-4, atol=1e-6)


def adadelta(rho=0.9, weight_decay=0.0, eps=1e-6):
    p, u, v = floats(3, 4).astype(np.float64), 0, 0
    for step in range(5):
        g = floats(3, 4, seed=step + 1) + weight_decay * p
        v = rho * v + (1 - rho) * g * g
        d = g * np.sqrt(u + eps) / np.sqrt(v + eps)
        u = rho * u + (1 - rho) * d * d
        p = p - d
    return p


@pytest.mark.parametrize("settings", [{}, {"rho": 0.5, "weight_decay": 0.1}])
def test_adadelta(settings):
    got = run(lambda params: optimizer.Adadelta(params, **settings))
    assert_close(got, adadelta(**settings), rtol=1e-4, atol=1e-6)
    with pytest.raises(ValueError, match="Adadelta: rho must be >= 0 and < 1, got 1"):
        optimizer.Adadelta([parameter(1)], rho=1)


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


@pytest.mark.parametrize(
    "make", [lambda p: optimizer.SGD(p, 0.1, momentum=0.9), lambda p: optimizer.Adam(p, 0.1)]
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
    with pytest.raises(KeyError, match="Adam: a parameter's state must be"):
        optimizer.Adam([parameter(2)], lr=1.0).load_state_dict(one.state_dict())


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: optimizer.SGD([], lr=1.0), ValueError, "SGD: params must not be empty"),
        (
            lambda: optimizer.SGD([tessera.Tensor(1.0)], lr=1.0),
            TypeError,
            "params must be Parameter, got Tensor",
        ),
        (lambda: optimizer.SGD([parameter(1)], lr=-1), ValueError, "SGD: lr must be >= 0, got -1"),
        (
            lambda: optimizer.SGD([parameter(1)], 1.0, nesterov=True),
            ValueError,
            "nesterov must come with",
        ),
        (
            lambda: optimizer.Adam([parameter(1)], 1.0, betas=(1.0, 0.9)),
            ValueError,
            r"betas\[0\] must be",
        ),
        (
            lambda: optimizer.SGD([parameter(1)] + [p := parameter(1), p], 1.0),
            ValueError,
            "given once",
        ),
        (
            lambda: optimizer.SGD([{"params": [3]}], 1.0),
            TypeError,
            "params must be Parameter, got int",
        ),
    ],
)
def test_arguments(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_multi_step_lr():
    optim = optimizer.SGD([parameter(1)], lr=1.0)
    schedule, rates = optimizer.MultiStepLR(optim, [2, 4], gamma=0.5), []
    for _ in range(6):
        rates.append(optim.param_groups[0]["lr"])
        assert schedule.step() is schedule
    assert rates == [1.0, 1.0, 0.5, 0.5, 0.25, 0.25]
    with pytest.raises(ValueError, match=r"MultiStepLR: milestones must increase, got \[4, 2\]"):
        optimizer.MultiStepLR(optim, [4, 2])


SCHEDULES = [
    (lambda o: optimizer.StepLR(o, 2, gamma=0.5), [8, 8, 4, 4, 2]),
    (lambda o: optimizer.ExponentialLR(o, 0.5), [8, 4, 2, 1, 0.5]),
    (lambda o: optimizer.CosineAnnealingLR(o, 4), [8, 4 + 2 * 2**1.5 / 2, 4, 4 - 2**1.5, 0]),
    (lambda o: optimizer.CosineAnnealingLR(o, 2, eta_min=2.0), [8, 5, 2, 5, 8]),
    (lambda o: optimizer.LambdaLR(o, lambda epoch: 1 / (1 + epoch)), [8, 4, 8 / 3, 2, 1.6]),
]


@pytest.mark.parametrize(("make", "rates"), SCHEDULES, ids=range(len(SCHEDULES)))
def test_schedules(make, rates):
    optim = optimizer.SGD([parameter(1)], lr=8.0)
    schedule, got = make(optim), []
    for _ in rates:
        got.append(optim.param_groups[0]["lr"])
        assert schedule.step() is schedule
    assert got == pytest.approx(rates, abs=1e-12)
    other = make(optimizer.SGD([parameter(1)], lr=8.0))
    other.load_state_dict(schedule.state_dict())
    assert other.get_lr() == schedule.get_lr() and other.current_epoch == len(rates)


def test_schedules_check_their_settings():
    optim = optimizer.SGD([parameter(1)], lr=8.0)
    with pytest.raises(ValueError, match="StepLR: step_size must be >= 1, got 0"):
        optimizer.StepLR(optim, 0)
    with pytest.raises(ValueError, match="CosineAnnealingLR: T_max must be >= 1, got 0"):
        optimizer.CosineAnnealingLR(optim, 0)
    with pytest.raises(
        ValueError, match="LambdaLR: there must be one function for each of 1 groups"
    ):
        optimizer.LambdaLR(optim, [abs, abs])


def test_schedule_continues_from_its_state():
    optim = optimizer.SGD([parameter(1)], lr=1.0)
    schedule = optimizer.MultiStepLR(optim, [2], gamma=0.1)
    schedule.step()
    other = optimizer.MultiStepLR(optimizer.SGD([parameter(1)], lr=1.0), [2], gamma=0.1)
    other.load_state_dict(schedule.state_dict())
    other.step()
    assert other.optimizer.param_groups[0]["lr"] == pytest.approx(0.1)
    with pytest.raises(KeyError, match="must have its own keys, got"):
        other.load_state_dict({"strange": 1})


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


def test_clip_grad_value():
    p = parameter(3)
    p.grad = tessera.Tensor([-5.0, 0.5, 5.0])
    optimizer.clip_grad_value(p, -1, 2)
    assert p.grad.tolist() == [-1.0, 0.5, 2.0]
    with pytest.raises(ValueError, match="clip_grad_value: lower must be <= upper, got 2 and 1"):
        optimizer.clip_grad_value(p, 2, 1)


@pytest.mark.parametrize(
    "make",
    [
        lambda p: optimizer.SGD(p, 0.1, momentum=0.9),
        lambda p: optimizer.Adam(p, 0.1),
        lambda p: optimizer.Adagrad(p, 0.1, lr_decay=0.1),
        lambda p: optimizer.Adadelta(p, 0.1),
    ],
)
def test_traced_steps_equal_eager_and_see_a_new_rate(make):
    def train(traced):
        p = parameter(3, 4)
        optim, manager = make([p]), GradManager().attach(p)

        def step(x):
            with manager:
                loss = ((p * x) ** 2).mean()
                manager.backward(loss)
            optim.step().clear_grad()
            return loss

        run, losses = jit.trace(step) if traced else step, []
        for number in range(6):
            if number == 3:
                optim.param_groups[0]["lr"] = 0.01
            losses.append(run(tessera.Tensor(floats(3, 4, seed=number))).item())
        return losses, p.numpy().tobytes()

    assert train(True) == train(False)
