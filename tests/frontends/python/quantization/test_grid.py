"""Fake-quantized tensors keep their grid where quantized ones keep their dtype, with equal bits."""

import copy

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
from tessera import jit
from tessera.autodiff import grad
from tessera.dtype import qint8, quint8
from tessera.module import qat
from tessera.quantization import FakeQuantize, QuantMode, create_qparams

from tests.support.helper import same_bits

X = np.random.RandomState(1).standard_normal((2, 4, 6, 8)).astype(np.float32)
GRIDS = {
    "symmetric": (qint8(0.02), create_qparams(dtype_meta="qint8", scale=tessera.tensor(0.02))),
    "zero point": (
        quint8(0.02, 90),
        create_qparams(
            QuantMode.ASYMMERTIC, "quint8", tessera.tensor(0.02), tessera.tensor(90, dtype="int32")
        ),
    ),
}
KEEPING = {
    "reshape": lambda x: x.reshape(2, -1),
    "flatten": lambda x: F.flatten(x, 1),
    "transpose": lambda x: F.transpose(x, (0, 2, 3, 1)),
    "subscript": lambda x: x[:, 1:, ::2],
    "expand_dims": lambda x: F.expand_dims(x, 0),
    "broadcast_to": lambda x: F.broadcast_to(x, (3, 2, 4, 6, 8)),
    "concat": lambda x: F.concat([x, x[::-1]], 1),
    "stack": lambda x: F.stack([x, x], 1),
    "split": lambda x: F.split(x, 2, 1)[1],
    "roll": lambda x: F.roll(x, 1, 2),
    "repeat": lambda x: F.repeat(x, 2, 3),
    "detach": lambda x: x.detach(),
    "relu": F.relu,
    "relu6": F.relu6,
    "clip": lambda x: F.clip(x, -0.5, 0.7),
    "max_pool2d": lambda x: F.max_pool2d(x, 3, 2, 1),
    "avg_pool2d": lambda x: F.avg_pool2d(x, 3, 2, 1),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, 2),
    "mean": lambda x: F.mean(x, (2, 3)),
    "interpolate": lambda x: F.vision.interpolate(x, scale_factor=2, align_corners=False),
    "several": lambda x: F.relu(F.avg_pool2d(x[:, 1:].reshape(2, 3, 8, 6), 2)).reshape(2, -1),
}
LOSING = {
    "add": lambda x: x + x,
    "two grids": lambda x: F.concat([x, FakeQuantize("qint8")(x, GRIDS["symmetric"][1])]),
    "numbers": lambda x: F.concat([x, tessera.tensor(X)]),
    "softmax": lambda x: F.softmax(x, -1),
    "dequant": lambda x: qat.DequantStub.from_float_module(M.DequantStub())(x),
}


def on_grid(name, x=X):
    dtype, qparams = GRIDS[name]
    x = x if isinstance(x, tessera.Tensor) else tessera.tensor(x)
    return FakeQuantize(qparams.dtype_meta)(x, qparams), dtype, qparams


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("name", KEEPING)
def test_the_grid_is_kept_as_the_dtype_is(name, grid):
    function = KEEPING[name]
    x, dtype, qparams = on_grid(grid)
    got, integers = function(x), function(tessera.tensor(X).astype(dtype))
    assert got.qparams == qparams and got.qparams is not x.qparams
    assert got.dtype == np.float32 and tessera.dtype.is_dtype_equal(integers.dtype, dtype)
    assert same_bits(got, integers.astype("float32"))
    traced = jit.trace(lambda x: function(on_grid(grid, x)[0]))
    assert all(same_bits(traced(tessera.tensor(X)), got) for _ in range(2))


@pytest.mark.parametrize("name", LOSING)
def test_the_grid_is_lost_where_numbers_leave_it(name):
    x, _, _ = on_grid("symmetric")
    assert LOSING[name](x).qparams.scale is None


def test_a_change_in_place_leaves_the_grid():
    x, _, _ = on_grid("symmetric")
    x += 0.001
    assert x[1:].qparams.scale is None
    x, _, _ = on_grid("symmetric")
    x[0] = 0.001
    assert F.flatten(x).qparams.scale is None


def test_copies_have_the_grid():
    x, _, qparams = on_grid("symmetric")
    for each in (copy.copy(x), copy.deepcopy(x), F.copy(x), x.detach()):
        assert each.qparams == qparams


def test_gradients_pass_through_what_is_rounded():
    def mean_of(x):
        return (F.avg_pool2d(on_grid("symmetric", x)[0], 2) * 3).sum()

    got = grad(mean_of)(tessera.tensor(X * 0.1)).numpy()
    np.testing.assert_allclose(got, np.full_like(got, 0.75), rtol=1e-6)
