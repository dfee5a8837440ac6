"""Arguments that were ignored or meant something else: honoured, or refused by name."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import config, device, jit
from tessera import module as M  # noqa: N812
from tessera.autodiff import GradManager
from tessera.data import ArrayDataset, DataLoader
from tessera.optimizer import SGD

from tests.support.helper import assert_same_everywhere, bits, check, floats, same_bits
from tests.support.networks import tensor

IMAGES = floats(2, 4, 5, 5), floats(6, 4, 3, 3, seed=1)


@pytest.mark.parametrize("descending", [None, True, False])
@pytest.mark.parametrize("k", [1, 3, 5])
def test_topk_gives_the_largest_by_default(k, descending):
    given = {} if descending is None else {"descending": descending}
    sign = 1 if descending is False else -1

    def oracle(x):
        order = np.argsort(sign * x, axis=-1, kind="stable")[..., :k].astype(np.int32)
        return np.take_along_axis(x, order, -1), order

    x = floats(3, 5)
    check(lambda x: F.topk(x, k, **given), x, oracle=oracle)
    check(lambda x: F.topk(x, k, no_sort=True, **given), x, oracle=oracle)
    kth = [each[..., -1] for each in oracle(x)]
    check(lambda x: F.topk(x, k, kth_only=True, **given), x, oracle=lambda x: kth)
    row = [each[0] for each in kth]
    check(lambda x: F.topk(x, k, kth_only=True, **given), x[0], oracle=lambda x: row, dynamic=False)


def test_topk_refuses():
    with pytest.raises(TypeError, match="topk: no_sort must be a bool, got 3"):
        F.topk(tensor(3), 1, no_sort=3)
    with pytest.raises(ValueError, match="topk: k must not be above the size of the last axis"):
        F.topk(tensor(3), 4, kth_only=True)


def test_a_number_of_parts_is_not_a_size():
    x = tensor(4, 6)
    assert [part.shape[0] for part in F.split(x, 3)] == [2, 1, 1]
    for count in (5, 2**64):
        with pytest.raises(ValueError, match=f"split: number of parts must be .* 4, got {count}"):
            F.split(x, count)


def test_atan2_by_keyword():
    y, x = floats(4), floats(4, seed=1)
    want = F.atan2(tessera.Tensor(y), tessera.Tensor(x))
    assert same_bits(F.atan2(y=tessera.Tensor(y), x=tessera.Tensor(x)), want)
    assert same_bits(F.atan2(x=tessera.Tensor(x), y=tessera.Tensor(y)), want)
    np.testing.assert_allclose(want.numpy(), np.arctan2(y, x), rtol=1e-6)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("shape", [(3, 4), (5,), (2, 3, 4), ()])
def test_keepdims_without_an_axis(name, shape):
    x = floats(*shape)
    index = getattr(np, name)(x, keepdims=True).astype(np.int32)
    got = assert_same_everywhere(lambda x: getattr(F, name)(x, keepdims=True), x, dynamic=False)
    assert same_bits(got, index)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_what_is_no_tensor_has_a_first_largest_element_too(name):
    function = getattr(F, name)
    for given, shape in ((-2, ()), ([3, 3], (1,)), (np.ones((2, 3)), (1, 1))):
        result = function(given, keepdims=True)
        assert (result.shape, result.item()) == (shape, 0)
    with pytest.raises(TypeError, match=f"{name}: keepdims must be a bool, got str 'int8'"):
        function(-2, keepdims="int8")


BOUNDS = {
    "both": (floats(4, seed=1) - 1, floats(3, 1, seed=2) + 1),
    "lower": (floats(3, 4, seed=1), 1.0),
    "upper": (-1.0, floats(3, 4, seed=1)),
    "rank 0": (np.float32(-0.5), floats(4)),
}


@pytest.mark.parametrize("what", BOUNDS)
def test_bounds_of_clip_are_operands(what):
    lower, upper = (tessera.Tensor(b) if np.ndim(b) or what == "rank 0" and i == 0 else b
                    for i, b in enumerate(BOUNDS[what]))  # fmt: skip
    tensors = [b for b in (lower, upper) if isinstance(b, tessera.Tensor)]
    x = tensor(3, 4, seed=5)
    expected = np.minimum(np.maximum(x.numpy(), BOUNDS[what][0]), BOUNDS[what][1])
    manager = GradManager().attach([x, *tensors])
    traced = jit.trace(lambda x, *tensors: clipped(x, what, tensors))
    for _ in range(3):
        for run in (clipped, lambda x, what, tensors: traced(x, *tensors)):
            with manager:
                y = run(x, what, tensors)
                manager.backward(y.sum())
            assert same_bits(y, expected)
            grads = [each.grad.numpy() for each in (x, *tensors)]
            assert sum(grad.sum() for grad in grads) == x.size - expected_constants(expected, what)
            for each in (x, *tensors):
                each.grad = None


def clipped(x, what, tensors):
    left = iter(tensors)
    return F.clip(
        x, *(next(left) if np.ndim(b) or isinstance(b, np.float32) else b for b in BOUNDS[what])
    )


def expected_constants(y, what):
    """Elements that are a bound which is a number."""
    return sum((y == b).sum() for b in BOUNDS[what] if isinstance(b, float))


# Batch normalisation.


@pytest.mark.parametrize("wrap", [lambda f: f, jit.trace], ids=["eager", "traced"])
@pytest.mark.parametrize("training", [True, False])
def test_frozen_batch_norm_does_not_learn(wrap, training):
    layer = M.BatchNorm2d(3, freeze=True).train(training)
    layer.weight._reset(layer.weight * 2)
    x, before = tessera.Parameter(tensor(2, 3, 4, 4)), [bits(each) for each in layer.tensors()]
    manager, optimizer = (
        GradManager().attach([x, *layer.parameters()]),
        SGD(layer.parameters(), lr=1),
    )

    @wrap
    def step():
        with manager:
            manager.backward((layer(x) ** 2).sum())
        optimizer.step()

    for _ in range(3):
        step()
    assert [bits(each) for each in layer.tensors()] == before
    assert layer.weight.grad is None and layer.bias.grad is None and x.grad is not None


def test_running_statistics_that_are_switched_off_stay():
    layer, plain = M.BatchNorm2d(3), M.BatchNorm2d(3, track_running_stats=False)
    layer.track_running_stats = False
    x, before = tensor(2, 3, 4, 4), bits(layer.running_mean)
    assert same_bits(layer(x), plain(x)) and bits(layer.running_mean) == before
    layer.eval()
    with pytest.raises(ValueError, match="BatchNorm2d: track_running_stats must be True where"):
        layer(x)
    layer.track_running_stats = True
    layer(x)
    plain.track_running_stats = True
    with pytest.raises(ValueError, match="BatchNorm2d: track_running_stats must be given when"):
        plain(x)


# Settings.


def test_settings_are_attributes_that_are_checked():
    for level in (0, 1, 2):
        config.async_level = level
        assert config.async_level == config.get_async_level() == level
    for name, values in {
        "benchmark_kernel": [True, False],
        "deterministic_kernel": [True, False],
        "winograd": [False, True],
        "disable_memory_forwarding": [False],
        "_compute_mode": ["float32", "default"],
    }.items():
        for value in values:
            setattr(config, name, value)
            assert getattr(config, name) == value


@pytest.mark.parametrize(
    ("name", "value"),
    [("async_level", 3), ("benchmark_kernel", 1), ("benchmark_kernel", 0),
     ("_compute_mode", "half"), ("winograd", 0), ("winograd", "off"),
     ("disable_memory_forwarding", True), ("deterministic_kernel", "yes")],
)  # fmt: skip
def test_settings_refuse_other_values(name, value):
    before = getattr(config, name)
    with pytest.raises(ValueError, match=f"{name}|async level"):
        setattr(config, name, value)
    assert getattr(config, name) == before


@pytest.mark.parametrize("name", ["anything", "set_async_level", "num_threads"])
def test_other_settings_are_an_error(name):
    with pytest.raises(AttributeError, match=f"config: name must be one .*, got '{name}'"):
        setattr(config, name, 1)


# Modes.

REFUSED = {
    "conv2d mode": (lambda: F.conv2d(*map(tessera.Tensor, IMAGES), conv_mode="convolution"),
                    "conv2d: conv_mode must be one of"),
    "conv2d compute": (lambda: F.conv2d(*map(tessera.Tensor, IMAGES), compute_mode="float16"),
                       "conv2d: compute_mode must be one of"),
    "conv1d mode": (lambda: F.conv1d(tensor(1, 2, 5), tensor(3, 2, 3), conv_mode="x"),
                    "conv1d: conv_mode must be one of"),
    "Conv1d": (lambda: M.Conv1d(2, 3, 3, compute_mode="x")(tensor(1, 2, 5)),
               "conv1d: compute_mode must be one of"),
    "Conv2d": (lambda: M.Conv2d(4, 6, 3, conv_mode="convolution")(tessera.Tensor(IMAGES[0])),
               "conv2d: conv_mode must be one of"),
    "linear": (lambda: F.linear(tensor(2, 3), tensor(4, 3), compute_mode="x"),
               "linear: compute_mode must be one of"),
    "Linear": (lambda: M.Linear(3, 2, compute_mode="x")(tensor(2, 3)),
               "linear: compute_mode must be one of"),
    "matmul": (lambda: F.matmul(tensor(2, 3), tensor(3, 2), compute_mode="x"),
               "matmul: compute_mode must be one of"),
    "avg_pool2d": (lambda: F.avg_pool2d(tensor(1, 1, 4, 4), 2, mode="sum"),
                   "avg_pool2d: mode must be one of"),
    "permutation": (lambda: tessera.random.permutation(tensor(4), dtype="int64"),
                    "permutation: dtype must be that of the tensor"),
    "asarray": (lambda: tessera.asarray(tensor(2), device="gpu7"), "gpu7"),
    "allocated": (lambda: device.get_allocated_memory("gpu7"),
                  "get_allocated_memory: device must be one of"),
    "reserved": (lambda: device.get_reserved_memory("x"), "get_reserved_memory: device must be"),
    "peak": (lambda: device.get_max_allocated_memory("x"), "get_max_allocated_memory: device must"),
    "status": (lambda: device.get_mem_status_bytes("x"), "get_mem_status_bytes: device must be"),
    "reset": (lambda: device.reset_max_memory_stats("x"), "reset_max_memory_stats: device must be"),
    "timeout": (lambda: DataLoader(ArrayDataset(np.zeros(4)), timeout=-3),
                "DataLoader: timeout must be >= 0, got -3"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_is_refused(what):
    call, text = REFUSED[what]
    with pytest.raises(ValueError, match=text):
        call()


def test_modes_that_hold():
    x, w = map(tessera.Tensor, IMAGES)
    assert same_bits(F.conv2d(x, w, compute_mode="float32"), F.conv2d(x, w))
    assert same_bits(F.matmul(x, x, compute_mode="float32"), F.matmul(x, x))
    assert device.get_allocated_memory("cpu0") > 0 and tessera.asarray(x, device="cpu0") is x


@pytest.mark.parametrize(
    "function",
    [
        lambda x, bias: F.layer_norm(x, 4, True, None, bias),
        lambda x, bias: F.general_norm(x, 1, True, None, bias),
        lambda x, bias: F.group_norm(x, 2, True, None, bias),
        lambda x, bias: F.instance_norm(x, True, None, bias),
    ],
)
def test_a_bias_is_never_taken_for_a_scale(function):
    with pytest.raises(TypeError, match="_norm: scale must be given where bias is, got none"):
        function(F.ones((2, 4)), F.ones(4))


def test_squeeze_takes_no_axes():
    x = F.ones((1, 2, 1))
    assert F.squeeze(x).shape == (2,) and F.squeeze(x, ()).shape == (1, 2, 1)
    assert F.squeeze(x, []).shape == (1, 2, 1) and F.squeeze(x, (0,)).shape == (2, 1)


@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 1)])
def test_one_hot_of_one_class(shape):
    index = F.zeros(shape, dtype="int32")
    assert F.one_hot(index, 1).tolist() == np.ones((*shape, 1)).tolist()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_sign_of_nan_counts(dtype):
    x = np.copysign(np.array([np.nan, np.nan, 0, 0, 1], dtype), [-1, 1, -1, 1, -1])
    t = tessera.Tensor(x, dtype=dtype)
    assert F.signbit(t).tolist() == np.signbit(x).tolist()
    signs = np.signbit(F.copysign(tessera.Tensor(1.0, dtype=dtype), t).numpy())
    assert signs.tolist() == np.signbit(x).tolist()


def test_powers_and_logarithms_of_complex_numbers():
    base = np.array([1 + 2j, -1.5 + 0.5j, -2, 1j, 0, 0, 0.3 - 1e-3j])
    exponent = np.array([2, 0.5 - 1j, 3, 2, 2, 0, -2.5])
    x, y = tessera.tensor(base, dtype="complex128"), tessera.tensor(exponent, dtype="complex128")
    np.testing.assert_allclose((x**y).numpy(), base**exponent, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose((x**2).numpy(), base**2, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose((2**y).numpy(), 2**exponent, rtol=1e-12)
    np.testing.assert_allclose(F.log(x[:4]).numpy(), np.log(base[:4]), rtol=1e-12)
