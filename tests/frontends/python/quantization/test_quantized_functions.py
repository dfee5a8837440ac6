"""Functions of quantized tensors against NumPy, by the steps of docs/reference/quantized.md."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
from tessera import DTypeError, jit
from tessera.dtype import get_scale, is_dtype_equal, qint8, qint8_narrow, qint32, quint8
from tessera.functional import quantized as Q  # noqa: N812

from tests.records.oracles import quantized as oracle
from tests.support.helper import same_bits

OUT = quint8(0.3, 100)
SIGNED, UNSIGNED = qint8(0.04), quint8(0.03, 117)


def numbers(*shape, seed=0, scale=1.0):
    random = np.random.RandomState(seed)
    return (random.standard_normal(shape) * scale).astype(np.float32)


def quantized(array, dtype):
    return tessera.tensor(array).astype(dtype)


def stored(x):
    return x.numpy().view(np.ndarray).astype(np.int64)


def steps(sums, scale, bias=None, residual=None, function=None, dtype=OUT):
    """Steps 2 to 6, of sums, scale and bias that broadcast."""
    if bias is not None:
        limit = oracle.BIAS_END
        sums = sums + np.clip(oracle.quantize(bias, scale, 0, "int32"), -limit, limit)
    y = sums.astype(np.float32) * scale
    y = y if residual is None else y + residual.astype("float32").numpy()
    y = y if function is None else function(tessera.tensor(y)).numpy()
    return tessera.tensor(y).astype(dtype)


def check(function, want, *operands):
    """The result eagerly, in a trace and from its program."""
    got = function(*operands)
    assert is_dtype_equal(got.dtype, want.dtype) and len(np.unique(want.numpy())) > 3
    assert same_bits(got, want)
    traced = jit.trace(function)
    assert all(same_bits(traced(*operands), want) for _ in range(2))


# Sums of products.

CONVS = {
    1: (dict(stride=2, padding=1), (2, 4, 9), (6, 2, 3), 2),
    2: (dict(padding=1), (2, 4, 5, 6), (6, 4, 3, 3), 1),
    3: (dict(dilation=2), (1, 2, 3, 5, 5), (3, 2, 1, 2, 2), 1),
}


def _each(value, axes):
    return [value] * axes


def _conv_case(axes, settings, x, weight, groups):
    """The exact sums."""
    geometry = [_each(settings.get(name, usual), axes)
                for name, usual in (("stride", 1), ("padding", 0), ("dilation", 1))]  # fmt: skip
    zero = 117 if x.dtype == np.uint8 else 0
    return oracle.integer_conv(stored(x), stored(weight), zero, *geometry, groups)


@pytest.mark.parametrize("dtype", [SIGNED, UNSIGNED], ids=["signed", "unsigned"])
@pytest.mark.parametrize("axes", CONVS)
def test_convolutions_take_the_steps_of_the_specification(axes, dtype):
    settings, x_shape, w_shape, groups = CONVS[axes]
    x = quantized(numbers(*x_shape), dtype)
    scales = np.linspace(0.01, 0.05, w_shape[0]).astype(np.float32)
    weight = quantized(numbers(*w_shape, seed=1), qint8_narrow(scales.tolist(), axis=0))
    bias = numbers(1, w_shape[0], *(1,) * axes, seed=2)
    scale = np.float32(get_scale(dtype)) * scales.reshape(-1, *(1,) * axes)
    sums = _conv_case(axes, settings, x, weight, groups)
    residual = quantized(numbers(*sums.shape, seed=3), qint8(0.02))
    want = steps(sums, scale, bias, residual, F.hswish)

    def function(x, weight, bias, residual):
        return getattr(Q, f"conv{axes}d")(
            x, weight, bias, OUT, **settings, groups=groups, nonlinear_mode="HSWISH",
            residual=residual,
        )  # fmt: skip

    check(function, want, x, weight, tessera.tensor(bias), residual)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_transposed_convolutions_take_the_steps(axes):
    x = quantized(numbers(2, 4, *(4,) * axes), UNSIGNED)
    weight = quantized(numbers(4, 3, *(3,) * axes, seed=1), qint8([0.01, 0.02, 0.03], axis=1))
    bias = numbers(1, 3, *(1,) * axes, seed=2)
    geometry = [_each(value, axes) for value in (2, 1, 1)]
    sums = oracle.integer_conv_transpose(stored(x), stored(weight), 117, *geometry, 1,
                                         _each(1, axes))  # fmt: skip
    scales = np.float32([0.01, 0.02, 0.03]).reshape(-1, *(1,) * axes)
    want = steps(sums, np.float32(0.03) * scales, bias)

    def function(x, weight, bias):
        return getattr(Q, f"conv_transpose{axes}d")(
            x, weight, bias, OUT, stride=2, padding=1, output_padding=1
        )

    check(function, want, x, weight, tessera.tensor(bias))


def test_linear_takes_the_steps():
    x = quantized(numbers(3, 2, 5), UNSIGNED)
    weight = quantized(numbers(7, 5, seed=1), qint8(0.02))
    bias = numbers(7, seed=2)
    sums = (stored(x) - 117) @ stored(weight).T
    scale = np.float32(0.03) * np.float32(0.02)
    want = steps(sums, scale, bias, function=F.relu, dtype=qint8(0.05))

    def function(x, weight, bias):
        return Q.linear(x, weight, bias, qint8(0.05), nonlinear_mode="relu")

    check(function, want, x, weight, tessera.tensor(bias))
    row = Q.linear(x[0, 0], weight, tessera.tensor(bias), qint8(0.05), "relu")
    assert same_bits(row, want[0, 0])


def test_matmul_takes_two_zero_points():
    x, y = quantized(numbers(4, 5, 3), UNSIGNED), quantized(numbers(6, 3, seed=1), quint8(0.02, 90))
    sums = (stored(x) - 117) @ (stored(y) - 90).T
    want = steps(sums, np.float32(0.03) * np.float32(0.02), dtype=qint8(0.05))
    check(lambda x, y: Q.matmul(x, y, qint8(0.05), transpose_b=True), want, x, y)


def test_a_bias_is_an_integer_before_it_is_added():
    x, weight = quantized(numbers(3, 5), SIGNED), quantized(numbers(2, 5, seed=1), qint8(0.02))
    scale = np.float32(0.04) * np.float32(0.02)
    for number in (scale * np.float32(0.5), 1e9, -1e9, np.nan):
        bias = np.float32([number, -number])
        want = steps(stored(x) @ stored(weight).T, scale, bias)
        assert same_bits(Q.linear(x, weight, tessera.tensor(bias), OUT), want)
    bias = quantized(numbers(2), qint32(float(scale)))
    assert same_bits(
        Q.linear(x, weight, bias, OUT), Q.linear(x, weight, bias.astype("float32"), OUT)
    )


def test_pads_stand_for_zero():
    x, weight = quantized(numbers(1, 2, 4, 4) + 3, UNSIGNED), quantized(
        numbers(3, 2, 2, 2, seed=1), qint8(0.02)
    )  # fmt: skip
    padded = F.pad(x.astype("float32"), ((0, 0), (0, 0), (0, 1), (0, 1))).astype(UNSIGNED)
    assert same_bits(
        Q.conv2d(x, weight, None, OUT, padding="same"), Q.conv2d(padded, weight, None, OUT)
    )


def test_a_weight_may_have_an_axis_of_groups():
    x, weight = quantized(numbers(1, 4, 4, 4), SIGNED), numbers(2, 3, 2, 2, 2, seed=1)
    flat = weight.reshape(6, 2, 2, 2)
    for dtype in (qint8(0.02), qint8([0.02, 0.03], axis=0)):
        if get_scale(dtype) != 0.02:
            with pytest.raises(ValueError, match="flatten: x must keep the axis of its channels"):
                Q.conv2d(x, quantized(weight, dtype), None, OUT, groups=2)
            continue
        got = Q.conv2d(x, quantized(weight, dtype), None, OUT, groups=2)
        assert same_bits(got, Q.conv2d(x, quantized(flat, dtype), None, OUT, groups=2))


def test_each_image_may_have_a_weight_of_its_own():
    x, weight = quantized(numbers(3, 2, 5, 5), UNSIGNED), quantized(
        numbers(3, 4, 2, 3, 3, seed=1), qint8(0.02)
    )  # fmt: skip
    bias = tessera.tensor(numbers(1, 4, 1, 1, seed=2))
    got = Q.batch_conv_bias_activation(x, weight, bias, OUT, padding=1, nonlinear_mode="RELU")
    each = [
        Q.conv_bias_activation(x[i : i + 1], weight[i], bias, OUT, padding=1, nonlinear_mode="relu")
        for i in range(3)
    ]
    assert same_bits(got, F.concat(each)) and got.shape == (3, 4, 5, 5)


# Other functions.

X, Y = (numbers(2, 3, 4, 4, seed=seed, scale=2.0) for seed in (0, 1))
ONE = {"QRELU": F.relu, "QSIGMOID": F.sigmoid, "QTANH": F.tanh, "QHSWISH": F.hswish, "QABS": F.abs,
       "QNEGATE": F.neg, "QEXP": F.exp, "QSILU": F.silu, "qgelu": F.gelu, "QH_SWISH": F.hswish,
       "QFAST_TANH": lambda x: x * (27 + x * x) / (27 + 9 * x * x)}  # fmt: skip
TWO = {"QADD": F.add, "QSUB": F.sub, "QMUL": F.mul, "QTRUE_DIV": F.div, "QMAX": F.maximum,
       "QMIN": F.minimum, "QFUSE_ADD_RELU": lambda x, y: F.relu(x + y),
       "QFUSE_ADD_SIGMOID": lambda x, y: F.sigmoid(x + y),
       "QFUSE_ADD_TANH": lambda x, y: F.tanh(x + y),
       "QFUSE_ADD_H_SWISH": lambda x, y: F.hswish(x + y)}  # fmt: skip


@pytest.mark.parametrize("mode", [*ONE, *TWO])
def test_elementwise_functions_are_those_of_floats(mode):
    operands = [quantized(X, SIGNED), quantized(Y, UNSIGNED)][: 1 if mode in ONE else 2]
    numbers_of = [each.astype("float32") for each in operands]
    want = {**ONE, **TWO}[mode](*numbers_of).astype(qint8(0.02))
    check(lambda *xs: Q.elemwise(mode, *xs, dtype=qint8(0.02)), want, *operands)


OTHERS = {
    "avg_pool2d": lambda x, f: f.avg_pool2d(x, 3, 2, 1),
    "max_pool2d": lambda x, f: f.max_pool2d(x, 3, 2, 1),
    "mean": lambda x, f: f.mean(x, [2, 3]),
    "pad": lambda x, f: f.pad(x, ((0, 0), (0, 0), (1, 2), (0, 1)), "reflect"),
    "pad with a number": lambda x, f: f.pad(x, ((1, 0),), constant_value=0.5),
    "interpolate": lambda x, f: f.interpolate(x, [7, 5]),
}


@pytest.mark.parametrize("dtype", [SIGNED, UNSIGNED], ids=["signed", "unsigned"])
@pytest.mark.parametrize("name", OTHERS)
def test_other_functions_are_those_of_floats(name, dtype):
    x = quantized(X, dtype)
    floats = F.vision if name == "interpolate" else F
    want = OTHERS[name](x.astype("float32"), floats).astype(dtype)
    check(lambda x: OTHERS[name](x, Q), want, x)


BETWEEN = {
    **{name: OTHERS[name] for name in ("avg_pool2d", "max_pool2d", "interpolate")},
    "adaptive_avg_pool2d": lambda x, f: f.adaptive_avg_pool2d(x, 2),
    "adaptive_max_pool2d": lambda x, f: f.adaptive_max_pool2d(x, 2),
    "max_pool1d": lambda x, f: f.max_pool1d(x[0], 2),
    "avg_pool3d": lambda x, f: f.avg_pool3d(F.expand_dims(x, 1), 2),
    "resize": lambda x, f: F.resize(x, [3, 3]),
    "module": lambda x, f: M.MaxPool2d(2)(x),
}


@pytest.mark.parametrize("name", BETWEEN)
def test_functions_between_layers_take_quantized_tensors(name):
    x = quantized(X, UNSIGNED)
    floats = F.vision if name == "interpolate" else F
    want = BETWEEN[name](x.astype("float32"), floats).astype(UNSIGNED)
    check(lambda x: BETWEEN[name](x, floats), want, x)


def test_other_tensors_are_refused_as_ever():
    with pytest.raises(DTypeError, match="max_pool2d: x must be a float, got i32"):
        F.max_pool2d(F.ones((1, 1, 4, 4), dtype="int32"), 2)
    with pytest.raises(
        DTypeError, match="max_pool2d: x must have one scale for all channels, got qint8@1"
    ):
        F.max_pool2d(quantized(X, qint8([1.0] * 3, axis=1)), 2)
    with pytest.raises(DTypeError, match="embedding: weight must be a float, got i32"):
        F.embedding(tessera.tensor([0]), F.ones((2, 2), dtype="int32"))


def test_moved_integers_stay_as_they_are():
    x = quantized(X, UNSIGNED)
    assert set(np.unique(stored(Q.max_pool2d(x, 2)))) <= set(np.unique(stored(x)))
    assert Q.pad(x, ((0, 0), (0, 0), (1, 0)))[0, 0, 0].tolist() == [117] * 4
    weight = quantized(numbers(5, 3), qint8([0.1, 0.2, 0.3], axis=1))
    rows = Q.embedding(tessera.tensor([[1, 4]]), weight)
    assert same_bits(rows, weight[tessera.tensor([[1, 4]])]) and rows.shape == (1, 2, 3)
    assert same_bits(F.embedding(tessera.tensor([[1, 4]]), weight), rows)


def test_results_may_have_another_dtype():
    x = quantized(X, UNSIGNED)
    want = F.mean(x.astype("float32"), 1).astype(qint8(0.01))
    assert same_bits(Q.mean(x, 1, dtype=qint8(0.01)), want)
    assert Q.requantize(x, UNSIGNED) is x
    assert same_bits(Q.requantize(x, SIGNED), x.astype("float32").astype(SIGNED))


def test_concat_moves_what_has_the_dtype_and_requantizes_the_rest():
    x, y = quantized(X, UNSIGNED), quantized(Y, SIGNED)
    got = Q.concat([x, y], 1)
    assert is_dtype_equal(got.dtype, UNSIGNED)
    assert same_bits(got[:, :3], x) and same_bits(got[:, 3:], Q.requantize(y, UNSIGNED))
    assert is_dtype_equal(Q.concat([x, y], dtype=OUT).dtype, OUT)


def test_a_program_of_a_file_gives_the_same(tmp_path):
    weight = quantized(numbers(6, 3, 3, 3, seed=1), qint8_narrow(0.02))

    @jit.trace(capture_as_const=True)
    def function(x):
        y = Q.conv_bias_activation(x, weight, None, OUT, padding=1, nonlinear_mode="relu")
        return Q.avg_pool2d(Q.elemwise("QADD", y, y, dtype=qint8(0.5)), 2)

    x = quantized(X, UNSIGNED)
    want = function(x)
    function.dump(tmp_path / "f.tess")
    assert same_bits(jit.load(tmp_path / "f.tess")(x), want)


# Refusals.

_X, _W = quantized(X, SIGNED), quantized(numbers(5, 3, 1, 1), qint8(0.02))
_FLOAT = tessera.tensor(X)
REFUSED = {
    "a float beside integers": (
        lambda: Q.conv2d(_FLOAT, _W, None, OUT),
        "conv2d: inp must be quantized, got float32[2, 3, 4, 4]",
    ),
    "integers beside a float": (
        lambda: Q.conv2d(_X, _FLOAT, None, OUT),
        "conv2d: weight must be quantized, got float32[2, 3, 4, 4]",
    ),
    "no dtype": (lambda: Q.conv2d(_X, _W), "conv2d: dtype must be quantized, got None"),
    "a float as result": (
        lambda: Q.conv2d(_X, _W, None, "float32"),
        "conv2d: dtype must be quantized, got float32",
    ),
    "scales of channels as result": (
        lambda: Q.conv2d(_X, _W, None, qint8([1.0, 2.0], axis=1)),
        "conv2d: dtype must have one scale, got qint8@1<1|2>",
    ),
    "scales of channels of the input": (
        lambda: Q.mean(quantized(X, qint8([1.0] * 3, axis=1)), 0),
        "mean: dtype must have one scale, got qint8@1<1|1|1>",
    ),
    "scales of channels that go in": (
        lambda: Q.linear(_X, quantized(numbers(5, 4), qint8([1.0] * 4, axis=1)), None, OUT),
        "linear: weight must have its scales along axis 0, got qint8@1<1|1|1|1>[5, 4]",
    ),
    "a zero point of a weight": (
        lambda: Q.linear(_X, quantized(numbers(5, 4), UNSIGNED), None, OUT),
        "linear: weight must have no zero point, got quint8<0.03:117>[5, 4]",
    ),
    "an integer as bias": (
        lambda: Q.linear(_X, quantized(numbers(5, 4), SIGNED), quantized(numbers(5), SIGNED), OUT),
        "linear: bias must be a float or qint32, got qint8<0.04>[5]",
    ),
    "a float as residual": (
        lambda: Q.conv2d(_X, _W, None, OUT, residual=_FLOAT),
        "conv2d: residual must be quantized, got float32[2, 3, 4, 4]",
    ),
    "a float operand": (
        lambda: Q.elemwise("QADD", _X, _FLOAT, dtype=OUT),
        "elemwise: each operand must be quantized, got float32[2, 3, 4, 4]",
    ),
    "a float in a concat": (
        lambda: Q.concat([_X, _FLOAT]),
        "concat: each of inps must be quantized, got float32[2, 3, 4, 4]",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_quantized_is_refused(name):
    function, message = REFUSED[name]
    with pytest.raises(DTypeError) as found:
        function()
    assert str(found.value) == message


def test_values_that_are_refused():
    with pytest.raises(ValueError, match="elemwise: mode must be one of .*, got 'QNONE'"):
        Q.elemwise("QNONE", _X, dtype=OUT)
    with pytest.raises(ValueError, match="conv2d: nonlinear_mode must be one of .*, got 'elu'"):
        Q.conv2d(_X, _W, None, OUT, nonlinear_mode="elu")
    with pytest.raises(ValueError, match="conv2d: bias must have 4 axes, .*, got float32"):
        Q.conv2d(_X, _W, tessera.tensor(numbers(5)), OUT)
    with pytest.raises(ValueError, match="groups must be 1, got 2"):
        Q.batch_conv_bias_activation(_X, _W, None, OUT, groups=2)
    with pytest.raises(TypeError, match="x must be of 8 bits, an integer or quantized, got qint32"):
        Q.linear(quantized(X, qint32(0.5)), quantized(numbers(5, 4), SIGNED), None, OUT)


@pytest.mark.parametrize("dtype, most", [(SIGNED, 65535), (UNSIGNED, 32896)], ids=["s", "u"])
def test_a_depth_with_a_bias_leaves_half_of_the_accumulator_to_it(dtype, most):
    bias = tessera.tensor([1.0])
    for depth in (most, most + 1):
        x, weight = (F.ones((1, depth)).astype(each) for each in (dtype, SIGNED))
        if depth == most:
            assert Q.linear(x, weight, bias, OUT).shape == (1, 1)
            continue
        message = f"linear: depth must leave half of int32 to the bias, got {depth}"
        with pytest.raises(ValueError, match=message):
            Q.linear(x, weight, bias, OUT)
