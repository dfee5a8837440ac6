"""Learning-rate schedules against closed forms and plain loops."""

import math

import numpy as np
import pytest
import tessera
from tessera import jit, optimizer
from tessera.autodiff import GradManager

EPOCHS = 30


def sgd(lr=8.0, **settings):
    return optimizer.SGD([tessera.Parameter([1.0])], lr=lr, **settings)


def rates_of(make, optim, epochs=EPOCHS):
    schedule, rates = make(optim), []
    for _ in range(epochs):
        rates.append(optim.param_groups[0]["lr"])
        assert schedule.step() is schedule
    return rates, schedule


def restarts(epoch, length, mult, low):
    while epoch >= length:
        epoch, length = epoch - length, length * mult
    return low + (8 - low) * (1 + math.cos(math.pi * epoch / length)) / 2


def sequence(epoch):
    if epoch < 3:
        return 8 * (0.25 + 0.75 * epoch / 3)
    return 8 * 0.9 ** (epoch - 3) if epoch < 10 else 8 * 0.5


# (schedule, rate at an epoch)
CLOSED = {
    "MultiStepLR": (lambda o: optimizer.MultiStepLR(o, [2, 4, 4], gamma=0.5),
                    lambda e: 8 * 0.5 ** ((e >= 2) + 2 * (e >= 4))),
    "StepLR": (lambda o: optimizer.StepLR(o, 4, gamma=0.5), lambda e: 8 * 0.5 ** (e // 4)),
    "ExponentialLR": (lambda o: optimizer.ExponentialLR(o, 0.7), lambda e: 8 * 0.7**e),
    "LambdaLR": (lambda o: optimizer.LambdaLR(o, lambda e: 1 / (1 + e)), lambda e: 8 / (1 + e)),
    "CosineAnnealingLR": (lambda o: optimizer.CosineAnnealingLR(o, 10, eta_min=2.0),
                          lambda e: 5 + 3 * math.cos(math.pi * e / 10)),
    "LinearLR": (lambda o: optimizer.LinearLR(o, 0.25, 0.75, total_iters=10),
                 lambda e: 8 * (0.25 + 0.5 * min(e, 10) / 10)),
    "ConstantLR": (lambda o: optimizer.ConstantLR(o, 0.5, total_iters=7),
                   lambda e: 4 if e < 7 else 8),
    "PolynomialLR": (lambda o: optimizer.PolynomialLR(o, 20, power=1.5),
                     lambda e: 8 * (1 - min(e, 20) / 20) ** 1.5),
    "WarmupLR": (lambda o: optimizer.WarmupLR(o, 0.2, 10),
                 lambda e: 8 * (0.2 + 0.8 * min(e, 10) / 10)),
    "WarmupLR constant": (lambda o: optimizer.WarmupLR(o, 0.2, 10, "constant"),
                          lambda e: 1.6 if e < 10 else 8),
    "CosineAnnealingWarmRestarts": (
        lambda o: optimizer.CosineAnnealingWarmRestarts(o, 4, 2, eta_min=1.0),
        lambda e: restarts(e, 4, 2, 1.0)),
    "CosineAnnealingWarmRestarts of one length": (
        lambda o: optimizer.CosineAnnealingWarmRestarts(o, 7), lambda e: restarts(e, 7, 1, 0.0)),
    "SequentialLR": (
        lambda o: optimizer.SequentialLR(o, [
            optimizer.WarmupLR(o, 0.25, 3), optimizer.ExponentialLR(o, 0.9),
            optimizer.ConstantLR(o, 0.5, 99)], [3, 10]), sequence),
    "ChainedScheduler": (
        lambda o: optimizer.ChainedScheduler([
            optimizer.WarmupLR(o, 0.25, 4), optimizer.StepLR(o, 5, 0.5)]),
        lambda e: 8 * (0.25 + 0.75 * min(e, 4) / 4) * 0.5 ** (e // 5)),
}  # fmt: skip


@pytest.mark.parametrize("name", CLOSED)
def test_rates_are_those_of_the_closed_form(name):
    make, rate = CLOSED[name]
    got, schedule = rates_of(make, sgd())
    assert got == pytest.approx([rate(epoch) for epoch in range(EPOCHS)], abs=1e-12)
    again = schedule.step(3)
    assert again.get_lr() == pytest.approx([rate(3)], abs=1e-12)


@pytest.mark.parametrize("name", CLOSED)
def test_a_schedule_goes_on_from_its_state(name, tmp_path):
    make, rate = CLOSED[name]
    optim = sgd()
    _, schedule = rates_of(make, optim, 6)
    tessera.save({"s": schedule.state_dict(), "o": optim.state_dict()}, tmp_path / "state")
    state, other = tessera.load(tmp_path / "state"), sgd(lr=1.0)
    following = make(other)
    other.load_state_dict(state["o"])
    following.load_state_dict(state["s"])
    assert other.param_groups[0]["lr"] == pytest.approx(rate(6))
    assert following.step().current_epoch == 7
    assert other.param_groups[0]["lr"] == pytest.approx(rate(7), abs=1e-12)


def one_cycle_schedule(optim):
    return optimizer.OneCycleLR(optim, 5.0, EPOCHS)


@pytest.mark.parametrize("name", [*CLOSED, "OneCycleLR"])
@pytest.mark.parametrize("order", ["optimizer made schedule", "made schedule optimizer",
                                   "optimizer schedule", "made optimizer schedule"])  # fmt: skip
def test_the_rate_is_that_of_the_state_in_any_order(name, order):
    make = CLOSED[name][0] if name in CLOSED else one_cycle_schedule
    optim = sgd(momentum=0.9)
    schedule = make(optim)
    for _ in range(3):
        schedule.step()
    states, again = (optim.state_dict(), schedule.state_dict()), sgd(lr=0.1, momentum=0.5)
    following = None
    for what in order.split():
        if what == "optimizer":
            again.load_state_dict(states[0])
            continue
        following = following or make(again)
        if what == "schedule":
            following.load_state_dict(states[1])
    got, want = again.param_groups[0], optim.param_groups[0]
    assert got["lr"] == pytest.approx(want["lr"]) and got["momentum"] == want["momentum"]
    assert following.step().get_lr() == pytest.approx(schedule.step().get_lr())


def test_every_schedule_is_tested():
    kinds = {name for name in optimizer.__all__ if name.endswith(("LR", "Scheduler", "Restarts"))}
    tested = {name.split()[0] for name in CLOSED} | {"ReduceLROnPlateau", "OneCycleLR"}
    assert kinds - {"LRScheduler"} <= tested


def test_groups_keep_their_ratios():
    ps = [tessera.Parameter([1.0]) for _ in range(2)]
    optim = optimizer.SGD([{"params": ps[0], "lr": 1.0}, {"params": ps[1], "lr": 3.0}], lr=9.0)
    parts = [optimizer.ConstantLR(optim, 0.5, 9), optimizer.ExponentialLR(optim, 0.5)]
    schedule = optimizer.ChainedScheduler(parts)
    schedule.step()
    assert [group["lr"] for group in optim.param_groups] == [0.25, 0.75]
    functions = [lambda e: e + 1, lambda e: 2 * e + 1]
    optimizer.LambdaLR(optim, functions).step(1)
    assert [group["lr"] for group in optim.param_groups] == [2.0, 9.0]


def one_cycle(step, total, ends, corners, curve):
    """Smith's cycle: between ends[i] and ends[i + 1] from corners[i] to corners[i + 1]."""
    for n in range(len(ends) - 1):
        if step <= ends[n + 1] or n == len(ends) - 2:
            share = (step - ends[n]) / (ends[n + 1] - ends[n])
            break
    weight = (1 + math.cos(math.pi * share)) / 2 if curve == "cos" else 1 - share
    return corners[n + 1] + (corners[n] - corners[n + 1]) * weight


@pytest.mark.parametrize("curve", ["cos", "linear"])
@pytest.mark.parametrize("three_phase", [False, True])
@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_one_cycle(curve, three_phase, kind):
    settings = {"momentum": 0.5} if kind == "SGD" else {}
    optim = getattr(optimizer, kind)([tessera.Parameter([1.0])], lr=0.1, **settings)
    schedule = optimizer.OneCycleLR(
        optim, 5.0, epochs=4, steps_per_epoch=5, pct_start=0.4, anneal_strategy=curve,
        div_factor=10.0, final_div_factor=100.0, three_phase=three_phase,
        base_momentum=0.8, max_momentum=0.9)  # fmt: skip
    ends = [0, 7, 14, 19] if three_phase else [0, 7, 19]
    rates = [0.5, 5.0, 0.5, 0.005] if three_phase else [0.5, 5.0, 0.005]
    momenta = [0.9, 0.8, 0.9, 0.9] if three_phase else [0.9, 0.8, 0.9]
    for step in range(20):
        group = optim.param_groups[0]
        momentum = group["momentum"] if kind == "SGD" else group["betas"][0]
        assert group["lr"] == pytest.approx(one_cycle(step, 20, ends, rates, curve), abs=1e-9)
        assert momentum == pytest.approx(one_cycle(step, 20, ends, momenta, curve), abs=1e-9)
        if step < 19:
            schedule.step()
    assert schedule.step().current_epoch == 20  # as a loop makes it after its last batch
    assert optim.param_groups[0]["lr"] == pytest.approx(0.005)
    with pytest.raises(ValueError, match="steps must be at most total_steps 20, got 21"):
        schedule.step()
    assert schedule.current_epoch == 20 and optim.param_groups[0]["lr"] == pytest.approx(0.005)
    other = optimizer.OneCycleLR(sgd(momentum=0.9), 1.0, 7)
    other.load_state_dict(schedule.step(3).state_dict())
    assert other.get_lr() == schedule.get_lr()


def plateau(metrics, better, factor, patience, cooldown, low):
    """The rates after each metric, as a plain loop."""
    rate, best, bad, wait, rates = 1.0, None, 0, 0, []
    for metric in metrics:
        if not math.isnan(metric) and (best is None or better(metric, best)):
            best, bad = metric, 0
        else:
            bad += 1
        if wait:
            wait, bad = wait - 1, 0
        if bad > patience:
            rate, wait, bad = max(rate * factor, low), cooldown, 0
        rates.append(rate)
    return rates


BETTER = {
    ("min", "rel"): lambda m, best: m < best * 0.9,
    ("max", "rel"): lambda m, best: m > best * 1.1,
    ("min", "abs"): lambda m, best: m < best - 0.1,
    ("max", "abs"): lambda m, best: m > best + 0.1,
}


@pytest.mark.parametrize(("mode", "threshold_mode"), BETTER)
@pytest.mark.parametrize(("patience", "cooldown"), [(0, 0), (2, 0), (1, 3)])
def test_reduce_on_plateau(mode, threshold_mode, patience, cooldown):
    metrics = np.random.RandomState(3).uniform(0.5, 2.0, 40).tolist()
    metrics[5] = float("nan")
    optim, got = sgd(lr=1.0), []
    schedule = optimizer.ReduceLROnPlateau(
        optim, mode, 0.5, patience, 0.1, threshold_mode, cooldown, min_lr=0.1)  # fmt: skip
    for number, metric in enumerate(metrics):
        if number == 20:  # goes on from its state
            state, schedule = schedule.state_dict(), optimizer.ReduceLROnPlateau(optim)
            schedule.load_state_dict(state)
        schedule.step(tessera.Tensor(metric) if number % 2 else metric)
        got.append(optim.param_groups[0]["lr"])
    better = BETTER[mode, threshold_mode]
    assert got == pytest.approx(plateau(metrics, better, 0.5, patience, cooldown, 0.1))
    assert min(got) < 0.5


def test_a_traced_step_sees_every_rate():
    p, rates = tessera.Parameter([0.0]), []
    optim, manager = optimizer.SGD([p], lr=1.0), GradManager().attach(p)
    parts = [optimizer.WarmupLR(optim, 0.25, 2), optimizer.CosineAnnealingLR(optim, 4)]
    schedule, want = optimizer.SequentialLR(optim, parts, [2]), 0.0

    @jit.trace
    def step(g):
        with manager:
            manager.backward(p * g)
        optim.step().clear_grad()

    for _ in range(8):
        rates.append(optim.param_groups[0]["lr"])
        step(tessera.Tensor([1.0]))
        want -= rates[-1]
        schedule.step()
    assert p.item() == pytest.approx(want, abs=1e-6) and len(set(rates)) > 5
    assert len(step.explain().splitlines()) == 1


NAN = float("nan")
WRONG = {
    "step_size": (lambda o: optimizer.StepLR(o, 0), "StepLR: step_size must be >= 1, got 0"),
    "T_max": (lambda o: optimizer.CosineAnnealingLR(o, 0), "T_max must be >= 1, got 0"),
    "functions": (lambda o: optimizer.LambdaLR(o, [abs, abs]), "one function for each of 1 groups"),
    "milestones": (
        lambda o: optimizer.MultiStepLR(o, [4, 2]),
        r"milestones must increase, got \[4, 2\]",
    ),
    "NaN": (lambda o: optimizer.LinearLR(o, NAN), "start_factor must be finite and >= 0, got nan"),
    "iterations": (
        lambda o: optimizer.LinearLR(o, total_iters=0),
        "total_iters must be an int >= 1",
    ),
    "factor": (
        lambda o: optimizer.ConstantLR(o, -1.0),
        "ConstantLR: factor must be >= 0, got -1.0",
    ),
    "power": (
        lambda o: optimizer.PolynomialLR(o, power=-1),
        "PolynomialLR: power must be >= 0, got -1",
    ),
    "method": (
        lambda o: optimizer.WarmupLR(o, warmup_method="x"),
        "must be 'linear' or 'constant', got",
    ),
    "warmup": (lambda o: optimizer.WarmupLR(o, warmup_iters=0), "warmup_iters must be an int >= 1"),
    "T_0": (
        lambda o: optimizer.CosineAnnealingWarmRestarts(o, 1.5),
        "T_0 must be an int >= 1, got 1.5",
    ),
    "mode": (lambda o: optimizer.ReduceLROnPlateau(o, "x"), "mode must be 'min' or 'max', got"),
    "threshold_mode": (
        lambda o: optimizer.ReduceLROnPlateau(o, threshold_mode="x"),
        "'rel' or 'abs', got",
    ),
    "plateau": (
        lambda o: optimizer.ReduceLROnPlateau(o, factor=1.5),
        "factor must be >= 0 and < 1, got",
    ),
    "steps": (
        lambda o: optimizer.OneCycleLR(o, 1.0),
        "OneCycleLR: epochs must be an int >= 1, got None",
    ),
    "momentum": (
        lambda o: optimizer.OneCycleLR(o, 1.0, 9),
        "must have momentum or betas .*, got SGD with",
    ),
    "phases": (
        lambda o: optimizer.OneCycleLR(o, 1.0, 9, pct_start=0.6, three_phase=True),
        "at most half of the steps with three_phase, got 0.6",
    ),
    "rates": (lambda o: optimizer.OneCycleLR(o, [1.0, 2.0], 9), "one for each of 1 groups, got"),
    "div": (
        lambda o: optimizer.OneCycleLR(o, 1.0, 9, div_factor=0),
        "div_factor must be > 0, got 0",
    ),
    "anneal": (
        lambda o: optimizer.OneCycleLR(o, 1.0, 9, anneal_strategy="x"),
        "'cos' or 'linear', got",
    ),
    "none": (lambda o: optimizer.ChainedScheduler([]), "schedulers must not be empty, got none"),
    "count": (
        lambda o: optimizer.SequentialLR(o, [optimizer.StepLR(o, 1)], [3]),
        "one fewer than 1 sched",
    ),
    "order": (
        lambda o: optimizer.SequentialLR(o, [optimizer.StepLR(o, 1)] * 3, [3, 2]),
        "milestones must",
    ),
    "others": (
        lambda o: optimizer.ChainedScheduler([optimizer.StepLR(o, 1), optimizer.StepLR(sgd(), 1)]),
        "must have one opt",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_settings(what):
    each, (make, message) = sgd(), WRONG[what]
    with pytest.raises(ValueError, match=message):
        make(each)


def test_kinds_and_states_of_others():
    optim = sgd()
    for part in (optimizer.ReduceLROnPlateau(optim), 3):
        with pytest.raises(TypeError, match="SequentialLR: schedulers must be curves of the epoch"):
            optimizer.SequentialLR(optim, [part], [])
    with pytest.raises(TypeError, match="StepLR: optimizer must be an Optimizer, got int"):
        optimizer.StepLR(3, 1)
    with pytest.raises(KeyError, match="StepLR: a group must have initial_lr .* from epoch 4"):
        optimizer.StepLR(sgd(), 1, current_epoch=4)
    schedule = optimizer.StepLR(optim, 1)
    with pytest.raises(KeyError, match="StepLR: state must have its own keys, got"):
        schedule.load_state_dict({"strange": 1})
    chain = optimizer.ChainedScheduler([schedule])
    with pytest.raises(ValueError, match="ChainedScheduler: state must be of 1 schedulers, got 2"):
        chain.load_state_dict({**chain.state_dict(), "schedulers": [{}, {}]})
