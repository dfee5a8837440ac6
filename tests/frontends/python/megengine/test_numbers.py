"""Integers where floats are usual, windows of pooling, names of parameters: as MegEngine has them.

Expected numbers are those that MegEngine 1.13 gave.
"""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
from tessera.jit import trace

INTS = [1, -2, 3]


def both(function, *args):
    """The result, which a traced call gives, too."""
    eager = function(*args)
    traced = trace(function)
    for _ in range(3):
        again = traced(*args)
    assert again.dtype == eager.dtype and again.tolist() == eager.tolist()
    return eager


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_windows_of_adaptive_pooling_have_one_size(axes):
    """Of 5 elements 3 windows: distance floor(5 / 3), size 5 - 2 * 1; PyTorch's have 2, 3, 2."""
    shape, sizes = (1, 1) + (1,) * (axes - 1) + (5,), (1,) * (axes - 1) + (3,)
    x = tessera.tensor(np.arange(5, dtype=np.float32).reshape(shape))
    sizes = sizes[0] if axes == 1 else sizes
    average, largest = (getattr(F, f"adaptive_{kind}_pool{axes}d") for kind in ("avg", "max"))
    assert both(lambda x: average(x, sizes), x).numpy().ravel().tolist() == [1, 2, 3]
    assert both(lambda x: largest(x, sizes), x).numpy().ravel().tolist() == [2, 3, 4]
    assert average(x, sizes, uneven=True).numpy().ravel().tolist() == [0.5, 2, 3.5]
    assert largest(x, sizes, uneven=True).numpy().ravel().tolist() == [1, 3, 4]


def test_adaptive_pooling_takes_no_more_windows_than_elements():
    x = F.ones((1, 1, 2, 4))
    for module in (M.AdaptiveAvgPool2d((3, 2)), M.AdaptiveMaxPool2d((3, 2))):
        with pytest.raises(ValueError, match="output_size must not be above the sizes of x, got"):
            module(x)
    assert F.adaptive_avg_pool2d(x, (3, 2), uneven=True).shape == (1, 1, 3, 2)


@pytest.mark.parametrize("dtype", ["int32", "uint8", "int64", "bool"])
def test_integers_are_finite_numbers(dtype):
    x = tessera.tensor([1, 0, 3]).astype(dtype)
    assert both(F.isnan, x).tolist() == both(F.isinf, x).tolist() == [False] * 3
    assert both(F.isfinite, x).tolist() == [True] * 3


def test_integers_stay_integers():
    x = tessera.tensor(INTS)
    for function in (F.relu, F.relu6):
        out = both(function, x)
        assert out.dtype == "int32" and out.tolist() == [1, 0, 3]
    steps = F.linspace(0, 5, 3, dtype="int32")
    assert steps.dtype == "int32" and steps.tolist() == [0, 2, 5]


@pytest.mark.parametrize("dtype", ["int32", "uint8"])
def test_windows_of_integers(dtype):
    x = tessera.tensor(np.arange(16).reshape(1, 1, 4, 4).astype(dtype))
    windows = both(lambda x: F.nn.sliding_window(x, 2, stride=2), x)
    assert windows.dtype == dtype
    assert windows[0, 0, :, :, 0, 1].tolist() == [[1, 3], [9, 11]]
    back = both(lambda w: F.nn.sliding_window_transpose(w, (4, 4), 2, stride=2), windows)
    assert back.dtype == dtype and back.tolist() == x.tolist()


@pytest.mark.parametrize("labels", [[0.0, 1.0], [0.6, 1.7]])
def test_labels_must_not_be_floats(labels):
    scores = tessera.tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
    with pytest.raises(TypeError, match="cross_entropy: label must be i32 or i64, got f32"):
        F.loss.cross_entropy(scores, tessera.tensor(labels))
    loss = both(F.loss.cross_entropy, scores, tessera.tensor(labels).astype("int32"))
    np.testing.assert_allclose(loss.item(), 1.9076059, rtol=1e-6)


def test_names_of_parameters():
    x = tessera.tensor([[1.0, 5.0], [3.0, 7.0]])
    assert F.sign(x=x).tolist() == [[1, 1], [1, 1]]
    assert F.general_norm(x, (1,), eps=0.0).tolist() == [[-1, 1], [-1, 1]]
    assert x.set_value(value=[[0, 0], [0, 0]]) is x and x.tolist() == [[0, 0], [0, 0]]
    assert M.ReLU()(x=x).shape == M.LinearRelu(2, 3)(inp=x)[:, :2].shape == (2, 2)
    with pytest.raises(TypeError, match="set_value"):
        x.set_value()
    with pytest.raises(TypeError, match="cummin: axis must be an int, got"):
        F.cummin(x, memoryview(b"1"))
    with pytest.raises(ValueError, match="general_norm: normalized_axis must name an axis, got"):
        F.general_norm(x, ())


def test_what_megengine_refuses_is_refused():
    for name in ("add_bias_kv", "add_zero_attn"):
        with pytest.raises(ValueError, match="add_bias_kv and add_zero_attn must be False, got"):
            M.MultiHeadAttention(4, 2, **{name: True})
    x = F.ones((1, 2, 4))
    with pytest.raises(ValueError, match="maybe_cudnn_style_mask must be False, got True"):
        M.MultiHeadAttention(4, 2)(x, x, x, maybe_cudnn_style_mask=True)
    with pytest.raises(ValueError, match="RegionRestrictedConv: padding_mode must be one of"):
        M.RegionRestrictedConv(2, 2, 3, padding_mode="reflect")
