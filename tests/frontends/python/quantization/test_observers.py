"""Observers of ranges beside their formulas: scales, zero points, states, traces."""

import copy
import pickle

import numpy as np
import pytest
from tessera import Tensor, jit
from tessera.autodiff import GradManager
from tessera.quantization import (
    ExponentialMovingAverageObserver,
    MinMaxObserver,
    Observer,
    PassiveObserver,
    QuantMode,
    SyncExponentialMovingAverageObserver,
    SyncMinMaxObserver,
    create_qparams,
)

from tests.frontends.python.quantization import formulas
from tests.frontends.python.quantization.formulas import floats
from tests.support.helper import same_bits

RANGES = [MinMaxObserver, SyncMinMaxObserver, ExponentialMovingAverageObserver,
          SyncExponentialMovingAverageObserver]  # fmt: skip
INPUTS = {
    "both signs": floats(3, 5),
    "negative": -np.abs(floats(7)) - 1,
    "positive": np.abs(floats(7)) + 1,
    "constant": np.full(4, 2.5, np.float32),
    "one element": np.float32([-0.75]),
    "no axes": np.float32(3),
    "large": np.float32([-3e38, 3e38]),
    "small": np.float32([1e-40, -1e-39]),
    "integers": np.int32([-3, 100]),
    "half": np.float16([-2, 1000]),
}


def observed(observer, *arrays):
    for array in arrays:
        observer(Tensor(array))
    return observer


@pytest.mark.parametrize("dtype", ["qint8", "qint8_narrow", "qint4"])
@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("kind", RANGES)
def test_symmetric_scales(kind, name, dtype):
    """The scale is that of the formula to the bit, and there is no zero point."""
    x = np.float32(INPUTS[name])
    found = observed(kind(dtype=dtype), INPUTS[name]).get_qparams()
    wanted = formulas.symmetric_scale(x.min(), x.max(), dtype)
    assert same_bits(found.scale, wanted) and found.zero_point is None
    assert (found.mode, found.dtype_meta) == (QuantMode.SYMMERTIC, dtype)


@pytest.mark.parametrize("dtype", ["quint8", "quint4", "qint8"])
@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("kind", RANGES)
def test_scales_with_a_zero_point(kind, name, dtype):
    """Scale and zero point are those of the formula to the bit, and within the dtype."""
    x = np.float32(INPUTS[name])
    found = observed(kind(mode=QuantMode.ASYMMERTIC, dtype=dtype), INPUTS[name]).get_qparams()
    scale, zero_point = formulas.affine(x.min(), x.max(), dtype)
    assert same_bits(found.scale, scale) and same_bits(found.zero_point, zero_point)
    low, high = formulas.LIMITS[dtype]
    assert low <= zero_point <= high


@pytest.mark.parametrize("mode", QuantMode)
@pytest.mark.parametrize("kind", RANGES)
def test_zeros_have_the_least_scale(kind, mode):
    """The scale of a tensor of zeros is `eps`."""
    observer = observed(kind(mode=mode, eps=0.25, dtype="quint8"), np.zeros((2, 3), np.float32))
    assert observer.get_qparams().scale.item() == 0.25


def test_a_range_grows():
    """The range is that of all tensors."""
    observer = observed(MinMaxObserver(), np.float32([1, 2]), np.float32([-3]), np.float32([0.5]))
    assert (observer.min_val.item(), observer.max_val.item()) == (-3, 2)


def test_moving_averages():
    """The range of the first tensor, then the moving average of arXiv:1712.05877."""
    arrays = [floats(3, 4, seed=seed) for seed in range(5)]
    observer = observed(ExponentialMovingAverageObserver(momentum=0.75), *arrays)
    low, high = arrays[0].min(), arrays[0].max()
    share = np.float32(0.75)
    for array in arrays[1:]:
        low = low * share + (1 - share) * array.min()
        high = high * share + (1 - share) * array.max()
    assert same_bits(observer.min_val, low) and same_bits(observer.max_val, high)


def test_the_momentum_is_set():
    """set_momentum changes the buffer in place."""
    observer = observed(ExponentialMovingAverageObserver(), np.float32([0, 2]))
    buffer = observer.momentum
    observer.set_momentum(0)
    observed(observer, np.float32([0, 4]), np.float32([0, 6]))
    assert observer.max_val.item() == 6 and observer.momentum is buffer


@pytest.mark.parametrize("kind", RANGES)
def test_numbers_that_are_not_finite_are_not_observed(kind):
    """NaN and infinities leave the range as it is; alone they leave nothing observed."""
    bad = np.float32([np.nan, np.inf, -np.inf])
    observer = observed(kind(), bad)
    assert not observer.is_observed()
    observed(observer, np.float32([np.nan, -1, np.inf, 3]))
    assert (observer.min_val.item(), observer.max_val.item()) == (-1, 3)
    observed(observer, bad)
    assert (observer.min_val.item(), observer.max_val.item()) == (-1, 3)


@pytest.mark.parametrize("kind", RANGES)
def test_an_observer_that_saw_nothing_refuses(kind):
    """get_qparams and get_quantized_dtype say that nothing was observed."""
    text = f"{kind.__name__}: no number has been observed"
    with pytest.raises(RuntimeError, match=text):
        kind().get_qparams()
    with pytest.raises(RuntimeError, match=text):
        kind().get_quantized_dtype()


def test_tensors_without_elements_are_refused():
    """The least of no numbers is refused by its operator, and nothing changes."""
    observer = MinMaxObserver()
    with pytest.raises(ValueError, match="min: reduced dimensions must not be empty"):
        observer(Tensor(np.zeros((0, 3), np.float32)))
    assert not observer.is_observed()


def test_quantized_dtypes():
    """get_quantized_dtype makes a dtype of scale and zero point."""
    from tessera import dtype as dtypes

    x = np.float32([-1, 3])
    assert dtypes.is_dtype_equal(observed(MinMaxObserver(), x).get_quantized_dtype(),
                                 dtypes.qint8(np.float32(3 / 127.5)))  # fmt: skip
    found = observed(MinMaxObserver(QuantMode.ASYMMERTIC, dtype="quint8"), x).get_quantized_dtype()
    assert dtypes.is_dtype_equal(found, dtypes.quint8(np.float32(4 / 255), 64))
    symmetric = observed(MinMaxObserver(dtype="quint4"), x).get_quantized_dtype()
    assert dtypes.is_dtype_equal(symmetric, dtypes.quint4(np.float32(3 / 7.5), 0))
    with pytest.raises(ValueError, match="must be quint8 or quint4, got qint8"):
        observed(MinMaxObserver(QuantMode.ASYMMERTIC), x).get_quantized_dtype()


def test_observers_are_switched():
    """disable, eval and a call of `train` with False end it; enable and train begin it."""
    observer = MinMaxObserver()
    for stop, go in ((observer.disable, observer.enable), (observer.eval, observer.train)):
        assert stop() in (None, observer) and not observer.enabled
        before = observer.max_val.item()
        observed(observer, np.float32([1000]))
        assert observer.max_val.item() == before
        go()
        assert observer.enabled
    assert not observed(observer.train(False), np.float32([1])).is_observed()


@pytest.mark.parametrize("kind", RANGES)
def test_gradients_pass(kind):
    """The input goes through with its gradient, and the state has none."""
    observer, x = kind(), Tensor(floats(4))
    manager = GradManager().attach([x])
    with manager:
        y = observer(x)
        manager.backward((y * y).sum() + observer.get_qparams().scale)
    assert same_bits(x.grad, 2 * floats(4))
    assert observer.min_val.grad is None


# Channels.


@pytest.mark.parametrize("mode", QuantMode)
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("kind", RANGES)
def test_channels(kind, axis, mode):
    """With an axis each channel has the scale and zero point of its own numbers."""
    x = floats(3, 4, 5) * np.float32([1, 5, 0.1, 2])[:, None]
    found = observed(kind(mode=mode, dtype="quint8", axis=axis), x).get_qparams()
    rest = tuple(each for each in range(3) if each != axis)
    low, high = x.min(rest, keepdims=True), x.max(rest, keepdims=True)
    if mode is QuantMode.SYMMERTIC:
        assert same_bits(found.scale, formulas.symmetric_scale(low, high, "quint8"))
        return
    scale, zero_point = formulas.affine(low, high, "quint8")
    assert same_bits(found.scale, scale) and same_bits(found.zero_point, zero_point)


def test_dtypes_of_channels():
    """The dtype has the scales of the channels, and their axis."""
    from tessera import dtype as dtypes

    x = np.float32([[1, -2], [0, 4], [0, 0]])
    found = observed(MinMaxObserver(dtype="qint8_narrow", axis=0), x).get_quantized_dtype()
    scales = np.float32([2 / 127, 4 / 127, 1e-5])
    assert dtypes.is_dtype_equal(found, dtypes.qint8_narrow(scales, axis=0))
    one = observed(MinMaxObserver(axis=0), x[:1]).get_quantized_dtype()
    assert dtypes.is_dtype_equal(one, dtypes.qint8(np.float32(2 / 127.5)))


def test_a_channel_without_numbers():
    """A channel that has no finite number yet is not observed, and refuses the whole."""
    x = np.float32([[1, 2], [np.nan, np.inf]])
    observer = observed(ExponentialMovingAverageObserver(axis=0), x)
    assert not observer.is_observed()
    observed(observer, np.float32([[3, 3], [5, 5]]))
    assert np.allclose(observer.max_val.numpy(), [[2.1], [5]])


def test_channels_that_do_not_fit():
    """Axes must be there, channels stay, and a trace needs to know their number."""
    observer = observed(MinMaxObserver(axis=1), floats(2, 3))
    with pytest.raises(ValueError, match="MinMaxObserver: axis must be below 1, got 1"):
        observer(Tensor(floats(3)))
    with pytest.raises(ValueError, match=r"shape must be \(1, 3\) but for axes of 1, got \(2, 4\)"):
        observer(Tensor(floats(2, 4)))
    with pytest.raises(RuntimeError, match="number of channels is unknown"):
        jit.trace(MinMaxObserver(axis=0))(Tensor(floats(2, 3)))
    prepared = MinMaxObserver(axis=0)
    prepared.set_channels((2, 3))
    jit.trace(prepared)(Tensor(floats(2, 3)))
    assert same_bits(prepared.min_val, floats(2, 3).min(1, keepdims=True))


# Traces and states.


@pytest.mark.parametrize("axis", [None, 0])
@pytest.mark.parametrize("mode", QuantMode)
@pytest.mark.parametrize("kind", RANGES)
def test_traces_give_the_same_bits(kind, mode, axis):
    """A trace observes and gives scales as eager calls do, to the bit, over several steps."""
    eager, traced = (kind(mode=mode, dtype="quint8", axis=axis) for _ in range(2))

    def step(observer, x):
        observer(x)
        found = observer.get_qparams()
        return [found.scale] if found.zero_point is None else [found.scale, found.zero_point]

    compiled = jit.trace(lambda x: step(traced, x))
    for seed in range(4):
        x = floats(3, 4, seed=seed)
        x[0, 1] = np.nan
        if axis is not None:
            traced.set_channels(x.shape)
        assert same_bits(compiled(Tensor(x)), step(eager, Tensor(x)))
    names = eager.state_dict()
    assert all(same_bits(names[name], value) for name, value in traced.state_dict().items())


def test_a_trace_notices_switches():
    """A traced call follows enable and disable."""
    observer = MinMaxObserver()
    traced = jit.trace(lambda x: observer(x))
    traced(Tensor([1.0]))
    observer.disable()
    traced(Tensor([5.0]))
    assert observer.max_val.item() == 1
    observer.enable()
    traced(Tensor([4.0]))
    assert observer.max_val.item() == 4


@pytest.mark.parametrize("axis", [None, 0])
@pytest.mark.parametrize("kind", RANGES)
def test_states_and_copies(kind, axis):
    """state_dict, copies and pickles carry the state; a new observer goes on from it."""
    first = observed(kind(dtype="qint8_narrow", axis=axis), floats(2, 3))
    loaded = kind(dtype="qint8_narrow", axis=axis)
    loaded.load_state_dict(first.state_dict())
    copies = [loaded, copy.deepcopy(first), pickle.loads(pickle.dumps(first))]
    observed(first, floats(2, 3, seed=1))
    for each in copies:
        assert same_bits(observed(each, floats(2, 3, seed=1)).get_qparams().scale,
                         first.get_qparams().scale)  # fmt: skip


def test_a_state_of_channels_needs_an_axis():
    """An observer of whole tensors does not take the state of channels."""
    state = observed(MinMaxObserver(axis=0), floats(2, 3)).state_dict()
    with pytest.raises(ValueError, match="shapes must be those of MinMaxObserver"):
        MinMaxObserver().load_state_dict(state)


# Arguments.


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (lambda: MinMaxObserver(dtype="int8"), ValueError,
         "MinMaxObserver: dtype must be one of qint8, .*, got 'int8'"),
        (lambda: PassiveObserver(8), ValueError, "PassiveObserver: dtype must be one of"),
        (lambda: MinMaxObserver("sym"), TypeError, "mode must be a QuantMode, got 'sym'"),
        (lambda: MinMaxObserver(eps=0), ValueError, "eps must be >= .*, got 0"),
        (lambda: MinMaxObserver(eps=float("nan")), ValueError, "eps must be finite"),
        (lambda: MinMaxObserver(axis=-1), ValueError, "axis must be None or an int >= 0, got -1"),
        (lambda: ExponentialMovingAverageObserver(1.5), ValueError, "momentum must be <= 1"),
        (lambda: ExponentialMovingAverageObserver().set_momentum(-1), ValueError,
         "momentum must be >= 0, got -1"),
        (lambda: Observer("qint8"), TypeError, "abstract"),
    ],
)  # fmt: skip
def test_bad_arguments(make, kind, text):
    """Constructors refuse what makes no scale."""
    with pytest.raises(kind, match=text):
        make()


def test_narrow_range_is_told():
    """MegEngine's old argument is accepted, and a warning says that it does nothing."""
    with formulas.logged() as lines:
        observer = MinMaxObserver(narrow_range=True)
    assert "narrow_range is ignored" in lines[0] and observer.qmin == -128


# PassiveObserver.


def test_scales_that_are_set():
    """A PassiveObserver gives what it was given, and keeps the first scale."""
    observer = PassiveObserver("qint8")
    with pytest.raises(RuntimeError, match="PassiveObserver: no number has been observed"):
        observer.get_qparams()
    qparams = create_qparams(QuantMode.SYMMERTIC, "qint8", Tensor(1.0))
    observer.set_qparams(qparams)
    assert observer.get_qparams() == qparams and observer.orig_scale == 1
    observer.scale = np.float32(0.5)
    assert observer.scale.item() == 0.5 and observer.orig_scale == 1
    assert qparams.scale.item() == 1
    observer.set_qparams(create_qparams(dtype_meta="qint8", scale=Tensor(3.0)))
    assert observer.orig_scale == 3 == observer.scale.item()
    observer.scale = 0.5
    x = Tensor(floats(3))
    assert observer(x) is x and observer.scale.item() == 0.5


def test_zero_points_that_are_set():
    """A PassiveObserver of a dtype with a zero point keeps it, and its state has both."""
    observer, loaded = PassiveObserver("quint8"), PassiveObserver("quint8")
    qparams = create_qparams(QuantMode.ASYMMERTIC, "quint8", Tensor([0.5, 0.25]),
                             Tensor([3, 4], dtype="int32"))  # fmt: skip
    observer.set_qparams(qparams)
    loaded.load_state_dict(observer.state_dict())
    assert loaded.get_qparams() == qparams == observer.get_qparams()


@pytest.mark.parametrize("scale", [0, -1, np.nan, np.inf, [1.0, 0.0]])
def test_scales_that_are_none(scale):
    """A scale must be finite and above 0, and the one before stays."""
    observer = PassiveObserver("qint8")
    observer.scale = 2.0
    with pytest.raises(ValueError, match="PassiveObserver: scale must be finite and above 0"):
        observer.scale = scale
    assert observer.scale.item() == 2


def test_qparams_that_do_not_fit():
    """QParams must have a scale and the dtype."""
    observer = PassiveObserver("qint8")
    with pytest.raises(ValueError, match="scale of qparams must be set, got None"):
        observer.set_qparams(create_qparams(dtype_meta="qint8"))
    with pytest.raises(ValueError, match="dtype of qparams must be qint8, got quint8"):
        observer.set_qparams(create_qparams(dtype_meta="quint8", scale=Tensor(1.0)))
