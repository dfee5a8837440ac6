"""GradScaler: numbers, steps that are skipped, states, and a training in two precisions."""

import warnings

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
from tessera.amp import GradScaler, autocast
from tessera.autodiff import GradManager
from tessera.jit import trace
from tessera.optimizer import SGD, Adam


def problem(value=3.0):
    w = tessera.Parameter([value, 1.0])
    return w, GradManager().attach(w)


def test_gradients_are_those_without_it():
    w, gm = problem()
    scaler = GradScaler(init_scale=1024.0)
    with gm:
        scaler.backward(gm, (w * w).sum())
    assert w.grad.tolist() == [6.0, 2.0] and scaler.scale_factor == 1024.0


def test_small_gradients_survive():
    w, gm = problem()
    tiny = 2.0**-14

    def gradient(backward):
        w.grad = None
        with gm:
            y = (w.astype("float16") * tiny * 2.0**-12).astype("float32").sum()
            backward(y)
        return w.grad.tolist()

    assert gradient(lambda y: gm.backward(y)) == [0.0, 0.0]
    scaler = GradScaler(init_scale=2.0**12)
    assert gradient(lambda y: scaler.backward(gm, y)) == [2.0**-26] * 2


def test_several_results_and_dys():
    w, gm = problem()
    with gm:
        GradScaler().backward(gm, [w * 2, w * w], [tessera.tensor([1.0, 2.0])] * 2)
    assert w.grad.tolist() == [8.0, 8.0]


def test_accumulation():
    w, gm = problem()
    scaler = GradScaler()
    for _ in range(2):
        with gm:
            scaler.backward(gm, (w * w).sum(), unscale_grad=False)
    assert w.grad.tolist() == [192.0, 64.0]
    assert scaler.unscale(gm.attached_tensors()) is scaler
    scaler.update()
    assert w.grad.tolist() == [12.0, 4.0]


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_a_step_that_is_not_finite_is_skipped(bad):
    w, gm = problem()
    v = tessera.Parameter([1.0])
    gm.attach(v)
    scaler, optimizer = GradScaler(init_scale=8.0), SGD([w, v], lr=0.1, momentum=0.9)
    factor = tessera.tensor([1.0, 1.0])
    for number in range(3):
        factor._reset(tessera.tensor([1.0, bad if number == 1 else 1.0]))
        before = w.numpy(), v.numpy()
        with gm:
            scaler.backward(gm, (w * w * factor).sum() + v.sum())
        optimizer.step().clear_grad()
        same = np.array_equal(w.numpy(), before[0]) and np.array_equal(v.numpy(), before[1])
        assert same == (number == 1)
        assert scaler.scale_factor == (8.0 if number == 0 else 4.0)


def test_growth():
    w, gm = problem()
    scaler = GradScaler(init_scale=2.0, growth_factor=4.0, growth_interval=3)
    seen = []
    for number in range(8):
        scale = np.inf if number == 4 else 1.0
        with gm:
            scaler.backward(gm, (w * scale).sum())
        w.grad = None
        seen.append(scaler.scale_factor)
    assert seen == [2.0, 2.0, 8.0, 8.0, 4.0, 4.0, 4.0, 16.0]


@pytest.mark.parametrize("traced", [False, True])
def test_the_factor_stays_within_its_bounds(traced):
    for found, end in ((True, 2.0**-14), (False, 2.0**32)):
        w, gm = problem()
        scaler = GradScaler(growth_interval=1, growth_factor=16.0, backoff_factor=2.0**-6)
        factor = tessera.tensor(np.inf if found else 1.0)

        def step(w=w, gm=gm, scaler=scaler, factor=factor):
            with gm:
                scaler.backward(gm, (w * factor).sum())

        run = trace(step) if traced else step
        for _ in range(40):
            run()
            w.grad = None
        assert scaler.scale_factor == end
    scaler = GradScaler(init_scale=2.0**-20, growth_interval=1)
    scaler._found_non_finite._reset(tessera.tensor(True))
    scaler.update()
    assert scaler.scale_factor == 2.0**-20  # what is given stays, but goes no further


def test_settings_that_leave_the_factor():
    for options in ({"growth_factor": 0}, {"growth_interval": 0}):
        w, gm = problem()
        scaler = GradScaler(init_scale=2.0, **{"growth_interval": 1, **options})
        with gm:
            scaler.backward(gm, (w * np.inf).sum())
        assert scaler.scale_factor == 2.0
    assert not np.isfinite(w.grad.numpy()).any()


def test_update_with_a_number():
    scaler = GradScaler()
    scaler.update(256)
    assert scaler.scale_factor == 256.0
    scaler.scale_factor = 3
    assert scaler.scale_factor == 3.0


@pytest.mark.parametrize("value", [0.0, -1.0, np.inf, np.nan, 1e-45])
def test_a_factor_without_a_reciprocal_is_refused(value):
    scaler = GradScaler()
    with pytest.raises(ValueError, match="GradScaler: scale_factor must be positive"):
        scaler.scale_factor = value
    with pytest.raises(ValueError, match="GradScaler: scale_factor must be positive"):
        scaler.load_state_dict({**scaler.state_dict(), "scale_factor": value})
    assert scaler.scale_factor == 16.0


def test_states():
    scaler = GradScaler(init_scale=32.0, growth_interval=5)
    w, gm = problem()
    for _ in range(2):
        with gm:
            scaler.backward(gm, w.sum())
    state = scaler.state_dict()
    assert state == {"scale_factor": 32.0, "growth_factor": 2.0, "backoff_factor": 0.5,
                     "growth_interval": 5, "_growth_tracker": 2}  # fmt: skip
    other = GradScaler()
    other.load_state_dict(state)
    assert other.state_dict() == state
    with pytest.raises(KeyError):
        other.load_state_dict({})


def digits(count=128):
    """Images of 8 x 8 with a bright spot for each of ten classes, and noise."""
    random = np.random.RandomState(0)
    labels = random.randint(0, 10, count)
    images = random.rand(count, 64).astype(np.float32)
    images[np.arange(count), labels * 6] += 2
    return tessera.Tensor(images), tessera.Tensor(labels, dtype="int32")


def training(low, spoil):
    tessera.random.seed(0)
    net = M.Sequential(M.Linear(64, 32), M.ReLU(), M.Linear(32, 10))
    gm, optimizer = GradManager().attach(net.parameters()), Adam(net.parameters(), lr=1e-2)
    scaler = GradScaler(init_scale=2.0**10, growth_interval=6)
    spoiled = tessera.tensor(1.0)

    def step(images, labels):
        with gm, autocast(low_prec_dtype=low):
            loss = F.loss.cross_entropy(net(images), labels)
            scaler.backward(gm, loss * spoiled)
        scaler.step(optimizer)
        optimizer.clear_grad()
        return loss

    def run(step):
        losses, scales = [], []
        for number in range(16):
            spoiled._reset(tessera.tensor(np.inf if number in spoil else 1.0))
            losses.append(step(*digits()).item())
            scales.append(scaler.scale_factor)
        return losses, scales, [p.numpy().tobytes() for p in net.parameters()]

    return step, run


@pytest.mark.parametrize("low", ["float16", "bfloat16"])
def test_a_training(low):
    step, run = training(low, spoil=(5,))
    losses, scales, _ = run(step)
    assert losses[-1] < losses[0] / 2 and np.isfinite(losses).all()
    assert losses[6] == losses[5] and scales[4:6] == [1024.0, 512.0] and scales[-1] == 1024.0


@pytest.mark.parametrize("options", [{}, {"symbolic": True}])
def test_a_traced_training_has_the_same_bits(options):
    step, run = training("float16", spoil=(1, 5))
    wanted = run(step)
    step, run = training("float16", spoil=(1, 5))
    assert run(trace(step, **options)) == wanted


def test_in_a_trace_without_its_step_such_gradients_are_zero():
    w, gm = problem()
    scaler, optimizer = GradScaler(), SGD([w], lr=0.1)
    factor = tessera.tensor(1.0)

    @trace
    def step():
        with gm:
            scaler.backward(gm, (w * w * factor).sum())
        optimizer.step().clear_grad()

    for number in range(4):
        factor._reset(tessera.tensor(np.inf if number == 3 else 1.0))
        before = w.numpy()
        step()
        assert np.array_equal(w.numpy(), before) == (number == 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"init_scale": 0}, "GradScaler: init_scale must be positive, .* float32, got 0"),
        ({"init_scale": 1e39}, "GradScaler: init_scale must be positive, .* got 1e\\+39"),
        ({"init_scale": np.nan}, "GradScaler: init_scale must be positive, .* got nan"),
        ({"min_scale": 0}, "min_scale must be positive and at most max_scale, got 0 and"),
        ({"min_scale": 8, "max_scale": 4}, "at most max_scale, got 8 and 4"),
        ({"growth_factor": -1}, "GradScaler: growth_factor must be at least 0, got -1.0"),
        ({"backoff_factor": np.nan}, "GradScaler: backoff_factor must be at least 0, got nan"),
        ({"growth_interval": -2}, "GradScaler: growth_interval must be at least 0, got -2"),
    ],
)
def test_errors(options, message):
    with pytest.raises(ValueError, match=message):
        GradScaler(**options)


def test_a_gradient_that_it_dropped_is_no_warning():
    w, gm = problem()
    scaler, optim = GradScaler(), SGD([w], lr=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with gm:
            scaler.backward(gm, (w * np.inf).sum())
        optim.step()
    assert w.grad is None and w.tolist() == [3.0, 1.0]
    with pytest.warns(RuntimeWarning, match="SGD.step: a parameter must have a gradient"):
        optim.step()  # another step, for which nothing was computed


def test_tensors_without_gradients_are_told():
    w, _ = problem()
    with pytest.warns(RuntimeWarning, match="GradScaler.unscale: a tensor must have a gradient"):
        GradScaler().unscale([w])


def test_a_dy_that_does_not_fit():
    w, gm = problem()
    with gm, pytest.raises(ValueError, match="argument 2 is|dy"):
        GradScaler().backward(gm, [w.sum()], [tessera.tensor(1.0), tessera.tensor(1.0)])
