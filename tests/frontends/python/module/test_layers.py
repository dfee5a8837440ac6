"""tessera.module: the layers, and initial values."""

import copy
import pickle

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import module as M  # noqa: N812
from tessera.autodiff import GradManager

from tests.support.helper import assert_close, check, floats


def tensor(*shape, seed=0):
    return tessera.Tensor(floats(*shape, seed=seed))


def test_linear():
    net = M.Linear(4, 3)
    x = floats(5, 4, seed=1)
    assert_close(net(tessera.Tensor(x)), x @ net.weight.numpy().T + net.bias.numpy())
    assert net.weight.numpy().std() > 0 and net.bias.tolist() == [0, 0, 0]


@pytest.mark.parametrize("groups", [1, 2])
def test_conv2d_shapes(groups):
    net = M.Conv2d(4, 6, (3, 2), stride=2, padding=1, groups=groups)
    expected = (6, 4, 3, 2) if groups == 1 else (2, 3, 2, 3, 2)
    assert tuple(net.weight.shape) == expected and tuple(net.bias.shape) == (1, 6, 1, 1)
    assert tuple(net(tensor(2, 4, 7, 7)).shape) == (2, 6, 4, 4)
    with pytest.raises(ValueError, match="Conv2d: groups must divide the channels, got 3"):
        M.Conv2d(4, 6, 3, groups=3)


def test_batch_norm_in_training_and_inference():
    net, x = M.BatchNorm2d(3), floats(4, 3, 5, 5, seed=2) * 3 + 1
    mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
    wide = x.astype(np.float64)
    expected = (wide - mean[:, None, None]) / np.sqrt(var[:, None, None] + 1e-5)
    assert_close(net(tessera.Tensor(x)), expected, rtol=1e-4, atol=1e-5)
    assert_close(net.running_mean, (0.1 * mean).reshape(1, 3, 1, 1), rtol=1e-5)
    net.eval()
    a = 1 / np.sqrt(net.running_var.numpy() + 1e-5)
    expected = (wide - net.running_mean.numpy()) * a
    assert_close(net(tessera.Tensor(x)), expected, rtol=1e-4, atol=1e-5)
    net.reset_running_stats()
    assert net.running_mean.numpy().max() == 0 and net.running_var.numpy().min() == 1


def test_batch_norm_frozen_or_without_statistics():
    x = tensor(4, 3, 5, 5)
    frozen = M.BatchNorm2d(3, freeze=True)
    frozen(x)
    assert frozen.running_mean.numpy().max() == 0
    free = M.BatchNorm2d(3, track_running_stats=False, affine=False).eval()
    assert abs(free(x).numpy().mean()) < 1e-5 and not list(free.tensors())


@pytest.mark.parametrize("shape", [(6, 3), (6, 3, 4)])
def test_batch_norm_1d(shape):
    x = floats(*shape)
    y = M.BatchNorm1d(3)(tessera.Tensor(x)).numpy()
    axes = (0,) if len(shape) == 2 else (0, 2)
    assert y.shape == shape and np.abs(y.mean(axes)).max() < 1e-6


def test_dropout_in_training_only():
    layer, x = M.Dropout(0.25), tessera.Tensor(np.ones(10_000, dtype=np.float32))
    kept = layer(x).numpy()
    assert set(np.unique(kept)) == {np.float32(0), np.float32(1 / 0.75)}
    assert abs((kept == 0).mean() - 0.25) < 0.02
    assert layer.eval()(x).tolist() == x.tolist()


@pytest.mark.parametrize(
    ("layer", "function"),
    [
        (M.ReLU(), F.relu),
        (M.Sigmoid(), F.sigmoid),
        (M.SiLU(), F.silu),
        (M.GELU(), F.gelu),
        (M.LeakyReLU(0.2), lambda x: F.leaky_relu(x, 0.2)),
        (M.Softmax(axis=1), lambda x: F.softmax(x, 1)),
        (M.Flatten(), lambda x: x.reshape(2, 12)),
        (M.Identity(), lambda x: x),
        (M.Elemwise("exp"), F.exp),
    ],
)
def test_layers_are_their_functions(layer, function):
    x = tensor(2, 3, 4)
    assert layer(x).tolist() == function(x).tolist()


def test_pooling_layers():
    x = tensor(1, 2, 4, 4)
    assert M.MaxPool2d(2)(x).tolist() == F.max_pool2d(x, 2).tolist()
    assert M.AvgPool2d(2, stride=1)(x).tolist() == F.avg_pool2d(x, 2, 1).tolist()
    assert_close(M.AdaptiveAvgPool2d(1)(x), x.numpy().mean((2, 3), keepdims=True), rtol=1e-5)
    y = M.AdaptiveAvgPool2d((3, 2))(x).numpy()
    assert y.shape == (1, 2, 3, 2)
    assert_close(y[0, 0, 1, 1], x.numpy()[0, 0, 1:3, 2:4].mean(), rtol=1e-5)


@pytest.mark.parametrize("groups", [1, 2])
def test_conv1d(groups):
    net = M.Conv1d(4, 6, 3, stride=2, padding=1, groups=groups)
    assert tuple(net.weight.shape) == ((6, 4, 3) if groups == 1 else (2, 3, 2, 3))
    x = tensor(2, 4, 9)
    expected = F.conv1d(x, net.weight.reshape(6, 4 // groups, 3), net.bias, 2, 1, 1, groups)
    assert net(x).tolist() == expected.tolist() and net(x).shape == (2, 6, 5)
    assert repr(net).startswith("Conv1d(4, 6, kernel_size=(3,), stride=(2,), padding=(1,)")


def test_padding_modes_of_convolutions():
    net, x = M.Conv2d(1, 1, 3, padding=1, padding_mode="reflect"), tensor(1, 1, 4, 4)
    wide = F.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), mode="reflect")
    assert net(x).tolist() == F.conv2d(wide, net.weight, net.bias).tolist()


NORMS = [
    (M.LayerNorm((4, 5)), (2, 3)),
    (M.LayerNorm(5), (3,)),
    (M.InstanceNorm(3), (2, 3)),
    (M.GroupNorm(1, 3), (1, 2, 3)),
    (M.GroupNorm(3, 3), (2, 3)),
]


@pytest.mark.parametrize(("net", "axes"), NORMS)
def test_norms_within_a_sample(net, axes):
    x = floats(2, 3, 4, 5) * 3 + 1
    wide = x.astype(np.float64)
    expected = wide - wide.mean(axes, keepdims=True)
    expected /= np.sqrt(wide.var(axes, keepdims=True) + 1e-5)
    assert_close(net(tessera.Tensor(x)), expected, rtol=1e-4, atol=1e-5)
    M.init.fill_(net.bias, 2)
    assert_close(net(tessera.Tensor(x)), expected + 2, rtol=1e-4, atol=1e-5)
    net.reset_parameters()
    assert net.bias.numpy().max() == 0 and not list(
        type(net)(*_sizes(net), affine=False).parameters()
    )


def _sizes(net):
    if isinstance(net, M.GroupNorm):
        return net.num_groups, net.num_channels
    return (getattr(net, "normalized_shape", None) or net.num_channels,)


def test_groups_must_divide_the_channels():
    with pytest.raises(
        ValueError, match="GroupNorm: num_groups must divide num_channels, got 2 and"
    ):
        M.GroupNorm(2, 3)


def test_embedding():
    rows = floats(4, 3)
    net = M.Embedding(4, 3, initial_weight=rows)
    assert_close(net(tessera.Tensor([[1, 3]])), rows[[[1, 3]]])
    with pytest.raises(ValueError, match=r"Embedding: initial_weight must have shape \(4, 2\)"):
        M.Embedding(4, 2, initial_weight=rows)
    again = M.Embedding.from_pretrained(tessera.Tensor(rows))
    assert again.freeze and np.array_equal(again.weight.numpy(), rows)
    with pytest.raises(
        ValueError, match=r"Embedding: embeddings must have 2 axes, got shape \(4,\)"
    ):
        M.Embedding.from_pretrained(rows[:, 0])
    for name in ("max_norm", "norm_type"):
        with pytest.raises(ValueError, match=f"Embedding: {name} must be None, got 1"):
            M.Embedding(4, 3, **{name: 1})
        with pytest.raises(ValueError, match=f"^embedding: {name} must be None, got 1$"):
            F.embedding(tessera.Tensor([0]), tessera.Tensor(rows), **{name: 1})
    assert F.embedding(tessera.Tensor([1]), tessera.Tensor(rows), None).shape == (1, 3)
    for freeze in (False, True):
        net = M.Embedding(4, 3, freeze=freeze)
        manager = GradManager().attach(net.parameters())
        with manager:
            manager.backward((net(tessera.Tensor([0])) * tensor(1, 3)).sum())
        assert (net.weight.grad is None) == freeze


def test_layers_with_what_follows_them():
    x, flat = tensor(4, 3, 6, 6), tensor(5, 3)
    for net in (M.ConvBn2d(3, 2, 3, padding=1, eps=1e-3), M.ConvBnRelu2d(3, 2, 3, 2, momentum=0.5)):
        expected = F.batch_norm(net.conv(x), training=True, eps=net.bn.eps)
        relu = F.relu(expected) if isinstance(net, M.ConvBnRelu2d) else expected
        assert net(x).tolist() == relu.tolist() and net.bn.running_mean.numpy().any()
    for net in (M.LinearBn1d(3, 2), M.LinearBnRelu1d(3, 2, bias=False)):
        got = net(flat).numpy()
        assert got.shape == (5, 2) and (got.min() >= 0) == isinstance(net, M.LinearBnRelu1d)
    plain, fused = M.Linear(3, 2), M.LinearRelu(3, 2)
    fused.load_state_dict(plain.state_dict())
    assert fused(flat).tolist() == F.relu(plain(flat)).tolist()
    plain, fused = M.Conv2d(3, 2, 3), M.ConvRelu2d(3, 2, 3)
    fused.load_state_dict(plain.state_dict())
    assert fused(x).tolist() == F.relu(plain(x)).tolist()


def test_prelu_pad_and_pixel_shuffle():
    x = tensor(2, 4, 3, 3)
    assert M.PReLU()(x).tolist() == F.prelu(x, 0.25).tolist()
    each = M.PReLU(4, 0.5)
    assert each.weight.shape == (1, 4, 1, 1) and each(x).tolist() == F.prelu(x, 0.5).tolist()
    widths = ((0, 0), (0, 0), (1, 0), (0, 2))
    assert M.Pad(widths, constant_val=3.0)(x).tolist() == F.pad(x, widths, "constant", 3.0).tolist()
    assert M.PixelShuffle(2)(x).shape == (2, 1, 6, 6)


def test_concat():
    a, b = tensor(2, 3, seed=1), tensor(2, 3, seed=2)
    assert M.Concat()([a, b], 1).shape == (2, 6)


ACTIVATIONS = [
    (M.ELU(), lambda x: np.where(x > 0, x, np.expm1(x))),
    (M.ELU(0.5), lambda x: np.where(x > 0, x, 0.5 * np.expm1(x))),
    (M.Mish(), lambda x: x * np.tanh(np.log1p(np.exp(x)))),
]


@pytest.mark.parametrize(("net", "oracle"), ACTIVATIONS)
def test_activations_of_several_functions(net, oracle):
    check(net, floats(4, 3, low=-5, high=5), oracle=oracle, rtol=1e-5, atol=1e-6)


def test_batch_norm_3d():
    net, x = M.BatchNorm3d(3), floats(4, 3, 2, 5, 6) * 3 + 1
    axes = (0, 2, 3, 4)
    wide = x.astype(np.float64)
    mean, var = (f(axes, keepdims=True) for f in (wide.mean, wide.var))
    assert_close(net(tessera.Tensor(x)), (wide - mean) / np.sqrt(var + 1e-5), rtol=1e-4, atol=1e-5)
    assert_close(net.running_mean.numpy().ravel(), 0.1 * mean.ravel(), rtol=1e-5)
    net.eval()
    running = [net.state_dict()[n].reshape(1, 3, 1, 1, 1) for n in ("running_mean", "running_var")]
    check(net, x, rtol=1e-4, atol=1e-5, dynamic=False,
          oracle=lambda x: (x - running[0]) / np.sqrt(running[1] + 1e-5))  # fmt: skip
    with pytest.raises(ValueError, match="BatchNorm3d: expected 5D input, got 4D input"):
        net(tensor(4, 3, 2, 5))


def test_rms_norm():
    for net, axes in ((M.RMSNorm(5), (-1,)), (M.RMSNorm((4, 5)), (-2, -1))):
        net.load_state_dict({"weight": floats(*net.weight.shape, seed=4)})

        def oracle(x, net=net, axes=axes):
            return x / np.sqrt((x * x).mean(axes, keepdims=True) + 1e-5) * net.weight.numpy()

        check(net, floats(3, 4, 5), oracle=oracle, rtol=1e-4, atol=1e-5)
        net.reset_parameters()
        assert net.weight.numpy().min() == 1
    assert not list(M.RMSNorm(5, affine=False).tensors())


@pytest.mark.parametrize("axes", [1, (1, 2), (2, 0), (-1,)])
def test_general_norm(axes):
    x, tupled = floats(2, 3, 4), (axes,) if isinstance(axes, int) else axes
    shape = tuple(x.shape[axis] for axis in tupled)
    net = M.GeneralNorm(shape, axes)
    net.load_state_dict({"weight": floats(*shape, seed=1), "bias": floats(*shape, seed=2)})

    def oracle(x):
        centred = x - x.mean(tupled, keepdims=True)
        out = centred / np.sqrt(x.var(tupled, keepdims=True) + 1e-5)
        places = [slice(None) if i in [a % 3 for a in tupled] else None for i in range(3)]
        order = np.argsort([a % 3 for a in tupled])
        weight, bias = (p.numpy().transpose(order)[tuple(places)] for p in (net.weight, net.bias))
        return out * weight + bias

    check(net, x, oracle=oracle, rtol=1e-4, atol=1e-5, dynamic=False)


@pytest.mark.parametrize("axes", [(1, 1), (0,)])
def test_general_norm_checks_its_axes(axes):
    with pytest.raises(ValueError, match="GeneralNorm: normalized_axis must be different axes"):
        M.GeneralNorm((3, 3), axes)
    for wrong in ((3, 0), (-1, 2)):
        with pytest.raises(ValueError, match="general_norm: (normalized_shape must|axes must be)"):
            M.GeneralNorm((3, 3), wrong)(tensor(3, 3, 3))


def windows(x, size, stride, padding, value):
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding)), constant_values=value)
    count = (x.shape[-1] - size) // stride + 1
    return np.stack([x[..., i * stride : i * stride + size] for i in range(count)], axis=-2)


@pytest.mark.parametrize(("size", "stride", "padding"), [(2, None, 0), (3, 1, 1), (3, 2, 1)])
def test_pooling_of_sequences(size, stride, padding):
    x, step = floats(2, 3, 9), stride or size
    options = size, stride, padding
    check(M.MaxPool1d(*options), x,
          oracle=lambda x: windows(x, size, step, padding, -np.inf).max(-1))  # fmt: skip
    check(M.AvgPool1d(*options, mode="average"), x, rtol=1e-5,
          oracle=lambda x: windows(x, size, step, padding, 0).mean(-1))  # fmt: skip
    check(M.AvgPool1d(*options), x, rtol=1e-5,
          oracle=lambda x: np.nanmean(windows(x, size, step, padding, np.nan), -1))  # fmt: skip


@pytest.mark.parametrize("mode", ["IDENTITY", "RELU"])
@pytest.mark.parametrize("bias", [True, False])
def test_batch_matmul_activation(bias, mode):
    net, x = M.BatchMatMulActivation(3, 4, 2, bias, mode), floats(3, 4, 2)
    if bias:
        net.bias.set_value([1.0, -2.0])

    def oracle(x):
        out = net.weight.numpy() @ x + (net.bias.numpy() if bias else 0)
        return np.maximum(out, 0) if mode == "RELU" else out

    check(net, x, oracle=oracle, rtol=1e-5, atol=1e-6, dynamic=False)
    assert repr(net).startswith("BatchMatMulActivation(batch=3, in_features=4, out_features=2")
    with pytest.raises(ValueError, match="BatchMatMulActivation: nonlinear_mode must be one of"):
        M.BatchMatMulActivation(3, 4, 2, nonlinear_mode="GELU")


INITS = [
    (lambda t: M.init.xavier_uniform_(t), np.sqrt(2 / (300 + 200))),
    (lambda t: M.init.xavier_normal_(t), np.sqrt(2 / (300 + 200))),
    (lambda t: M.init.msra_uniform_(t), np.sqrt(2 / 200)),
    (lambda t: M.init.msra_normal_(t, mode="fan_out"), np.sqrt(2 / 300)),
    (lambda t: M.init.normal_(t, 0.0, 3.0), 3.0),
    (lambda t: M.init.uniform_(t, -1.0, 1.0), np.sqrt(1 / 3)),
]


@pytest.mark.parametrize(("fill", "std"), INITS)
def test_init(fill, std):
    weight = tessera.Parameter(np.zeros((300, 200), dtype=np.float32))
    fill(weight)
    values = weight.numpy()
    assert abs(values.std() / std - 1) < 0.02 and abs(values.mean()) < 0.02 * std


def test_init_arguments():
    assert M.init.calculate_gain("leaky_relu", 1) == 1
    assert M.init.calculate_fan_in_and_fan_out(tensor(6, 4, 3, 3)) == (36, 54)
    assert M.init.calculate_fan_in_and_fan_out(tensor(6, 4, 3, 3, 3)) == (108, 162)
    assert M.init.calculate_fan_in_and_fan_out(tensor(2, 3, 2, 3, 3, 3)) == (54, 81)
    with pytest.raises(ValueError, match="init: a tensor with fans must have 2 axes"):
        M.init.msra_normal_(tensor(3))
    with pytest.raises(ValueError, match="init: mode must be one of"):
        M.init.msra_normal_(tensor(3, 3), mode="fan")
    with pytest.raises(ValueError, match="calculate_gain: nonlinearity must be one of"):
        M.init.calculate_gain("no")


COPIES = [lambda net: net, copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))]


@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(("kind", "area"), [(M.Conv1d, 3), (M.Conv2d, 9), (M.Conv3d, 27)])
def test_fans_of_convolutions(kind, area, groups, copied):
    weight = copied(kind(4, 6, 3, groups=groups)).weight
    want = (4 // groups * area, 6 // groups * area)
    assert M.init.calculate_fan_in_and_fan_out(weight) == want


@pytest.mark.parametrize("shape", [(0, 3, 4, 4), (2, 3, 0, 4)])
def test_batch_norm_of_an_empty_batch_keeps_its_statistics(shape):
    """Means over nothing are NaN, and would stay in the running statistics."""
    layer = M.BatchNorm2d(3)
    layer(tessera.Tensor(floats(4, 3, 2, 2)))
    before = [layer.running_mean.numpy(), layer.running_var.numpy()]
    for call in (layer, tessera.jit.trace(layer, symbolic=True)):
        assert call(tessera.Tensor(np.zeros(shape, "float32"))).shape == shape
    for old, now in zip(before, (layer.running_mean, layer.running_var), strict=True):
        np.testing.assert_array_equal(old, now.numpy())
