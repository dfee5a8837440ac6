"""Names and arguments as MegEngine's own tests use them."""

import io

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
from tessera import array_api as xp
from tessera.quantization import QuantMode, create_qparams

from tests.support.helper import floats, same_bits


@pytest.mark.parametrize("clockwise", [True, False])
def test_images_turn_by_rot90(clockwise):
    images = tessera.Tensor(floats(2, 3, 4, 3))
    wanted = np.rot90(images.numpy(), -1 if clockwise else 1, (1, 2))
    assert same_bits(F.vision.rot90(images, clockwise=clockwise), wanted)
    assert same_bits(F.vision.rot90(images, clockwise), wanted)
    assert same_bits(F.vision.rot90(images, 1, (1, 2)), np.rot90(images.numpy(), 1, (1, 2)))


@pytest.mark.parametrize("axes", [(0, 4), (-5, 1), (1, 1), (1, -3)])
def test_rot90_takes_two_axes_of_the_tensor(axes):
    with pytest.raises(ValueError, match="rot90: axes must be "):
        F.vision.rot90(F.ones((2, 3, 4, 3)), 1, axes)


def test_batch_norm_gives_what_it_has():
    x, mean, var = tessera.Tensor(floats(4, 3, 5, 2)), F.zeros((1, 3, 1, 1)), F.ones((1, 3, 1, 1))
    alone = F.batch_norm(x, training=True, inplace=False)
    assert same_bits(alone, F.batch_norm(x, training=True))
    out, new_mean, none = F.batch_norm(x, mean, training=True, inplace=False)
    assert same_bits(out, alone) and none is None and new_mean.tolist() != mean.tolist()
    assert F.batch_norm(x, None, var, training=True, inplace=False)[1] is None


class Halved(M.Linear):
    def calc_linear(self, x, weight, bias):
        return super().calc_linear(x, weight / 2, bias)


class HalvedConv(M.Conv2d):
    def calc_conv(self, inp, weight, bias):
        return super().calc_conv(inp, weight / 2, bias)


@pytest.mark.parametrize("mode", ["zeros", "reflect"])
def test_subclasses_change_the_weight_of_a_layer(mode):
    x = tessera.Tensor(floats(2, 3, 5, 5))
    layer = HalvedConv(3, 4, 3, padding=1, padding_mode=mode)
    plain = M.Conv2d(3, 4, 3, padding=1, padding_mode=mode)
    plain.load_state_dict({"weight": layer.weight / 2, "bias": layer.bias})
    assert same_bits(layer(x), plain(x))
    layer, plain = Halved(5, 2), M.Linear(5, 2)
    plain.load_state_dict({"weight": layer.weight / 2, "bias": layer.bias})
    assert same_bits(layer(x), plain(x))


@pytest.mark.parametrize("leading", [(), (2,), (2, 1, 2), (2, 1, 2, 2), (0, 1, 2, 3)])
def test_pixels_of_many_axes_are_shuffled(leading):
    x = floats(*leading, 8, 3, 2)
    wanted = x.reshape(*leading, 2, 2, 2, 3, 2)
    count = len(leading)
    order = [*range(count), count, count + 3, count + 1, count + 4, count + 2]
    wanted = wanted.transpose(order).reshape(*leading, 2, 6, 4)
    assert same_bits(F.pixel_shuffle(tessera.Tensor(x), 2), wanted)


@pytest.mark.parametrize("kind", [tessera.Tensor, tessera.Parameter])
@pytest.mark.parametrize("mode", [*QuantMode, None])
def test_saved_tensors_keep_their_qparams(kind, mode):
    x = kind([1.0, 2.0], name="x")
    x.qparams = create_qparams(mode, "qint8", tessera.tensor(0.5), tessera.tensor(3))
    file = io.BytesIO()
    tessera.save({"a": [x], "b": x}, file)
    file.seek(0)
    loaded = tessera.load(file)
    assert loaded["a"][0] is loaded["b"] and loaded["b"].name == "x"
    assert loaded["b"].qparams == x.qparams and type(loaded["b"]) is kind


def test_saved_tensors_without_qparams_have_none():
    file = io.BytesIO()
    tessera.save(tessera.Tensor([1.0]), file)
    assert b"qparams" not in file.getvalue()


def test_expand_dims_of_the_array_api():
    x = xp.ones((2, 3))
    assert xp.expand_dims(x, 1).shape == xp.expand_dims(x, axis=-2).shape == (2, 1, 3)
    for axis in (3, -4):
        with pytest.raises(IndexError, match=r"expand_dims: axis must be in \[-3, 2\], got"):
            xp.expand_dims(x, axis)


@pytest.mark.filterwarnings("ignore:trace")
def test_a_traced_bincount_counts_what_it_is_given():
    count = tessera.jit.trace(F.bincount)
    for numbers in ([1, 2, 2], [1, 2, 2], [1, 4, 2], [0]):
        assert count(tessera.tensor(numbers)).tolist() == np.bincount(numbers).tolist()
