"""Averages of parameters: tessera.optimizer.EMA and SWA."""

import numpy as np
import pytest
import tessera
from tessera import jit, optimizer
from tessera.optimizer import EMA, SWA

from tests.support.helper import floats, same_bits

STEPS = 100


def values(step):
    return floats(3, 4, seed=step).astype(np.float64)


def ema(decay):
    mean = values(0)
    for step in range(1, STEPS + 1):
        mean = decay * mean + (1 - decay) * values(step)
    return mean


MAKE = {
    "EMA": (lambda ps: EMA(ps, decay=0.9), lambda: ema(0.9)),
    "EMA 0.999": (EMA, lambda: ema(0.999)),
    "SWA": (SWA, lambda: np.mean([values(step) for step in range(1, STEPS + 1)], axis=0)),
}


@pytest.mark.parametrize("name", MAKE)
@pytest.mark.parametrize("dtype, bound", [("float64", 1e-6), ("float32", 1e-5)])
def test_a_hundred_updates(name, dtype, bound):
    make, wanted = MAKE[name]
    p = tessera.Parameter(values(0), dtype=dtype)
    averages = make([p])
    for step in range(1, STEPS + 1):
        p._reset(tessera.Tensor(values(step), dtype=dtype))
        assert averages.update() is averages
    got = averages.averages[0]
    assert got.dtype == dtype
    np.testing.assert_allclose(got.numpy(), wanted(), rtol=bound, atol=bound)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_averages_of_half_precision_do_not_stand_still(dtype):
    """0.001 of a value is less than half of the distance between averages in their own digits."""
    p = tessera.Parameter(np.zeros(2, "float32"), dtype=dtype)
    ema, swa = EMA([p], decay=0.999), SWA([p])
    for step in range(1500):
        p._reset(tessera.Tensor(np.array([1, step % 2], "float32")).astype(dtype))
        ema.update(), swa.update()
    np.testing.assert_allclose(ema.averages[0].numpy(), [0.7770, 0.3887], rtol=2e-3)
    np.testing.assert_allclose(swa.averages[0].numpy(), [1, 0.5], rtol=1e-4)
    again = EMA([p], decay=0.999)
    again.load_state_dict(ema.state_dict())
    assert again.averages[0].tolist() == ema.averages[0].tolist()
    with ema.applied():
        assert p.dtype == dtype
        np.testing.assert_allclose(p.astype("float32").numpy(), [0.7770, 0.3887], rtol=5e-3)


@pytest.mark.parametrize("kind", [EMA, SWA])
def test_traced_updates_equal_eager(kind):
    def train(wrap):
        p = tessera.Parameter(floats(3))
        optim, averages = optimizer.SGD([p], lr=0.1), kind([p])

        @wrap
        def step(x):
            with tessera.autodiff.GradManager().attach(p) as manager:
                manager.backward((p * x).sum())
            optim.step().clear_grad()
            averages.update()

        for number in range(5):
            step(tessera.Tensor(floats(3, seed=number)))
        return [p, *averages.averages]

    assert same_bits(train(jit.trace), train(lambda function: function))


@pytest.mark.parametrize("kind", [EMA, SWA])
def test_applied_within_a_block_also_where_it_fails(kind):
    p = tessera.Parameter([1.0])
    averages = kind([p])
    p._reset(tessera.Tensor([3.0]))
    average = averages.update().averages[0].item()
    with averages.applied() as inside:
        assert inside is averages and p.item() == average
    with pytest.raises(ZeroDivisionError), averages.applied():
        p._reset(tessera.Tensor([9.0]))
        _ = 1 / 0
    assert p.item() == 3.0 and averages.averages[0].item() == average
    averages.copy_to_params()
    assert p.item() == average
    p._reset(tessera.Tensor([5.0]))
    assert averages.averages[0].item() == average  # its own memory


def test_buffers_of_a_module_are_averaged():
    net = tessera.module.BatchNorm1d(3)
    swa = SWA(net.tensors())
    for seed in range(4):
        net(tessera.Tensor(floats(8, 3, seed=seed)))
        swa.update()
    names = [name for name, _ in net.named_tensors()]
    mean = swa.averages[names.index("running_mean")]
    assert mean.shape == net.running_mean.shape and not same_bits(mean, net.running_mean)


@pytest.mark.parametrize("kind", [EMA, SWA])
def test_a_state_continues_exactly(kind, tmp_path):
    p = tessera.Parameter(floats(4))
    one = kind([p])
    for seed in range(3):
        p._reset(tessera.Tensor(floats(4, seed=seed)))
        one.update()
    tessera.save(one.state_dict(), tmp_path / "state")
    two = kind([p])
    two.load_state_dict(tessera.load(tmp_path / "state"))
    p._reset(tessera.Tensor(floats(4, seed=7)))
    assert same_bits(one.update().averages, two.update().averages)
    other = kind([tessera.Parameter(floats(3))])
    with pytest.raises(ValueError, match=r"averages must be 1 .*, got 1 with \(4,\) for \(3,\)"):
        other.load_state_dict(one.state_dict())


@pytest.mark.parametrize("wrap", [jit.trace, lambda function: function])
def test_a_new_decay_is_seen(wrap):
    p = tessera.Parameter([0.0])
    averages = EMA([p], decay=1.0)
    update, got = wrap(lambda: averages.update() and None), []
    p._reset(tessera.Tensor([8.0]))
    for decay in (1.0, 1.0, 1.0, 0.5, 0.75):
        averages.decay = decay
        update()
        got.append(averages.averages[0].item())
    assert averages.decay == 0.75 and got == [0.0, 0.0, 0.0, 4.0, 5.0]
    with pytest.raises(ValueError, match="EMA: decay must be >= 0 and <= 1, got 2"):
        averages.decay = 2


def test_arguments():
    p = tessera.Parameter([1.0])
    with pytest.raises(ValueError, match="EMA: params must not be empty, got none"):
        EMA([])
    for decay in (-0.1, 1.5):
        with pytest.raises(ValueError, match=f"EMA: decay must be .*, got {decay}"):
            EMA([p], decay)
    with pytest.raises(TypeError, match="SWA: params must be tensors of floats, got int"):
        SWA([3])
    with pytest.raises(TypeError, match="SWA: params must be tensors of floats, got int32 tensor"):
        SWA(tessera.Tensor([1, 2]))
