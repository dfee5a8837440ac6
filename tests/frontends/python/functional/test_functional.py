"""tessera.functional: what is written by hand, against NumPy and SciPy, in every mode."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from scipy import signal, special

from tests.support.helper import assert_close, check, floats, numeric_gradient

REDUCTIONS = ["sum", "prod", "mean", "max", "min", "var", "std"]


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize(
    ("axis", "keepdims"), [(None, False), (1, True), (-1, False), ((0, 2), False)]
)
def test_reductions(name, axis, keepdims):
    function, numpys = getattr(F, name), getattr(np, name)
    check(
        lambda x: function(x, axis, keepdims),
        floats(3, 4, 5),
        oracle=lambda x: numpys(x, axis=axis, keepdims=keepdims),
        dynamic=axis == 1,
        rtol=1e-5,
    )


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "prod"])
def test_reduction_methods(name):
    x = floats(3, 4)
    assert_close(
        getattr(tessera.Tensor(x), name)(axis=1, keepdims=True), getattr(x, name)(1, keepdims=True)
    )


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_arg_reductions(name, axis):
    function, numpys = getattr(F, name), getattr(np, name)
    oracle = lambda x: numpys(x, axis=axis)  # noqa: E731
    check(lambda x: function(x, axis), floats(4, 6), oracle=oracle, dtype="int32")


@pytest.mark.parametrize("order", [None, 1, 2, 3, np.inf, -np.inf])
def test_norm(order):
    x = floats(4, 6)
    check(
        lambda t: F.norm(t, order, 1),
        x,
        oracle=lambda a: np.linalg.norm(a, order or 2, axis=1),
        rtol=1e-5,
    )
    assert_close(
        F.normalize(tessera.Tensor(x), axis=1), x / np.linalg.norm(x, axis=1, keepdims=True)
    )


def test_matmul_and_dot():
    a, b = floats(3, 4), floats(5, 4)
    check(
        lambda x, y: F.matmul(x, y, transpose_b=True),
        a,
        b,
        oracle=lambda x, y: x @ y.T,
        dynamic=False,
        rtol=1e-4,
    )
    u, v = floats(7), floats(7, seed=1)
    check(F.dot, u, v, oracle=np.dot, dynamic=False, rtol=1e-4)
    assert_close(tessera.Tensor(a) @ tessera.Tensor(b[0]), a @ b[0], rtol=1e-4)
    assert_close(tessera.Tensor(b[0]) @ tessera.Tensor(a.T), b[0] @ a.T, rtol=1e-4)


def conv(x, w, stride=1, padding=0, dilation=1, groups=1):
    """Convolution by SciPy's correlation of each pair of channels."""
    x = np.pad(x, ((0, 0), (0, 0), (padding,) * 2, (padding,) * 2))
    wide = np.zeros((*w.shape[:2], *((n - 1) * dilation + 1 for n in w.shape[2:])))
    wide[:, :, ::dilation, ::dilation] = w
    out, inner = w.shape[0] // groups, w.shape[1]
    rows = [
        sum(
            signal.correlate(image[o // out * inner + c], wide[o, c], "valid") for c in range(inner)
        )
        for image in x
        for o in range(w.shape[0])
    ]
    return np.array(rows).reshape(len(x), w.shape[0], *rows[0].shape)[:, :, ::stride, ::stride]


@pytest.mark.parametrize(
    "geometry", [{}, {"stride": 2, "padding": 1}, {"groups": 2, "dilation": 2}]
)
def test_conv1d(geometry):
    x, w, b = floats(2, 4, 9), floats(6, 4 // geometry.get("groups", 1), 3, seed=1), floats(1, 6, 1)
    got = F.conv1d(*map(tessera.Tensor, (x, w, b)), **geometry)
    wide = {key: value for key, value in geometry.items() if key != "padding"}
    padded = np.pad(x, ((0, 0), (0, 0), (geometry.get("padding", 0),) * 2)).astype(np.float64)
    stride = wide.pop("stride", 1)
    expected = conv(padded[:, :, None], w[:, :, None], **wide)[:, :, 0, ::stride] + b
    assert_close(got, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "geometry",
    [
        {},
        {"padding": 1},
        {"stride": 2},
        {"dilation": 2},
        {"groups": 2},
        {"stride": 2, "padding": 2, "groups": 2},
    ],
    ids=str,
)
def test_conv2d(geometry):
    groups = geometry.get("groups", 1)
    x, w, b = floats(3, 4, 9, 8), floats(6, 4 // groups, 3, 3, seed=1), floats(1, 6, 1, 1, seed=2)
    check(
        lambda t: F.conv2d(t, tessera.Tensor(w), tessera.Tensor(b), **geometry),
        x,
        oracle=lambda a: conv(a, w.astype(np.float64), **geometry) + b,
        rtol=1e-4,
        atol=1e-5,
    )


def test_conv2d_takes_a_grouped_weight():
    x, w = tessera.Tensor(floats(2, 4, 5, 5)), floats(2, 3, 2, 3, 3)
    grouped = F.conv2d(x, tessera.Tensor(w), groups=2)
    flat = F.conv2d(x, tessera.Tensor(w.reshape(6, 2, 3, 3)), groups=2)
    assert grouped.tolist() == flat.tolist()


def windows(x, kernel, stride, padding, fill):
    x = np.pad(x, ((0, 0), (0, 0), (padding,) * 2, (padding,) * 2), constant_values=fill)
    view = np.lib.stride_tricks.sliding_window_view(x, (kernel, kernel), (2, 3))
    return view[:, :, ::stride, ::stride]


@pytest.mark.parametrize(("kernel", "stride", "padding"), [(2, None, 0), (3, 2, 1), (2, 1, 0)])
def test_pooling(kernel, stride, padding):
    x, step = floats(3, 2, 7, 8), stride or kernel
    check(
        lambda t: F.max_pool2d(t, kernel, stride, padding),
        x,
        oracle=lambda a: windows(a, kernel, step, padding, -np.inf).max((4, 5)),
    )
    check(
        lambda t: F.avg_pool2d(t, kernel, stride, padding),
        x,
        rtol=1e-5,
        oracle=lambda a: np.nanmean(windows(a, kernel, step, padding, np.nan), (4, 5)),
    )
    check(
        lambda t: F.avg_pool2d(t, kernel, stride, padding, mode="average"),
        x,
        rtol=1e-5,
        oracle=lambda a: windows(a, kernel, step, padding, 0).mean((4, 5)),
    )


def test_batch_norm():
    x, w, b = floats(4, 3, 5, 2), floats(1, 3, 1, 1, seed=1), floats(1, 3, 1, 1, seed=2)
    mean, var = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
    tensors = [tessera.Tensor(v) for v in (mean, var, w, b)]
    expected = (x.astype(np.float64) - mean) / np.sqrt(var + 1e-5) * w + b
    check(
        lambda t: F.batch_norm(t, *tensors),
        x,
        oracle=lambda a: expected,
        rtol=1e-4,
        atol=1e-5,
        dynamic=False,
    )
    check(
        lambda t: F.batch_norm(t, weight=tensors[2], bias=tensors[3], training=True),
        x,
        oracle=lambda a: expected,
        rtol=1e-4,
        atol=1e-5,
        dynamic=False,
    )


def test_batch_norm_moves_its_statistics():
    x = tessera.Tensor(floats(4, 3, 5, 2))
    mean, var = F.zeros((1, 3, 1, 1)), F.ones((1, 3, 1, 1))
    F.batch_norm(x, mean, var, training=True, momentum=0.5)
    assert_close(mean, 0.5 * x.numpy().mean((0, 2, 3), keepdims=True), rtol=1e-5)
    before = mean.tolist()
    _, new, _ = F.batch_norm(x, mean, var, training=True, inplace=False)
    assert mean.tolist() == before and new.tolist() != before


@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 4), (2, 3, 4, 2)])
def test_softmax_axis(shape):
    x, axis = floats(*shape), 0 if len(shape) in (1, 3) else 1
    check(F.softmax, x, oracle=lambda a: special.softmax(a, axis), rtol=1e-5, dynamic=axis == 1)
    oracle = lambda a: special.log_softmax(a, -1)  # noqa: E731
    check(lambda t: F.logsoftmax(t, -1), x, oracle=oracle, rtol=1e-5, dynamic=len(shape) > 1)


@pytest.mark.parametrize("keepdims", [False, True])
def test_logsumexp(keepdims):
    x = floats(3, 4) * 50
    check(
        lambda t: F.logsumexp(t, 1, keepdims),
        x,
        rtol=1e-5,
        oracle=lambda a: special.logsumexp(a, axis=1, keepdims=keepdims),
    )


LOGITS, LABELS = floats(6, 4), np.array([0, 1, 2, 3, 1, 0], dtype=np.int32)


def cross_entropy(logits, smooth=0.0):
    log = special.log_softmax(logits, 1)
    target = np.eye(4)[LABELS] * (1 - smooth) + smooth / 4
    return -(target * log).sum(1)


@pytest.mark.parametrize("smooth", [0.0, 0.1])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_cross_entropy(smooth, reduction):
    reduce = {"mean": np.mean, "sum": np.sum, "none": lambda v: v}[reduction]
    settings, labels = {"label_smooth": smooth, "reduction": reduction}, tessera.Tensor(LABELS)
    oracle = lambda a: reduce(cross_entropy(a, smooth))  # noqa: E731
    call = lambda t: F.cross_entropy(t, labels, **settings)  # noqa: E731
    check(call, LOGITS, oracle=oracle, dynamic=False, rtol=1e-5)


def test_cross_entropy_of_probabilities():
    probabilities = special.softmax(LOGITS, 1)
    got = F.cross_entropy(tessera.Tensor(probabilities), tessera.Tensor(LABELS), with_logits=False)
    assert_close(got, cross_entropy(LOGITS).mean(), rtol=1e-5)


LOSSES = [
    (F.l1_loss, lambda p, t: np.abs(p - t).mean()),
    (F.square_loss, lambda p, t: ((p - t) ** 2).mean()),
    (F.binary_cross_entropy, lambda p, t: (np.logaddexp(0, p) - p * t).mean()),
    (F.hinge_loss, lambda p, t: np.maximum(1 - p * t, 0).sum(1).mean()),
    (
        lambda p, t: F.hinge_loss(p, t, "L2"),
        lambda p, t: (np.maximum(1 - p * t, 0) ** 2).sum(1).mean(),
    ),
]


@pytest.mark.parametrize(("function", "oracle"), LOSSES, ids=range(len(LOSSES)))
def test_losses_and_their_gradients(function, oracle):
    p, t = floats(4, 3), (floats(4, 3, seed=3) > 0).astype(np.float32)
    check(function, p, t, oracle=oracle, dynamic=False, rtol=1e-5)
    gradient = tessera.autodiff.grad(function)(tessera.Tensor(p), tessera.Tensor(t))
    assert_close(gradient, numeric_gradient(oracle, [p, t], 0), rtol=1e-4, atol=1e-5)


def test_binary_cross_entropy_of_probabilities():
    p, t = special.expit(floats(4, 3)), (floats(4, 3, seed=3) > 0).astype(np.float32)
    got = F.binary_cross_entropy(tessera.Tensor(p), tessera.Tensor(t), with_logits=False)
    assert_close(got, -(t * np.log(p) + (1 - t) * np.log(1 - p)).mean(), rtol=1e-5)
    with pytest.raises(ValueError, match="hinge_loss: reduction must be one of"):
        F.hinge_loss(tessera.Tensor(p), tessera.Tensor(t), reduction="no")


def test_dropout():
    x = tessera.Tensor(np.ones((200, 100), dtype=np.float32))
    y = F.dropout(x, 0.3).numpy()
    assert abs((y == 0).mean() - 0.3) < 0.02 and np.allclose(y[y > 0], 1 / 0.7)
    assert F.dropout(x, 0.3, training=False) is x and F.dropout(x, 0.0) is x


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (lambda: F.arange(5), np.arange(5, dtype=np.float32)),
        (lambda: F.arange(1, 7, 2, dtype="int32"), np.arange(1, 7, 2, dtype=np.int32)),
        (lambda: F.arange(5, 1, -1.5), np.arange(5, 1, -1.5, dtype=np.float32)),
        (lambda: F.arange(3, 1), np.zeros(0, np.float32)),
        (lambda: F.linspace(0, 1, 5), np.linspace(0, 1, 5, dtype=np.float32)),
        (lambda: F.eye(3), np.eye(3, dtype=np.float32)),
        (lambda: F.eye(2, 3, dtype="int32"), np.eye(2, 3, dtype=np.int32)),
        (lambda: F.full((2, 3), 7), np.full((2, 3), 7, np.int32)),
        (lambda: F.full((2,), 1.5), np.full(2, 1.5, np.float32)),
        (lambda: F.full((2,), True), np.full(2, True)),
        (lambda: F.full((2, 2), tessera.Tensor([1.0, 2.0])), np.float32([[1, 2], [1, 2]])),
        (lambda: F.full(3, 1.0, dtype="float64"), np.ones(3)),
        (lambda: F.zeros((2, 3)), np.zeros((2, 3), np.float32)),
        (lambda: F.ones(4, dtype="int8"), np.ones(4, np.int8)),
        (lambda: F.full_like(F.ones((2,), "int32"), 5), np.full(2, 5, np.int32)),
    ],
)
def test_creation(got, expected):
    tensor = got()
    assert tensor.dtype == expected.dtype.name and tuple(tensor.shape) == expected.shape
    assert_close(tensor, expected)


def test_joining_and_splitting():
    a, b = floats(2, 3), floats(2, 3, seed=1)
    check(lambda x, y: F.concat([x, y], 1), a, b, oracle=lambda x, y: np.concatenate([x, y], 1))
    check(lambda x, y: F.stack([x, y], 1), a, b, oracle=lambda x, y: np.stack([x, y], 1))
    x = floats(4, 6)
    check(lambda t: tuple(F.split(t, 3, 1)), x, oracle=lambda v: tuple(np.split(v, 3, 1)))
    check(lambda t: tuple(F.split(t, [1, 4], 1)), x, oracle=lambda v: tuple(np.split(v, [1, 4], 1)))


def test_views():
    x = floats(4, 3, 1, 2)
    check(lambda t: F.squeeze(t, 2), x, oracle=lambda v: v.squeeze(2))
    check(lambda t: F.flatten(t, 1), x, oracle=lambda v: v.reshape(4, -1))
    check(lambda t: F.swapaxes(t, 1, 3), x, oracle=lambda v: v.swapaxes(1, 3))
    oracle = lambda v: v[None, ..., None]  # noqa: E731
    check(lambda t: F.expand_dims(t, [0, -1]), x, oracle=oracle, dynamic=False)
    oracle = lambda v: v.transpose(3, 0, 2, 1)  # noqa: E731
    check(lambda t: F.transpose(t, (3, 0, 2, 1)), x, oracle=oracle, dynamic=False)
    oracle = lambda v: np.broadcast_to(v, (2, 4, 3))  # noqa: E731
    check(lambda t: F.broadcast_to(t, (2, 4, 3)), floats(3), oracle=oracle, dynamic=False)


def test_where_and_gather():
    a, b, mask = floats(4, 3), floats(4, 3, seed=1), floats(4, 3, seed=2) > 0
    check(F.where, mask, a, b, oracle=np.where)
    index = np.array([[0, 2], [1, 1], [2, 0], [0, 0]], dtype=np.int32)
    check(lambda x, i: F.gather(x, 1, i), a, index, oracle=lambda x, i: np.take_along_axis(x, i, 1))


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate"])
def test_pad(mode):
    numpys = {"constant": "constant", "reflect": "reflect", "replicate": "edge"}[mode]
    width = ((0, 0), (1, 2), (2, 1))
    check(
        lambda t: F.pad(t, width, mode), floats(3, 4, 5), oracle=lambda v: np.pad(v, width, numpys)
    )


def test_argsort_and_sort():
    x = floats(3, 5)
    check(F.argsort, x, oracle=lambda a: a.argsort(-1), dtype="int32")
    check(lambda t: F.argsort(t, descending=True), x, oracle=lambda a: (-a).argsort(-1))
    check(lambda t: F.sort(t)[0], x, oracle=lambda a: np.sort(a, -1))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_cross(axis):
    a, b = floats(3, 3), floats(3, 3, seed=1)
    check(lambda x, y: F.cross(x, y, axis=axis), a, b, dynamic=False, rtol=1e-4,
          oracle=lambda x, y: np.cross(x, y, axis=axis))  # fmt: skip
    with pytest.raises(ValueError, match="cross: vectors must have 2 or 3 elements"):
        F.cross(tessera.Tensor(floats(4)), tessera.Tensor(floats(4)))


@pytest.mark.parametrize("k", [0, 1, -2])
def test_diag(k):
    for x in (floats(4), floats(4, 5), floats(5, 3), np.float32([np.inf, 2, np.nan])):
        check(lambda t: F.diag(t, k), x, oracle=lambda a: np.diag(a, k), dynamic=False)


def test_meshgrid():
    x, y = floats(3), floats(2, seed=1)
    check(F.meshgrid, x, y, oracle=lambda a, b: tuple(np.meshgrid(a, b)), dynamic=False)


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_group_norm(groups):
    x, w, b = floats(3, 4, 5), floats(4, seed=1), floats(4, seed=2)

    def oracle(a):
        rows = a.reshape(3, groups, -1)
        rows = (rows - rows.mean(2, keepdims=True)) / np.sqrt(rows.var(2, keepdims=True) + 1e-5)
        return rows.reshape(3, 4, 5) * w[:, None] + b[:, None]

    weights = {"weight": tessera.Tensor(w), "bias": tessera.Tensor(b)}
    call = lambda t: F.group_norm(t, groups, **weights)  # noqa: E731
    check(call, x, oracle=oracle, rtol=1e-4, atol=1e-5, dynamic=False)
    if groups == 4:
        same = F.instance_norm(tessera.Tensor(x), **weights)
        assert same.tolist() == call(tessera.Tensor(x)).tolist()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_group_norm_rounds_once(dtype):
    """Of numbers whose squares float16 has not, with a scale that shows each rounding."""
    narrow = [tessera.Tensor(a, dtype=dtype) for a in (floats(3, 4, 5) * 300, floats(4), floats(4))]
    wide = [each.astype("float32") for each in narrow]
    got = F.group_norm(narrow[0], 2, weight=narrow[1], bias=narrow[2])
    expected = F.group_norm(wide[0], 2, weight=wide[1], bias=wide[2]).astype(dtype)
    assert got.dtype.name == dtype and got.tolist() == expected.tolist()
    mixed = F.group_norm(narrow[0], 2, weight=wide[1], bias=wide[2])
    assert mixed.tolist() == F.group_norm(wide[0], 2, weight=wide[1], bias=wide[2]).tolist()


def test_pixel_shuffle():
    x = floats(2, 8, 3, 4)
    oracle = lambda a: (  # noqa: E731
        a.reshape(2, 2, 2, 2, 3, 4).transpose(0, 1, 4, 2, 5, 3).reshape(2, 2, 6, 8)
    )
    check(lambda t: F.pixel_shuffle(t, 2), x, oracle=oracle, dynamic=False)
