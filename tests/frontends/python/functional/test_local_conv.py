"""Windows of images, and convolutions that depend on the place: what is written by hand."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera import module as M  # noqa: N812

from tests.support.helper import assert_close, floats, same_bits


def test_sliding_windows_and_back():
    x = np.arange(30, dtype=np.float32).reshape(1, 1, 5, 6)
    windows = F.sliding_window(x, 3)
    assert windows.shape == (1, 1, 3, 4, 3, 3)
    np.testing.assert_array_equal(windows[0, 0, 1, 2], x[0, 0, 1:4, 2:5])
    counts = F.sliding_window_transpose(F.ones((1, 1, 3, 4, 3, 3)), (5, 6), 3)
    sums = F.sliding_window_transpose(windows, (5, 6), 3)
    np.testing.assert_array_equal(sums.numpy(), x * counts.numpy())


def test_one_weight_for_all_places_is_a_convolution():
    x, weight, bias = floats(2, 4, 6, 5), floats(6, 2, 3, 2, seed=1), floats(1, 6, 3, 3, seed=2)
    everywhere = np.transpose(weight.reshape(2, 3, 2, 3, 2), (0, 2, 3, 4, 1))[:, None, None]
    local = np.broadcast_to(everywhere, (2, 3, 3, *everywhere.shape[3:]))
    wanted = F.conv2d(x, weight, None, (2, 2), (1, 1), groups=2) + bias
    assert_close(F.local_conv2d(x, local, bias, 2, 1), wanted.numpy(), 1e-5, 1e-5)


def test_one_region_and_no_moves_are_a_convolution():
    x, weight, bias = floats(2, 4, 6, 5), floats(2, 3, 2, 3, 2, seed=1), floats(1, 6, 1, 1, seed=2)
    wanted = F.conv2d(x, weight, bias, 2, 1, groups=2).numpy()
    regions = np.zeros((2, 6, 5), np.int32), np.zeros(wanted[:, 0].shape, np.int32)
    restricted = F.region_restricted_conv(x, weight, *regions, bias, 2, 1, groups=2)
    assert_close(restricted, wanted, 1e-5, 1e-5)
    moves = np.zeros((2, 24, *wanted.shape[2:])), np.ones((2, 12, *wanted.shape[2:]))
    assert_close(F.deformable_conv2d(x, weight, *moves, bias, 2, 1, groups=2), wanted, 1e-5, 1e-5)


def test_nothing_beside_a_region_counts():
    x, weight = np.ones((1, 1, 1, 4), np.float32), np.ones((1, 1, 1, 3), np.float32)
    regions = np.array([[[0, 0, 7, 0]]], np.int32)
    out = F.region_restricted_conv(x, weight, regions, regions, padding=(0, 1))
    assert out.tolist() == [[[[2, 2, 1, 1]]]]


def test_bins_that_do_not_move():
    x, rois = np.ones((1, 2, 8, 8), np.float32), np.float32([[0, 1, 1, 5, 5], [0, 30, 30, 40, 40]])
    trans = floats(2, 2, 3, 3)
    still = F.deformable_psroi_pooling(x, rois, trans, True, 3, 2, 2, 4, 1.0)
    np.testing.assert_array_equal(still[0], np.ones((2, 2, 2)))
    np.testing.assert_array_equal(still[1], np.zeros((2, 2, 2)))  # nothing of it is in the image
    with pytest.raises(ValueError, match="part_size must be the last size of trans, got 4"):
        F.deformable_psroi_pooling(x, rois, trans, False, 4, 2, 2, 4, 1.0)


def images_and_regions(*shape):
    regions = np.arange(np.prod(shape)).reshape(shape) % 3
    images = tessera.Tensor(floats(shape[0], 3, *shape[1:]))
    return images, tessera.Tensor(regions, dtype="int32")


def test_free_heights_and_widths(tmp_path):
    """One program for every size of images."""
    weight = tessera.Tensor(floats(4, 3, 2, 3))

    def change(x, regions):
        out = F.region_restricted_conv(x, weight, regions, regions, padding=1, dilation=(2, 1))
        return out, F.sliding_window(x, (2, 1), stride=2)

    traced = jit.trace(change, capture_as_const=True)
    traced(*images_and_regions(2, 5, 6))
    sizes = [jit.Dim("n", 1, 8), jit.Dim("h", 3, 64), jit.Dim("w", 3, 64)]
    dims = {"x": {0: sizes[0], 2: sizes[1], 3: sizes[2]}, "regions": dict(enumerate(sizes))}
    traced.dump(tmp_path / "f.tess", arg_names=["x", "regions"], dims=dims, targets=[])
    program = jit.load(tmp_path / "f.tess")
    for shape in ((2, 5, 6), (1, 9, 4), (3, 3, 3)):
        assert same_bits(program(*images_and_regions(*shape)), change(*images_and_regions(*shape)))


@pytest.mark.parametrize(
    ("module", "shapes"),
    [
        (M.LocalConv2d(4, 6, 8, 7, 3, 2, 1, groups=2), {"weight": (2, 4, 4, 2, 3, 3, 3)}),
        (
            M.RegionRestrictedConv(4, 6, 3),
            {"bias": (1, 6, 1, 1), "weight": (1, 6, 4, 3, 3)},
        ),
        (M.DeformableConv2d(4, 6, 3, bias=False), {"weight": (6, 4, 3, 3)}),
    ],
)
def test_weights_have_megengines_shapes(module, shapes):
    assert {name: value.shape for name, value in module.state_dict().items()} == shapes


def test_a_group_of_processes_must_be_this_one():
    with pytest.raises(ValueError, match="SyncBatchNorm: group must be None in one process, got 3"):
        M.SyncBatchNorm(2, group=3)
    x = floats(4, 2, 3, 3)
    with pytest.raises(ValueError, match="sync_batch_norm: group must be None in one process, got"):
        F.nn.sync_batch_norm(x, None, None, group=3)
    with pytest.raises(ValueError, match="sync_batch_norm: eps_mode must be one of"):
        F.nn.sync_batch_norm(x, None, None, eps_mode="max")


def test_the_batch_of_one_process_is_its_own():
    x = floats(4, 2, 3, 3)
    means = [tessera.Tensor(np.zeros((1, 2, 1, 1), "float32")) for _ in range(2)]
    spreads = [tessera.Tensor(np.ones((1, 2, 1, 1), "float32")) for _ in range(2)]
    got = F.nn.sync_batch_norm(x, means[0], spreads[0], training=True)
    wanted = F.batch_norm(x, means[1], spreads[1], training=True)
    assert same_bits(got, wanted) and same_bits(means[0], means[1])
    assert same_bits(spreads[0], spreads[1]) and means[0].numpy().any()
