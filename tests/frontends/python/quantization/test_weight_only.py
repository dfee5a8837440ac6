"""Layers whose weights alone are quantized: eager, traced, in files, as modules; gradients."""

import copy
import io
import pickle

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import tessera.traced_module as tm
from tessera import jit
from tessera.autodiff import GradManager
from tessera.module.quantized import WeightOnlyEmbedding, WeightOnlyLinear

from tests.support.helper import same_bits

CASES = [(8, 0), (8, 32), (4, 0), (4, 8), (4, 128)]
DTYPES = ["float32", "float16", "bfloat16"]
ACTIVATIONS = ["float", "int8"]


def _layer(bits, group, activations="float", depth=301, out=70):
    tessera.random.seed(3)
    layer = M.Linear(depth, out)
    layer.bias._reset(tessera.random.normal(size=(out,)))
    return layer, WeightOnlyLinear.from_float_module(layer, bits, group, activations)


def _rows(*shape, dtype="float32"):
    tessera.random.seed(5)
    return tessera.random.normal(size=shape).astype(dtype)


def _numbers(made, depth):
    """The integers of a weight, and the scale of each, by NumPy."""
    stored = made.weight.numpy().astype(np.int64)
    if made.bits == 4:
        halves = np.stack([stored & 15, stored >> 4 & 15], -1).reshape(len(stored), -1)[:, :depth]
        stored = np.where(halves < 8, halves, halves - 16)
    scale = made.scale.numpy()
    scale = np.repeat(scale, made.group, 1)[:, :depth] if made.group else scale[:, None]
    return stored, np.broadcast_to(scale, stored.shape)


@pytest.mark.parametrize("bits, group", CASES)
def test_numbers_are_rounded_to_the_largest_of_their_group(bits, group):
    layer, made = _layer(bits, group)
    weight, ends = layer.weight.numpy(), np.float32(127 if bits == 8 else 7)
    numbers, scale = _numbers(made, 301)
    size = group or 301
    padded = np.zeros((70, -(-301 // size) * size), np.float32)
    padded[:, :301] = weight
    largest = np.abs(padded.reshape(70, -1, size)).max(-1) / ends
    assert np.array_equal(made.scale.numpy().reshape(largest.shape), largest)
    ratio = (weight / scale).astype(np.float64)
    assert np.array_equal(numbers, np.sign(ratio) * np.floor(np.abs(ratio) + 0.5))
    assert np.abs(numbers).max() == ends


def _integers(x):
    """The integers of each row as float32, and the scales of rows, by NumPy."""
    largest = np.abs(x).max(-1, keepdims=True)
    scale = np.where(largest == 0, np.float32(1), largest / np.float32(127))
    ratio = (x / scale).astype(np.float64)
    return (np.sign(ratio) * np.floor(np.abs(ratio) + 0.5)).astype(np.float32), scale


@pytest.mark.parametrize("activations", ACTIVATIONS)
@pytest.mark.parametrize("bits, group", CASES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_eager_traced_and_dumped_give_the_same_bits(bits, group, dtype, activations, tmp_path):
    _, made = _layer(bits, group, activations)
    x = _rows(5, 301, dtype=dtype)
    want = made(x)
    assert want.dtype == x.dtype
    traced = jit.trace(made, capture_as_const=True)
    assert same_bits(traced(x), want) and same_bits(traced(x), want)
    traced.dump(tmp_path / "layer.tess", arg_names=["x"])
    assert same_bits(jit.load(tmp_path / "layer.tess")(x=x), want)
    assert same_bits(jit.trace(made)(x), want)


@pytest.mark.parametrize("activations", ACTIVATIONS)
@pytest.mark.parametrize("bits, group", CASES)
def test_a_row_has_its_bits_alone_and_whatever_axes_are_before(bits, group, activations):
    _, made = _layer(bits, group, activations)
    x = _rows(40, 301)
    want = made(x)
    assert all(same_bits(made(x[row]), want[row]) for row in (0, 7, 39))
    assert same_bits(made(x.reshape(2, 4, 5, 301)), want.reshape(2, 4, 5, 70))


@pytest.mark.parametrize("bits, group", CASES)
def test_sums_are_close_to_those_of_the_numbers(bits, group):
    layer, made = _layer(bits, group)
    x = _rows(9, 301)
    numbers, scale = _numbers(made, 301)
    weight = numbers * scale.astype(np.float64)
    want = x.numpy().astype(np.float64) @ weight.T + layer.bias.numpy()
    assert np.allclose(made(x).numpy(), want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("bits, group", [*CASES, (8, 256)])
@pytest.mark.parametrize("rows", [1, 9])
def test_rows_of_int8_have_the_bits_of_the_float_operator_on_their_integers(bits, group, rows):
    _, made = _layer(bits, group, "int8", depth=2301)
    x = _rows(rows, 2301)
    integers, scale = _integers(x.numpy())
    linear = F.quantized.weight_only_linear
    sums = linear(tessera.tensor(integers), made.weight, made.scale, None, bits, group)
    assert same_bits(made(x), sums * tessera.tensor(scale) + made.bias)


@pytest.mark.parametrize("bits, group", CASES)
def test_rows_of_int8_are_near_floats(bits, group):
    floats, made = _layer(bits, group)[1], _layer(bits, group, "int8")[1]
    x = _rows(9, 301)
    wanted = floats(x).numpy()
    assert np.abs(made(x).numpy() - wanted).max() < 0.02 * np.abs(wanted).max()


def test_rows_of_int8_that_are_not_finite():
    _, made = _layer(4, 32, "int8", depth=40)
    x = np.ones((4, 40), np.float32)
    x[0, 3], x[1, 2], x[2] = np.nan, np.inf, 0
    known = x[0].copy()
    known[3] = 0
    got = made(tessera.tensor(x))
    assert same_bits(got[0], made(tessera.tensor(known)))
    assert np.isnan(got[1].numpy()).all()
    assert same_bits(got[2], made.bias)


def test_a_layer_of_before_activations_could_be_chosen_has_floats():
    _, made = _layer(8, 0)
    want = made(_rows(2, 301))
    del made.activations
    assert same_bits(pickle.loads(pickle.dumps(made))(_rows(2, 301)), want)


@pytest.mark.parametrize("activations", ACTIVATIONS)
@pytest.mark.parametrize("bits, group", CASES)
def test_x_and_bias_have_gradients(bits, group, activations):
    _, made = _layer(bits, group, activations)
    x, dout = _rows(2, 3, 301), _rows(2, 3, 70)
    with GradManager().attach([x, made.bias]) as gm:
        gm.backward(made(x), dout)
    numbers, scale = _numbers(made, 301)
    assert np.allclose(x.grad.numpy(), dout.numpy() @ (numbers * scale), rtol=1e-4, atol=1e-4)
    assert np.allclose(made.bias.grad.numpy(), dout.numpy().sum((0, 1)), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("activations", ACTIVATIONS)
def test_a_layer_is_kept_in_states_copies_and_files(activations):
    _, made = _layer(4, 32, activations)
    x = _rows(3, 301)
    want = made(x)
    assert list(made.state_dict()) == ["bias", "scale", "weight"]
    other = WeightOnlyLinear(301, 70, bits=4, group=32, activations=activations)
    other.load_state_dict(made.state_dict())
    traced = tm.trace_module(made, x)
    file = io.BytesIO()
    tessera.save(traced, file)
    file.seek(0)
    for each in (other, copy.deepcopy(made), pickle.loads(pickle.dumps(made)), traced,
                 tessera.load(file)):  # fmt: skip
        assert same_bits(each(x), want)


def test_a_layer_shares_nothing_and_takes_the_settings():
    layer, made = _layer(8, 0)
    want = made(_rows(2, 301))
    layer.weight *= 0
    layer.bias += 1
    assert same_bits(made(_rows(2, 301)), want)
    layer.eval()
    assert not WeightOnlyLinear.from_float_module(layer).training
    assert WeightOnlyLinear.from_float_module(M.Linear(4, 2, bias=False)).bias is None


def test_a_channel_of_zeros_stays_one():
    layer = M.Linear(40, 3, bias=False)
    layer.weight._reset(F.zeros((3, 40)))
    made = WeightOnlyLinear.from_float_module(layer, 4, 16)
    assert made.scale.numpy().min() == 1 and not made(_rows(2, 40)).numpy().any()


@pytest.mark.parametrize("bits, group", CASES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_an_embedding_gives_numbers_times_scales(bits, group, dtype):
    table = M.Embedding(11, 37)
    made = WeightOnlyEmbedding.from_float_module(table, bits, group, dtype)
    numbers, scale = _numbers(made, 37)
    index = tessera.tensor([[3, 0], [10, 3]], dtype="int32")
    want = tessera.tensor((numbers.astype(np.float32) * scale)[index.numpy()]).astype(dtype)
    assert same_bits(made(index), want)
    assert same_bits(jit.trace(made, capture_as_const=True)(index), want)


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda: WeightOnlyLinear(4, 2, bits=5), "bits must be 4 or 8, got 5"),
        (lambda: WeightOnlyLinear(4, 2, group=24), r"group must be one of \[0, 8, .*, got 24"),
        (lambda: WeightOnlyLinear(4, 2, activations="int4"), "activations must be one of .*'int4'"),
        (lambda: WeightOnlyEmbedding(4, 2, dtype="float64"), "dtype must be one of"),
    ],
)
def test_refusals(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_a_weight_that_is_not_finite_is_refused():
    layer = M.Linear(4, 2)
    layer.weight._reset(F.full((2, 4), float("inf")))
    with pytest.raises(ValueError, match="WeightOnlyLinear: weight must be finite"):
        WeightOnlyLinear.from_float_module(layer)


@pytest.mark.parametrize("kind", [WeightOnlyLinear, WeightOnlyEmbedding])
def test_another_layer_is_refused(kind):
    with pytest.raises(TypeError, match="from_float_module: layer must be of .*, got Conv2d"):
        kind.from_float_module(M.Conv2d(1, 1, 1))
