"""tessera.functional.vision: what is written by hand, against OpenCV and MegEngine's examples."""

import contextlib

import cv2
import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit

from tests.support.helper import assert_close, assert_same_everywhere, floats, same_bits

V = F.vision
CV_BORDERS = {
    "replicate": cv2.BORDER_REPLICATE,
    "reflect": cv2.BORDER_REFLECT,
    "reflect_101": cv2.BORDER_REFLECT_101,
    "wrap": cv2.BORDER_WRAP,
    "constant": cv2.BORDER_CONSTANT,
}
CV_MODES = {"nearest": cv2.INTER_NEAREST, "linear": cv2.INTER_LINEAR, "bicubic": cv2.INTER_CUBIC}


def image(*shape, seed=0):
    return np.random.RandomState(seed).randint(0, 256, shape).astype(np.uint8)


@pytest.mark.parametrize("mode", ["linear", "bicubic"])
@pytest.mark.parametrize("size", [(3, 5), (17, 8), (6, 20)])
def test_interpolate_gives_opencvs_pixels(mode, size):
    x = floats(8, 11)
    wanted = cv2.resize(x, size[::-1], interpolation=CV_MODES[mode])
    name = "bilinear" if mode == "linear" else mode
    assert_close(V.interpolate(tessera.Tensor(x[None, None]), size, mode=name)[0, 0], wanted, 1e-4)


def test_a_scale_factor_multiplies_sizes_downwards():
    x = tessera.Tensor(floats(1, 2, 4, 6))
    assert V.interpolate(x, scale_factor=2).shape == (1, 2, 8, 12)
    assert V.interpolate(x, scale_factor=(0.6, 1.5), mode="nearest").shape == (1, 2, 2, 9)
    sequence = V.interpolate(x[:, :, 0], scale_factor=1.5, mode="linear", align_corners=True)
    assert sequence.shape == (1, 2, 9)
    assert_close(sequence[0, 0, 0], x[0, 0, 0, 0].numpy())
    assert_close(sequence[0, 0, -1], x[0, 0, 0, -1].numpy())
    assert V.interpolate(x[:, :, None], 3, mode="trilinear").shape == (1, 2, 3, 3, 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mode": "area"}, "interpolate: mode must be one of .*, got 'area'"),
        ({"size": 2, "mode": "linear"}, r"interpolate: inp must have 3 axes where mode is linear"),
        ({"size": 2, "mode": "bicubic", "align_corners": False}, "align_corners must be None"),
        ({}, "interpolate: either size or scale_factor must be given, got None and None"),
        ({"size": 2, "scale_factor": 2.0}, "either size or scale_factor must be given, got 2 and"),
    ],
)
def test_interpolate_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        V.interpolate(tessera.Tensor(floats(1, 1, 2, 2)), **arguments)


@pytest.mark.parametrize("border", CV_BORDERS)
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_remap_gives_opencvs_pixels(border, mode):
    x, places = floats(7, 9), floats(5, 6, 2, seed=1, low=-12, high=20)
    places = np.round(places * 32) / 32  # as fine as OpenCV's fixed point
    if mode == "nearest":
        places += np.where(places % 1 == 0.5, np.float32(1 / 32), 0)  # ties are rounded otherwise
    wanted = cv2.remap(x, places, None, CV_MODES[mode], None, CV_BORDERS[border], 0.5)
    got = V.remap(tessera.Tensor(x[None, None]), places[None], border, 0.5, mode)
    assert_close(got[0, 0], wanted, 1e-4, 1e-5)


def test_warps_take_the_inverse_of_opencvs_matrices():
    x = floats(6, 7)
    mat = np.array([[0.75, 0.25, 0.5], [-0.25, 1.0, 0.75], [0.0, 0.0, 1.0]], np.float32)
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    wanted = cv2.warpAffine(x, mat[:2], (4, 5), flags=flags, borderMode=cv2.BORDER_REPLICATE)
    batch = tessera.Tensor(x[None, None])
    affine = V.warp_affine(batch, mat[None, :2], (5, 4), format="NCHW")
    assert_close(affine[0, 0], wanted, 1e-4, 1e-5)
    assert_close(V.warp_perspective(batch, mat[None], (5, 4)), affine.numpy(), 1e-5, 1e-5)
    rows = V.warp_affine(tessera.Tensor(x[None, :, :, None]), mat[None, :2], (5, 4))
    assert_close(rows[..., 0], affine[:, 0].numpy())


def test_images_that_matrices_share():
    x, mats = floats(2, 3, 5, 5), floats(3, 3, 3, low=0.2)
    some = V.warp_perspective(x, mats, (2, 2), mat_idx=[1, 0, 1])
    assert_close(some, V.warp_perspective(x[[1, 0, 1]], mats, (2, 2)).numpy())
    with pytest.raises(IndexError, match=r"warp_perspective: index must be in \[-2, 1\], got 2"):
        V.warp_perspective(x, mats, (2, 2), mat_idx=[1, 0, 2]).numpy()


def test_pixels_of_uint8_are_rounded_and_limited():
    x = image(1, 4, 5, 3)
    got = V.resize(x, (7, 9), format="NHWC")
    assert got.dtype == "uint8" and got.shape == (1, 7, 9, 3)
    wide = V.resize(x.astype(np.float32), (7, 9), format="NHWC").numpy()
    np.testing.assert_array_equal(got.numpy(), np.round(wide))
    over = V.interpolate(image(1, 1, 6, 6).transpose(0, 1, 3, 2), (13, 13), mode="bicubic").numpy()
    assert over.dtype == np.uint8 and {0, 255} & set(over.ravel())
    grey = V.cvt_color(x, "RGB2GRAY").numpy()[0, ..., 0].astype(int)
    assert np.abs(grey - cv2.cvtColor(x[0], cv2.COLOR_RGB2GRAY)).max() <= 1
    yuv = V.cvt_color(x, "rgb2yuv").numpy()[0].astype(int)
    assert np.abs(yuv - cv2.cvtColor(x[0], cv2.COLOR_RGB2YUV)).max() <= 1


@pytest.mark.parametrize("planes", ["NV12", "NV21", "YU12", "YV12"])
def test_colours_of_planes(planes):
    """MegEngine 1.13's numbers, whose integers round in between."""
    for (first, second), full, video in (
        ((150, 128), (100, 93, 139), (98, 89, 142)),
        ((128, 150), (130, 85, 100), (133, 80, 98)),
    ):
        u, v = (second, first) if planes in ("NV21", "YV12") else (first, second)
        x = np.full((1, 6, 4, 1), 100, np.uint8)
        x[0, 4:, :, 0] = [u, v] * 2 if planes.startswith("NV") else [[u], [v]]
        for mode, want in (
            (f"YUV2RGB_{planes}", full),
            (f"YUV2BGR_{planes}", full[::-1]),
            (f"BT601_YUV2RGB_{planes}", video),
            (f"BT601_YUV2BGR_{planes}", video[::-1]),
            (f"YUV2GRAY_{planes}", (100,)),
        ):
            got = V.cvt_color(x, mode)
            assert got.dtype == "uint8" and got.shape == (1, 4, 4, len(want))
            assert np.abs(got.numpy().astype(int) - want).max() <= 1


def test_positions_without_a_number():
    x, nothing = floats(1, 1, 3, 3), np.float32([[[[np.nan, 0.0], [np.inf, -np.inf]]]])
    for border in ("replicate", "constant"):
        out = V.remap(x, nothing, border, 7.0).numpy()[0, 0, 0]
        assert np.isnan(out[0]) and out[1] == (x[0, 0, 0, 2] if border == "replicate" else 7)
    assert V.remap(x, nothing, "replicate", 0.0, "nearest").numpy()[0, 0, 0, 0] == x[0, 0, 0, 0]


def test_megengines_examples():
    random = np.random.RandomState(42)
    x = random.randn(1, 1, 128, 128).astype(np.float32)
    rois = random.random_sample((4, 5)).astype(np.float32)
    aligned = V.roi_align(x, rois, (2, 2)).numpy()[0, 0]
    np.testing.assert_array_equal(aligned.round(4), np.float32([[0.175] * 2, [0.1359] * 2]))
    pooled = V.roi_pooling(x, rois, (2, 2)).numpy()[0, 0]
    np.testing.assert_array_equal(pooled.round(4), np.float32([[-0.1383] * 2, [-0.5035] * 2]))
    random, boxes = np.random.RandomState(42), np.zeros((100, 4))
    boxes[:, :2] = random.rand(100, 2) * 20
    boxes[:, 2:] = random.rand(100, 2) * 20 + 100
    assert V.nms(boxes, random.rand(100), iou_thresh=0.7).tolist() == [75, 69]


def boxes_and_scores(count, seed=0):
    corners = floats(count, 4, seed=seed, low=0, high=8)
    corners[:, 2:] += corners[:, :2]
    return corners, floats(count, seed=seed + 1)


def test_a_program_takes_what_nms_leaves():
    def detect(boxes, scores):
        kept = V.nms(boxes, scores, 0.3, 5)
        return boxes[kept] * 2, F.sum(scores[kept])

    traced = jit.trace(detect, capture_as_const=True)
    for seed in range(3):
        given = [tessera.Tensor(each) for each in boxes_and_scores(20, seed)]
        assert same_bits(traced(*given), detect(*given))


def test_images_turned():
    x = np.arange(24).reshape(1, 2, 3, 4)
    for k in range(-1, 5):
        np.testing.assert_array_equal(
            V.rot90(tessera.Tensor(x), k, (1, 2)).numpy(), np.rot90(x, k, (1, 2))
        )
    np.testing.assert_array_equal(V.rotate(x).numpy(), np.rot90(x, -1, (1, 2)))
    np.testing.assert_array_equal(
        V.rotate(x, False, "NCHW").numpy(), np.rot90(x, 1, (2, 3))
    )  # fmt: skip
    np.testing.assert_array_equal(V.flip(x, True, False).numpy(), x[:, ::-1])
    np.testing.assert_array_equal(V.flip(x, format="NCHW").numpy(), x[:, :, ::-1, ::-1])


def test_free_sizes_of_images(tmp_path):
    """One program for every height and width."""

    def change(x):
        return V.interpolate(x, scale_factor=2), V.resize(x, (3, 5), "nearest")

    assert_same_everywhere(change, floats(2, 3, 4, 5))
    traced = jit.trace(lambda x: V.resize(x, (6, 5)), capture_as_const=True)
    traced(tessera.Tensor(floats(1, 2, 4, 7)))
    size = {"x": {2: jit.Dim("h", 1, 64), 3: jit.Dim("w", 1, 64)}}
    traced.dump(tmp_path / "f.tess", arg_names=["x"], dims=size, targets=[])
    program = jit.load(tmp_path / "f.tess")
    for shape in ((1, 2, 4, 7), (1, 2, 9, 3), (1, 2, 1, 1)):
        x = tessera.Tensor(floats(*shape))
        assert same_bits(program(x), V.resize(x, (6, 5)))


@pytest.mark.parametrize("name", ["resize", "warp_affine", "flip", "rotate"])
def test_formats(name):
    rest = {"resize": [2], "warp_affine": [np.zeros((1, 2, 3)), 2]}.get(name, [])
    message = rf"{name}: format must be one of \['NCHW', 'NHWC'\], got 'CHWN'"
    with pytest.raises(ValueError, match=message):
        getattr(V, name)(floats(1, 2, 2, 2), *rest, format="CHWN")


def test_optical_flow_wants_its_hardware():
    with pytest.raises(NotImplementedError, match="nvof: the device must have NVIDIA's optical"):
        V.nvof(tessera.Tensor(image(1, 2, 8, 8, 4)))


@pytest.mark.parametrize("number", [-1.0, 2.0, np.nan])
@pytest.mark.parametrize("operator", [V.roi_align, V.roi_pooling])
def test_regions_are_of_images_that_there_are(operator, number):
    images = tessera.Tensor(np.ones((2, 1, 4, 4), np.float32))
    rois = tessera.Tensor(np.array([[number, 0, 0, 3, 3]], np.float32))
    with pytest.raises(IndexError, match=r"index must be in \[-2, 1\]"):
        operator(images, rois, (2, 2)).numpy()
    with contextlib.suppress(IndexError):
        tessera.sync()  # the number picks the image of each corner
