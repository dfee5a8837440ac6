"""Fake-quantization beside its formulas: results, gradients, scales that are set, traces."""

import copy

import numpy as np
import pytest
from tessera import Tensor, jit
from tessera import functional as F  # noqa: N812
from tessera.autodiff import GradManager
from tessera.quantization import (
    LSQ,
    TQT,
    FakeQuantize,
    MinMaxObserver,
    QuantMode,
    create_qparams,
    fake_quant_bias,
    fake_quant_tensor,
)
from tessera.quantization.fake_quant import _FakeQuantize
from tessera.quantization.utils import LSQParams, lsq_forward, tqt_forward

from tests.frontends.python.quantization import formulas
from tests.frontends.python.quantization.formulas import floats
from tests.support.helper import same_bits

DTYPES = ["qint8", "qint8_narrow", "quint8", "qint4", "quint4"]
X = floats(4, 6, scale=3)


def qparams_of(dtype, scale=0.05, zero_point=3):
    if dtype.startswith("quint"):
        return create_qparams(QuantMode.ASYMMERTIC, dtype, Tensor(scale),
                              Tensor(zero_point, dtype="int32"))  # fmt: skip
    return create_qparams(QuantMode.SYMMERTIC, dtype, Tensor(scale))


def wanted(x, qparams):
    zero = 0 if qparams.zero_point is None else qparams.zero_point.numpy()
    return formulas.fake_quant(x, qparams.scale.numpy(), zero, *formulas.LIMITS[qparams.dtype_meta])


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_on_the_grid(dtype):
    """FakeQuantize and fake_quant_tensor give the numbers of the formula, which are those of a
    cast to the dtype and back.
    """
    qparams = qparams_of(dtype)
    assert same_bits(fake_quant_tensor(Tensor(X), qparams), wanted(X, qparams))
    result = FakeQuantize(dtype)(Tensor(X), qparams)
    assert same_bits(result, wanted(X, qparams)) and result.qparams == qparams
    observer = MinMaxObserver(qparams.mode, dtype=dtype)
    found = FakeQuantize(dtype)(observer(Tensor(X / 2)), observer.get_qparams())
    integers = Tensor(X / 2).astype(observer.get_quantized_dtype())
    assert same_bits(found, integers.astype("float32"))


def test_numbers_that_are_not_finite():
    """NaN becomes the integer 0, and infinities the ends."""
    x = Tensor([np.nan, np.inf, -np.inf])
    assert fake_quant_tensor(x, qparams_of("qint8", 0.5)).tolist() == [0, 63.5, -64]
    assert fake_quant_tensor(x, qparams_of("quint8", 0.5)).tolist() == [-1.5, 126, -1.5]


def test_channels():
    """Scales of channels go along their axis."""
    scale = np.float32([0.1, 0.5, 0.02, 1]).reshape(4, 1)
    qparams = create_qparams(dtype_meta="qint8_narrow", scale=Tensor(scale))
    assert same_bits(fake_quant_tensor(Tensor(X), qparams), wanted(X, qparams))


@pytest.mark.parametrize("kind", [FakeQuantize, TQT, LSQ])
def test_disabled_modules_give_their_input(kind):
    """A disabled module gives its input, which gets no QParams."""
    x = Tensor(X)
    module = kind("qint8", enable=False)
    assert module(x, qparams_of("qint8")) is x and x.qparams.scale is None
    module.enable()
    assert module(x, qparams_of("qint8")) is not x
    module.disable()
    assert module(x) is x


def test_qparams_that_do_not_fit():
    """A FakeQuantize needs a scale, of its own dtype."""
    module = FakeQuantize("qint8")
    for bad in (None, create_qparams(dtype_meta="qint8")):
        with pytest.raises(ValueError, match="FakeQuantize: qparams must have a scale, got"):
            module(Tensor(X), bad)
    with pytest.raises(ValueError, match="dtype of qparams must be qint8, got quint8"):
        module(Tensor(X), qparams_of("quint8"))
    with pytest.raises(ValueError, match="TQT: qparams must have a scale, got"):
        TQT("qint8").set_qparams(create_qparams(dtype_meta="qint8"))
    with pytest.raises(ValueError, match="LSQ: dtype of qparams must be qint8, got qint4"):
        LSQ("qint8").set_qparams(qparams_of("qint4"))
    with pytest.raises(ValueError, match="TQT: qparams must be symmetric"):
        TQT("quint8").set_qparams(qparams_of("quint8"))


@pytest.mark.parametrize("kind", [FakeQuantize, TQT, LSQ])
def test_bad_arguments(kind):
    """The dtype must be the name of a quantized one."""
    with pytest.raises(ValueError, match=f"{kind.__name__}: dtype must be one of qint8, .*'int8'"):
        kind("int8")
    with pytest.raises(ValueError, match="LSQ: eps must be >= .*, got 0"):
        LSQ("qint8", eps=0)


def test_a_base_class_has_no_formula():
    """A subclass gives fake_quant_forward."""
    with pytest.raises(
        NotImplementedError, match="_FakeQuantize: fake_quant_forward must be given"
    ):
        _FakeQuantize("qint8")(Tensor(X))


# Biases.


def on_grid(scale):
    x = Tensor([1.0])
    x.qparams.update(create_qparams(dtype_meta="qint8", scale=Tensor(scale)))
    return x


def test_biases():
    """A bias has the scale of the products, whatever the zero point of the input."""
    bias, inp, weight = floats(5), on_grid(0.5), on_grid(0.25)
    found = fake_quant_bias(Tensor(bias), inp, weight)
    assert same_bits(found, formulas.fake_quant(bias, 0.125, 0, -(2**30), 2**30))
    assert found.qparams == create_qparams(dtype_meta="qint32", scale=Tensor(0.125))
    inp.qparams.mode, inp.qparams.zero_point = QuantMode.ASYMMERTIC, Tensor(7)
    assert same_bits(fake_quant_bias(Tensor(bias), inp, weight), found)


def test_biases_of_channels():
    """Each channel of the bias has the scale of its products."""
    bias, scales = floats(1, 3, 1, 1), np.float32([0.1, 0.5, 2]).reshape(3, 1, 1, 1)
    found = fake_quant_bias(Tensor(bias), on_grid(0.5), on_grid(scales))
    steps = (np.float32(0.5) * scales).reshape(1, 3, 1, 1)
    assert same_bits(found, formulas.fake_quant(bias, steps, 0, -(2**30), 2**30))


def test_biases_saturate():
    """Integers of a bias leave half of int32 to the products."""
    found = fake_quant_bias(Tensor([1e20, -1e20]), on_grid(0.5), on_grid(0.5))
    assert found.tolist() == [2.0**28, -(2.0**28)]


def test_biases_without_a_scale():
    """Without scales, or a bias, nothing changes."""
    bias = Tensor([1.0])
    assert fake_quant_bias(None, on_grid(1), on_grid(1)) is None
    assert fake_quant_bias(bias, Tensor([1.0]), on_grid(1)) is bias
    assert fake_quant_bias(bias, on_grid(1), Tensor([1.0])) is bias


# Steps that are trained.


@pytest.mark.parametrize("dtype", ["qint8", "qint8_narrow", "qint4"])
@pytest.mark.parametrize("log2_scale", [-3.0, -2.5, 0.25, 1.0])
def test_tqt(dtype, log2_scale):
    """TQT rounds by the power of two that is not below 2 ** scale, and its QParams say it."""
    module = TQT(dtype)
    module.scale[...] = log2_scale
    step = 2.0 ** np.ceil(log2_scale)
    limits = formulas.LIMITS[dtype]
    result = module(Tensor(X))
    assert same_bits(result, formulas.fake_quant(X, step, 0, *limits))
    assert (
        result.qparams
        == module.get_qparams()
        == create_qparams(dtype_meta=dtype, scale=Tensor(np.float32(step)))
    )
    assert same_bits(tqt_forward(*limits, Tensor(X), Tensor(log2_scale)), result)


@pytest.mark.parametrize("exponent", [*range(-40, 41, 5), -126, 127])
def test_tqt_begins_at_the_next_power_of_two(exponent):
    """A scale that is a power of two is the step; any other one gives the next larger."""
    module = TQT("qint8")
    for factor, more in ((1, 0), (1.4, 1), (1.99, 1)):
        if exponent + more > 127:
            continue
        module.set_qparams(create_qparams(dtype_meta="qint8", scale=Tensor(factor * 2.0**exponent)))
        assert module.get_qparams().scale.item() == 2.0 ** (exponent + more)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scale", [0.5, 1e-6, 3.0])
def test_lsq(dtype, scale):
    """LSQ begins at the scale and zero point, and rounds by abs(step_size) + eps."""
    module, qparams = LSQ(dtype), qparams_of(dtype, scale)
    module.set_qparams(qparams)
    step = np.maximum(np.float32(scale) - np.float32(1e-5), 0) + np.float32(1e-5)
    zero = 0 if qparams.zero_point is None else 3
    result = module(Tensor(X))
    assert same_bits(result, formulas.fake_quant(X, step, zero, *formulas.LIMITS[dtype]))
    found = module.get_qparams()
    assert isinstance(found, LSQParams) and same_bits(found.scale, step)
    assert found.mode is qparams.mode and result.qparams.scale.item() == step
    module.step_size[...] = -module.step_size.detach()
    assert same_bits(module(Tensor(X)), result)


def test_lsq_takes_the_factor_of_gradients():
    """LSQParams bring a factor; QParams leave the one that was there."""
    module = LSQ("qint8")
    module.set_qparams(LSQParams(QuantMode.SYMMERTIC, "qint8", Tensor(0.5), None, Tensor(0.1)))
    assert module.grad_scale.item() == np.float32(0.1)
    module.set_qparams(qparams_of("qint8"))
    assert module.get_qparams().grad_scale.item() == np.float32(0.1)


def gradients(function, *tensors):
    """Gives gradients of the sum of the results times 0, 1, 2, and so on."""
    manager = GradManager().attach(tensors)
    with manager:
        y = function()
        manager.backward((y * F.arange(y.size).reshape(y.shape)).sum())
    return [each.grad.numpy() for each in tensors]


@pytest.mark.parametrize("dtype", DTYPES)
def test_gradients_of_fake_quantization(dtype):
    """The gradient passes where nothing saturates."""
    x, qparams = Tensor(X), qparams_of(dtype)
    low, high = formulas.LIMITS[dtype]
    zero = 0 if qparams.zero_point is None else 3
    rounded = formulas.away(np.float64(X / np.float32(0.05))) + zero
    passes = (low <= rounded) & (rounded <= high)
    assert passes.any() and not passes.all()
    (found,) = gradients(lambda: FakeQuantize(dtype)(x, qparams), x)
    assert same_bits(found, np.float32(np.arange(X.size).reshape(X.shape) * passes))


def slope(step, low, high):
    """Gives slopes of the results by the step, equation 3 of arXiv:1902.08153."""
    scaled = np.float64(X) / step
    rounded = formulas.away(scaled)
    return np.where(rounded < low, low, np.where(rounded > high, high, rounded - scaled))


def test_gradients_of_steps():
    """Gradients of steps are those of arXiv:1902.08153, equation 3, and of arXiv:1903.08066,
    equation 6, which is by the logarithm.
    """
    factors = np.arange(X.size).reshape(X.shape)
    lsq = LSQ("qint4")
    lsq.set_qparams(LSQParams(QuantMode.SYMMERTIC, "qint4", Tensor(0.5), None, Tensor(0.25)))
    (found,) = gradients(lambda: lsq(Tensor(X)), lsq.step_size)
    np.testing.assert_allclose(found, 0.25 * (slope(0.5, -8, 7) * factors).sum(), rtol=1e-4)
    tqt = TQT("qint4")
    tqt.scale[...] = -1.25
    (found,) = gradients(lambda: tqt(Tensor(X)), tqt.scale)
    wanted_ = 0.5 * np.log(2) * (slope(0.5, -8, 7) * factors).sum()
    np.testing.assert_allclose(found, wanted_, rtol=1e-4)


# Traces and states.


@pytest.mark.parametrize("kind", [FakeQuantize, TQT, LSQ])
def test_traces_give_the_same_bits(kind):
    """A trace rounds as eager calls do, and gives the QParams."""
    module = kind("qint8")

    def step(x):
        y = module(x, qparams_of("qint8"))
        return y, y.qparams.scale

    traced = jit.trace(step)
    for seed in range(3):
        x = Tensor(floats(5, seed=seed))
        assert same_bits(list(traced(x)), list(step(x)))


@pytest.mark.parametrize("shape", [(), (4, 1)])
@pytest.mark.parametrize("kind", [TQT, LSQ])
def test_states_and_copies(kind, shape):
    """state_dict and copies carry steps, of channels, too."""
    first, loaded = kind("qint8"), kind("qint8")
    scale = Tensor(np.full(shape, 0.25, np.float32))
    first.set_qparams(create_qparams(dtype_meta="qint8", scale=scale))
    loaded.load_state_dict(first.state_dict())
    for each in (loaded, copy.deepcopy(first)):
        assert same_bits(each(Tensor(X)), first(Tensor(X)))
    assert len(list(first.parameters())) == 1


def test_defaults_of_lsq_forward():
    """Without a zero point it is 0."""
    found = lsq_forward(-8, 7, Tensor(X), Tensor(0.5))
    assert same_bits(found, formulas.fake_quant(X, 0.5, 0, -8, 7))
    shifted = lsq_forward(0, 15, Tensor(X), Tensor(0.5), Tensor(4, dtype="int32"), Tensor(1.0))
    assert same_bits(shifted, formulas.fake_quant(X, 0.5, 4, 0, 15))
