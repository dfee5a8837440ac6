"""Every optimizer over 100 steps against its formula in NumPy float64; kernels; traces."""

import contextlib
import warnings

import numpy as np
import pytest
import tessera
from tessera import config, jit, optimizer
from tessera.autodiff import GradManager
from tessera.optimizer.compiled import PATIENCE

from tests.support.helper import difference, floats, same_bits
from tests.support.optimizer_formulas import CASES, FORMULAS

STEPS = 100
IDS = [f"{name}-{number}" for number, (name, _) in enumerate(CASES)]
# Relative to the largest value: rounding adds up over the steps.
BOUNDS = {"float64": 1e-6, "float32": 2e-5}


def gradient(step, shape=(3, 4)):
    return floats(*shape, seed=step).astype(np.float64)


def run(name, settings, dtype, steps=STEPS):
    p = tessera.Parameter(floats(3, 4), dtype=dtype)
    optim = getattr(optimizer, name)([p], **settings)
    for step in range(1, steps + 1):
        p.grad = tessera.Tensor(gradient(step), dtype=dtype)
        optim.step().clear_grad()
    return p


def reference(name, settings, steps=STEPS):
    p, step_of = floats(3, 4).astype(np.float64), FORMULAS[name](**settings)
    for step in range(1, steps + 1):
        p = step_of(p, gradient(step), step)
    return p


@pytest.mark.parametrize("dtype", BOUNDS)
@pytest.mark.parametrize(("name", "settings"), CASES, ids=IDS)
def test_a_hundred_steps(name, settings, dtype):
    got, wanted = run(name, settings, dtype), reference(name, settings)
    assert got.dtype == dtype
    assert np.abs(wanted - floats(3, 4)).max() > 1e-2  # the formula moved something
    np.testing.assert_allclose(
        got.numpy(), wanted, rtol=BOUNDS[dtype], atol=BOUNDS[dtype] * np.abs(wanted).max()
    )


def test_every_optimizer_has_a_formula():
    kinds = {name for name in optimizer.__all__ if _is_optimizer(getattr(optimizer, name))}
    assert kinds - {"Optimizer", "LBFGS", "LAMBFp16"} == set(FORMULAS)


def _is_optimizer(value):
    return isinstance(value, type) and issubclass(value, optimizer.Optimizer)


@pytest.mark.parametrize("name", [name for name in FORMULAS if name != "SGD"])
def test_half_parameters_are_computed_in_float32(name):
    p = tessera.Parameter(floats(8), dtype="float16")
    optim = getattr(optimizer, name)([p], lr=0.01)
    for step in range(4):
        p.grad = tessera.Tensor(floats(8, seed=step + 1), dtype="float16")
        optim.step()
    assert p.dtype == "float16" and np.isfinite(p.numpy()).all()
    state = optim.state_dict()["state"][0]
    assert {array.dtype.name for array in state.values()} == {"float32"}


@pytest.mark.parametrize("dtype, bound", [("float16", 5e-3), ("bfloat16", 4e-2)])
@pytest.mark.parametrize("name, settings", CASES, ids=IDS)
def test_half_parameters_follow_those_of_float32(name, settings, dtype, bound):
    """Squares of gradients of 1e-3 vanish in float16, those of 300 overflow: Adam's first step of a
    parameter was 100 instead of the rate.
    """
    start, sizes = np.array([0.5, -2, 3, 1]), np.array([1e-3, 300, 2e-5, -1])
    results = []
    for kind in (dtype, "float32"):
        p = tessera.Parameter(start, dtype=kind)
        optim = getattr(optimizer, name)([p], **settings)
        for step in range(4):
            p.grad = tessera.Tensor((step + 1) * sizes, dtype=dtype).astype(kind)
            optim.step()
        results.append(p.astype("float64").numpy())
    np.testing.assert_allclose(results[0], results[1], rtol=bound, atol=bound)


def test_lamb_fp16_adds_small_steps_up():
    """A step far below the precision of float16 counts, because the float32 copy moves."""
    settings = {"lr": 1e-5, "weight_decay": 0.01}
    p = tessera.Parameter(np.ones((3, 4)), dtype="float16")
    optim = optimizer.LAMBFp16([p], **settings)
    want, step_of = np.ones((3, 4)), FORMULAS["LAMB"](**settings)
    for step in range(1, STEPS + 1):
        grad = tessera.Tensor(np.abs(gradient(step)), dtype="float16")
        p.grad, want = grad, step_of(want, grad.numpy().astype(np.float64), step)
        optim.step()
    state = optim.state_dict()["state"][0]
    np.testing.assert_allclose(state["param_fp32"], want, rtol=1e-6)
    assert p.numpy().tobytes() == state["param_fp32"].astype(np.float16).tobytes()
    assert (p.numpy() < 1).all()


# Kernels of the update of a group of 12 parameters: norms are reductions of each parameter alone.
LAUNCHES = {"Adagrad": 2, "Adam": 2, "AdamW": 2, "Adamax": 2, "Nadam": 2, "RAdam": 2, "Lion": 13,
            "LAMB": 40, "LARS": 40, "Adafactor": 90}  # fmt: skip


@pytest.mark.parametrize("name", FORMULAS)
def test_a_group_is_one_kernel(name):
    """One for the parameters, and one for the steps where the formula counts them."""
    ps = [tessera.Parameter(floats(3 + n % 5, 4, seed=n)) for n in range(12)]
    optim = getattr(optimizer, name)(ps, lr=0.1)

    def step():
        for p in ps:
            p.grad = tessera.Tensor(np.ones(p.shape), dtype="float32")
        optim.step()

    for _ in range(PATIENCE + 1):
        step()
    assert difference(step)["programs"] == 0
    assert optim.param_groups[0].program.program().launches <= LAUNCHES.get(name, 1)


def train(name, wrap, rates):
    p, q = tessera.Parameter(floats(3, 4)), tessera.Parameter(floats(4, seed=9))
    optim = getattr(optimizer, name)([p, q], lr=0.1)
    manager, losses = GradManager().attach([p, q]), []

    @wrap
    def step(x):
        with manager:
            loss = ((p * x + q) ** 2).mean()
            manager.backward(loss)
        optim.step().clear_grad()
        return loss

    for number, rate in enumerate(rates):
        optim.param_groups[0]["lr"] = rate
        losses.append(step(tessera.Tensor(floats(3, 4, seed=number))).item())
    return step, [p, q, *(t for s in optim._state.values() for t in s.values())]


@pytest.mark.parametrize("name", FORMULAS)
def test_traced_steps_equal_eager_and_see_a_new_rate(name):
    rates = [0.1, 0.1, 0.1, 0.01, 0.02, 0.03]
    traced, got = train(name, jit.trace, rates)
    _, wanted = train(name, lambda function: function, rates)
    assert same_bits(got, wanted)
    assert len(traced.explain().splitlines()) == 1  # one recording for all rates


@pytest.mark.parametrize("inside", [jit.trace, lambda function: function], ids=["trace", "eager"])
@pytest.mark.parametrize("excluded", [False, True])
def test_steps_within_a_recording_of_gradients(inside, excluded):
    """MegEngine's loop calls step within the manager's block; parts of a trace may stay eager."""
    p, manager = tessera.Parameter([0.0]), GradManager()
    optim = optimizer.Adam([p], lr=1.0)
    manager.attach(p)

    @inside
    def step(x):
        with manager:
            manager.backward((p * x).sum())
            with jit.exclude_from_trace() if excluded else contextlib.nullcontext():
                optim.step().clear_grad()

    for _ in range(5):
        step(tessera.Tensor([2.0]))
    assert p.item() == pytest.approx(-5.0, rel=1e-4)


@pytest.mark.parametrize("name", ["Adam", "Nadam", "LAMB"])
def test_the_groups_program_has_the_bits_of_operators(name):
    """With check_finite each operator runs alone, and without a warning."""
    rates, plain = [0.1] * 5, lambda function: function
    _, wanted = train(name, plain, rates)
    config.set_check_finite(True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            _, got = train(name, plain, rates)
    finally:
        config.set_check_finite(False)
    assert same_bits(got, wanted)


def test_a_setting_that_changes_at_each_step_makes_no_programs():
    p = tessera.Parameter(floats(4))
    optim = optimizer.SGD([p], lr=0.1, momentum=0.9)
    want, v = floats(4).astype(np.float64), 0.0
    for number in range(PATIENCE + 4):
        momentum = 0.9 - 0.01 * number
        optim.param_groups[0]["momentum"] = momentum
        p.grad = tessera.Tensor(floats(4, seed=number + 1))
        optim.step()
        v = momentum * v + floats(4, seed=number + 1)
        want = want - 0.1 * v
    np.testing.assert_allclose(p.numpy(), want, rtol=1e-5, atol=1e-6)
    assert optim.param_groups[0].program is None


def test_parameters_that_have_gradients_by_turns():
    ps = [tessera.Parameter([1.0]), tessera.Parameter([1.0])]
    optim, counts = optimizer.SGD(ps, lr=1.0), [0, 0]
    for number in (0, 0, 0, 1, 1, 1, 0, 1, 0, 0):
        counts[number] += 1
        ps[number].grad = tessera.Tensor([1.0])
        optim.step().clear_grad()
    assert [p.item() for p in ps] == [1 - count for count in counts]


def test_momentum_may_start_later():
    p = tessera.Parameter([0.0])
    optim, values = optimizer.SGD([p], lr=1.0), []
    assert optim.state_dict()["state"][0] == {}
    for number in range(4):
        if number == 2:
            optim.param_groups[0]["momentum"] = 0.5
        p.grad = tessera.Tensor([1.0])
        values.append(optim.step() and p.item())
    assert values == [-1.0, -2.0, -3.0, -4.5]

    step = jit.trace(lambda: optim.step() and None)
    late = optimizer.SGD([p], lr=1.0)
    late.param_groups[0]["momentum"] = 0.5
    optim = late
    with pytest.raises(RuntimeError, match="momentum must be set before .* traced, .* got 0.5"):
        step()
    optim.step()  # an eager step makes what the trace needs
    p.grad = None
    step()


def test_the_optimizer_goes_with_its_last_reference():
    """No cycle holds the parameters until a collection."""
    import gc
    import weakref

    p = tessera.Parameter(floats(4))
    optim = optimizer.Adam([p], lr=0.1)
    gc.collect()
    gc.disable()
    try:
        for _ in range(PATIENCE):
            p.grad = tessera.Tensor(floats(4))
            optim.step()
        assert optim.param_groups[0].program is not None
        ref = weakref.ref(optim)
        del optim
        assert ref() is None
    finally:
        gc.enable()
