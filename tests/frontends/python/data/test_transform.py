"""tessera.data.transform against NumPy: pixels, and the boxes, masks and points that go along."""

import colorsys
import pickle

import numpy as np
import pytest
from tessera.data import ArrayDataset, DataLoader, SequentialSampler
from tessera.data import transform as T  # noqa: N812
from tessera.data.transform.vision import functional as F  # noqa: N812

from tests.support.helper import run_without

ORDER = ("image", "mask", "boxes", "image_category")
ALL = (*ORDER, "coords", "keypoints", "polygons", "info")


def image(height=6, width=8, seed=0):
    return np.random.RandomState(seed).randint(0, 256, (height, width, 3)).astype(np.uint8)


def sample(height=6, width=8):
    """What ALL names; the box is x 1 to 4, y 2 to 5."""
    mask = np.arange(height * width).reshape(height, width, 1).astype(np.uint8)
    boxes = np.array([[1, 2, 4, 5]], dtype=np.float32)
    points = np.array([[3, 1], [5, 4]], dtype=np.float32)
    keypoints = np.array([[[3, 1, 2], [5, 4, 0]]], dtype=np.float32)
    return image(height, width), mask, boxes, 7, points, keypoints, [[points]], ["info"]


def check(transform, pixels, mask, point):
    """All parts of the changed `sample()`; `point` moves (x, y) as the transform must."""
    before = [np.copy(each) for each in sample()[:6]]
    given = sample()
    got = transform.apply(given)
    np.testing.assert_array_equal(got[0], pixels)
    np.testing.assert_array_equal(got[1], mask)
    moved = [np.array([point(x, y) for x, y in sample()[4].tolist()])]
    corners = np.array([point(x, y) for x in (1, 4) for y in (2, 5)])
    box = [[*corners.min(axis=0), *corners.max(axis=0)]]
    np.testing.assert_allclose(got[2], box, rtol=1e-6)
    assert got[3] == 7 and got[7] == ["info"]
    np.testing.assert_allclose(got[4], moved[0], rtol=1e-6)
    np.testing.assert_allclose(got[5][0, :, :2], moved[0], rtol=1e-6)
    assert got[5][0, :, 2].tolist() == [2, 0] and got[4].dtype == np.float32
    np.testing.assert_allclose(got[6][0][0], moved[0], rtol=1e-6)
    for old, now in zip(before, given, strict=False):
        np.testing.assert_array_equal(old, now)  # the sample that was given stays


def bilinear(pixels, height, width):
    """Resized by the mean of the nearest pixels; the centers of pixels are at halves."""

    def axis(new, old):
        place = np.clip((np.arange(new) + 0.5) * old / new - 0.5, 0, old - 1)
        low = np.minimum(place.astype(int), max(old - 2, 0))
        return low, np.minimum(low + 1, old - 1), place - low

    y0, y1, fy = axis(height, pixels.shape[0])
    x0, x1, fx = axis(width, pixels.shape[1])
    fx, fy = fx[None, :, None], fy[:, None, None]
    rows = [pixels[y][:, x0] * (1 - fx) + pixels[y][:, x1] * fx for y in (y0, y1)]
    return rows[0] * (1 - fy) + rows[1] * fy


def nearest(pixels, height, width):
    rows = np.arange(height) * pixels.shape[0] // height
    return pixels[rows][:, np.arange(width) * pixels.shape[1] // width]


@pytest.mark.parametrize("flip", ["RandomHorizontalFlip", "RandomVerticalFlip"])
def test_flips(flip):
    across = flip == "RandomHorizontalFlip"
    keys = np.s_[:, ::-1] if across else np.s_[::-1]
    given = sample()
    check(
        getattr(T, flip)(1, order=ALL),
        given[0][keys],
        given[1][keys],
        (lambda x, y: (8 - x, y)) if across else (lambda x, y: (x, 6 - y)),
    )
    check(getattr(T, flip)(0, order=ALL), given[0], given[1], lambda x, y: (x, y))


def test_a_flip_has_its_probability():
    np.random.seed(0)
    flip, pixels = T.RandomHorizontalFlip(0.25), image()
    flipped = [not np.array_equal(flip.apply(pixels), pixels) for _ in range(400)]
    assert flipped == (np.random.RandomState(0).random_sample(400) < 0.25).tolist()


@pytest.mark.parametrize(
    ("size", "border"), [(2, (2, 2, 2, 2)), ((1, 3), (0, 1, 0, 3)), ((1, 2, 3, 4), (1, 2, 3, 4))]
)
def test_pad(size, border):
    top, bottom, left, right = border
    given = sample()
    sides = ((top, bottom), (left, right))
    pixels = [
        np.pad(given[0][..., c], sides, constant_values=value) for c, value in enumerate((5, 6, 7))
    ]
    check(
        T.Pad(size, (5, 6, 7), 9, order=ALL),
        np.stack(pixels, axis=-1),
        np.pad(given[1], (*sides, (0, 0)), constant_values=9),
        lambda x, y: (x + left, y + top),
    )


def test_pad_with_a_float_makes_float32():
    padded = T.Pad(1, 0.5).apply(image())
    assert padded.dtype == np.float32 and (padded[0] == 0.5).all() and padded.shape == (8, 10, 3)
    with pytest.raises(ValueError, match="Pad: size must be one integer, two or four, got"):
        T.Pad((1, 2, 3))
    with pytest.raises(ValueError, match="Pad: mask_value must be an integer, got 0.5"):
        T.Pad(1, mask_value=0.5)
    for value in (256, -1, (0, 0, 300)):
        with pytest.raises(ValueError, match="pad: value must fit the image's uint8, got"):
            T.Pad(1, value).apply(image())


@pytest.mark.parametrize("size", [(12, 4), (6, 8), 3, 12])
def test_resize(size):
    pixels = image().astype(np.float32)
    height, width = size if isinstance(size, tuple) else (size, size * 8 // 6)
    mask = sample()[1]
    got = T.Resize(size, order=ORDER).apply((pixels, *sample()[1:4]))
    np.testing.assert_allclose(got[0], bilinear(pixels, height, width), atol=1e-3)
    np.testing.assert_array_equal(got[1], nearest(mask, height, width))
    x, y = width / 8, height / 6
    np.testing.assert_allclose(got[2], [[x, 2 * y, 4 * x, 5 * y]], rtol=1e-6)


def test_resize_of_bytes_and_other_interpolations():
    got = T.Resize((3, 4)).apply(image())
    assert got.dtype == np.uint8 and np.abs(got - bilinear(image(), 3, 4)).max() <= 0.51
    np.testing.assert_array_equal(
        T.Resize((3, 16), interpolation=[0]).apply(image()), nearest(image(), 3, 16)
    )
    assert T.Resize(3).apply(image()[..., :1]).shape == (3, 4, 1)
    with pytest.raises(ValueError, match=r"resize: image must have axes \(H, W, C\), got shape"):
        T.Resize((3, 3)).apply(image()[..., 0])


@pytest.mark.parametrize("style", ["range", "choice"])
def test_shortest_edge_resize(style):
    np.random.seed(4)
    draw = np.random.RandomState(4)
    for _ in range(5):
        size = draw.randint(5, 13) if style == "range" else draw.choice((5, 12))
        scale = min(size / 6, 15 / 8)
        got = T.ShortestEdgeResize((5, 12), 15, style).apply(image())
        assert got.shape == (round(6 * scale), round(8 * scale), 3)
    assert T.ShortestEdgeResize(3, 100).apply(image(8, 6)).shape == (4, 3, 3)
    with pytest.raises(NotImplementedError, match="sample_style must be 'range' or 'choice'"):
        T.ShortestEdgeResize(3, 5, "all")


def test_random_resize():
    np.random.seed(1)
    scale = np.random.RandomState(1).uniform(0.5, 2)
    got = T.RandomResize((0.5, 2)).apply(image().astype(np.float32))
    expected = bilinear(image().astype(np.float32), round(6 * scale), round(8 * scale))
    np.testing.assert_allclose(got, expected, atol=1e-3)


def test_center_crop():
    given, crop = sample(), T.CenterCrop((4, 5), order=ALL)
    check(crop, given[0][1:5, 2:7], given[1][1:5, 2:7], lambda x, y: (x - 2, y - 1))
    with pytest.raises(ValueError, match=r"at most the image's \(6, 8\), got \(7, 7\)"):
        T.CenterCrop(7).apply(image())


@pytest.mark.parametrize("seed", range(3))
def test_random_crop(seed):
    draw = np.random.RandomState(seed)
    x, y = draw.randint(0, 8 + 2 - 5 + 1), draw.randint(0, 6 + 2 - 4 + 1)
    given = sample()
    pixels = np.pad(given[0], ((1, 1), (1, 1), (0, 0)))[y : y + 4, x : x + 5]
    mask = np.pad(given[1], ((1, 1), (1, 1), (0, 0)), constant_values=255)[y : y + 4, x : x + 5]
    np.random.seed(seed)
    crop = T.RandomCrop((4, 5), 1, padding_maskvalue=255, order=ALL)
    check(crop, pixels, mask, lambda px, py: (px + 1 - x, py + 1 - y))


def test_random_crop_of_what_is_too_small():
    got = T.RandomCrop((8, 9), padding_value=(1, 2, 3), order=ORDER).apply(sample())
    assert got[0].shape == (8, 9, 3) and got[1].shape == (8, 9, 1)
    np.testing.assert_array_equal(got[0][:6, :8], image())
    assert got[0][7, 8].tolist() == [1, 2, 3] and got[2].tolist() == [[1, 2, 4, 5]]


@pytest.mark.parametrize("seed", range(4))
def test_random_resized_crop(seed):
    draw = np.random.RandomState(seed)
    area = draw.uniform(0.3, 0.6) * 48
    ratio = np.exp(draw.uniform(np.log(0.8), np.log(1.25)))
    w, h = round(np.sqrt(area * ratio)), round(np.sqrt(area / ratio))
    x, y = draw.randint(0, 8 - w + 1), draw.randint(0, 6 - h + 1)
    np.random.seed(seed)
    crop = T.RandomResizedCrop((4, 3), (0.3, 0.6), (0.8, 1.25), order=ORDER)
    pixels = image().astype(np.float32)
    got = crop.apply((pixels, *sample()[1:4]))
    part = np.s_[y : y + h, x : x + w]
    np.testing.assert_allclose(got[0], bilinear(pixels[part], 4, 3), atol=1e-3)
    np.testing.assert_array_equal(got[1], nearest(sample()[1][part], 4, 3))
    box = [(1 - x) * 3 / w, (2 - y) * 4 / h, (4 - x) * 3 / w, (5 - y) * 4 / h]
    np.testing.assert_allclose(got[2], [box], rtol=1e-5)


def test_random_resized_crop_falls_back_to_the_middle():
    pixels = image(2, 12).astype(np.float32)
    got = T.RandomResizedCrop(2, (1, 1), (0.5, 2)).apply(pixels)
    np.testing.assert_allclose(got, bilinear(pixels[:, 4:8], 2, 2), atol=1e-3)
    with pytest.raises(ValueError, match=r"scale_range must be \(least, most\), got \(1, 0.5\)"):
        T.RandomResizedCrop(2, (1, 0.5))


def test_to_mode():
    got = T.ToMode(order=ORDER).apply(sample())
    np.testing.assert_array_equal(got[0], image().transpose(2, 0, 1))
    assert got[0].flags.c_contiguous and got[1].shape == (1, 6, 8)
    assert got[2].tolist() == [[1, 2, 4, 5]]
    with pytest.raises(ValueError, match="ToMode: mode must be 'CHW', got 'HWC'"):
        T.ToMode("HWC")


def test_normalize():
    mean, std = [100.0, 110.0, 120.0], [50.0, 60.0, 70.0]
    got = T.Normalize(mean, std, order=ORDER).apply(sample())
    assert got[0].dtype == np.float32 and got[1].shape == (6, 8, 1)
    np.testing.assert_allclose(got[0], (image() - np.array(mean)) / np.array(std), rtol=1e-6)


def test_gaussian_noise():
    np.random.seed(2)
    noise = np.random.RandomState(2).normal(0.1, 0.2, (6, 8, 3)) * 255
    got = T.GaussianNoise(0.1, 0.2).apply(image())
    expected = np.clip(image() + noise.astype(np.float32), 0, 255).astype(np.uint8)
    assert got.dtype == np.uint8
    np.testing.assert_array_equal(got, expected)


def gray(pixels):
    return (pixels * np.array([0.114, 0.587, 0.299])).sum(axis=-1, keepdims=True)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("BrightnessTransform", lambda p, a: p * a),
        ("ContrastTransform", lambda p, a: p * a + gray(p).mean() * (1 - a)),
        ("SaturationTransform", lambda p, a: p * a + gray(p) * (1 - a)),
    ],
)
@pytest.mark.parametrize("value", [0.4, 1.5])
def test_colors(name, change, value):
    np.random.seed(3)
    alpha = np.random.RandomState(3).uniform(max(0, 1 - value), 1 + value)
    pixels = image().astype(np.float32)
    got = getattr(T, name)(value).apply(pixels)
    np.testing.assert_allclose(got, change(pixels, alpha).clip(0, 255), atol=2e-3)
    assert getattr(T, name)(value).apply(image()).dtype == np.uint8
    assert getattr(T, name)(0).apply(pixels) is pixels
    with pytest.raises(ValueError, match=f"{name}: value must be >= 0, got -1"):
        getattr(T, name)(-1)


def test_hue():
    np.random.seed(5)
    turn = int(np.random.RandomState(5).uniform(-0.5, 0.5) * 255) / 256
    got = T.HueTransform(0.5).apply(image())
    for old, new in zip(image().reshape(-1, 3), got.reshape(-1, 3), strict=True):
        h, s, v = colorsys.rgb_to_hsv(*old[::-1] / 255)
        expected = np.array(colorsys.hsv_to_rgb((h + turn) % 1, s, v))[::-1] * 255
        assert np.abs(new - expected).max() < 6  # hue has 256 steps
    with pytest.raises(ValueError, match=r"HueTransform: value must be in \[0, 0.5\], got 0.6"):
        T.HueTransform(0.6)


def test_color_jitter():
    np.random.seed(6)
    draw = np.random.RandomState(6)
    order = draw.permutation((0, 1)).tolist()
    expected = image().astype(np.float32)
    for which in order:
        alpha = draw.uniform(0.5, 1.5)
        expected = expected * alpha + (gray(expected) * (1 - alpha) if which else 0)
        expected = expected.clip(0, 255)
    jitter = T.ColorJitter(brightness=0.5, saturation=0.5, order=ORDER)
    got = jitter.apply((image().astype(np.float32), *sample()[1:4]))
    np.testing.assert_allclose(got[0], expected, atol=5e-3)
    np.testing.assert_array_equal(got[1], sample()[1])
    np.testing.assert_array_equal(T.ColorJitter().apply(image()), image())


def test_lighting():
    np.random.seed(7)
    a = np.random.RandomState(7).normal(scale=0.2 * 255, size=3) * [0.2175, 0.0188, 0.0045]
    blue = -0.5836 * a[0] - 0.6948 * a[1] + 0.4203 * a[2]
    red = -0.5675 * a[0] + 0.7192 * a[1] + 0.4009 * a[2]
    pixels = np.full((2, 2, 3), 100, dtype=np.float32)
    got = T.Lighting(0.2).apply(pixels)
    np.testing.assert_allclose(got[..., 0], 100 + blue, rtol=1e-5)
    np.testing.assert_allclose(got[..., 2], 100 + red, rtol=1e-5)
    with pytest.raises(ValueError, match="Lighting: scale must be >= 0, got -1"):
        T.Lighting(-1)


def test_compose_gives_its_order():
    steps = [T.RandomHorizontalFlip(1), T.Compose([T.ColorJitter()]), T.RandomCrop(4, 1)]
    compose = T.Compose(steps, order=("image_category", "boxes", "image"))
    category, boxes, pixels = compose.apply((7, np.zeros((1, 4)), image()))
    assert category == 7 and boxes.shape == (1, 4) and pixels.shape == (4, 4, 3)
    assert boxes[0, 0] != 0 and steps[1].transforms[0].order == compose.order


class Append(T.VisionTransform):
    """Adds a letter to a list."""

    def __init__(self, letter):
        super().__init__()
        self.letter = letter

    def _apply_image(self, image):
        return [*image, self.letter]


def test_compose_shuffles_groups():
    steps = [Append(letter) for letter in "abcd"]
    assert T.Compose(steps).apply([]) == list("abcd")
    np.random.seed(0)
    shuffled = T.Compose(steps, shuffle_indices=[(1, 3), (2, 4)])
    seen = {"".join(shuffled.apply([])) for _ in range(50)}
    assert seen == {"abcd", "cbad", "adcb", "cdab"}
    assert T.Compose(steps, batch_compose=True).apply_batch([[], []]) == (list("abcd"),) * 2
    with pytest.raises(ValueError, match="Compose: shuffle_indices must be None for whole batch"):
        T.Compose(steps, True, [(1, 2)])


def test_torch_transforms_see_red_green_blue():
    pytest.importorskip("PIL")
    seen = []

    def mirror(picture):
        seen.append(picture.getpixel((0, 0)))
        return picture.transpose(0)  # left and right

    got = T.TorchTransformCompose([mirror]).apply(image())
    np.testing.assert_array_equal(got, image()[:, ::-1])
    assert seen == [tuple(image()[0, 0, ::-1].tolist())]


def test_order_is_checked():
    with pytest.raises(NotImplementedError, match=r"known parts, got \['sound'\]"):
        T.ToMode(order=("image", "sound"))
    with pytest.raises(ValueError, match="order must be a sequence of names, got 'image'"):
        T.ToMode(order="image")
    with pytest.raises(ValueError, match="order must name parts of a sample"):
        T.ToMode(order=("batch",))
    with pytest.raises(ValueError, match=r"Resize: order must have an image, got \('mask',\)"):
        T.Resize(3, order=("mask",)).apply((image(),))
    with pytest.raises(NotImplementedError, match="VisionTransform: images must be supported"):
        T.VisionTransform().apply(image())


def test_a_sample_may_be_shorter_or_longer_than_order():
    pixels, label = T.RandomHorizontalFlip(1).apply((image(), 3))
    assert label == 3 and pixels[0, 0].tolist() == image()[0, -1].tolist()
    assert T.ToMode(order=ORDER).apply(image()).shape == (3, 6, 8)


def test_functions():
    np.testing.assert_allclose(F.to_gray(image().astype(np.float32)), gray(image()), rtol=1e-5)
    np.testing.assert_array_equal(F.to_bgr(image()[..., :1]), image()[..., [0, 0, 0]])
    np.testing.assert_array_equal(F.flip(image(), -1), image()[::-1, ::-1])


@pytest.mark.parametrize("workers", [0, 2])
def test_in_a_loader(workers):
    images = np.stack([image(seed=seed) for seed in range(4)])
    data = ArrayDataset(images, np.arange(4))
    steps = T.Compose([T.Resize((3, 4)), T.Normalize(128, 64), T.ToMode()])
    assert pickle.loads(pickle.dumps(steps)).apply(image()).shape == (3, 3, 4)
    loader = DataLoader(data, SequentialSampler(data, 2), steps, num_workers=workers)
    pixels, labels = next(iter(loader))
    assert pixels.shape == (2, 3, 3, 4) and labels.tolist() == [0, 1]
    loader.close()


def test_opencv_is_imported_at_its_first_use():
    code = (
        "from tessera.data import transform as T; import numpy as np\n"
        "assert 'tessera.data.transform.vision' not in sys.modules\n"
        "flip = T.RandomHorizontalFlip(1).apply(np.zeros((4, 4, 3)))\n"
        "try: T.Resize((2, 2)).apply(flip)\n"
        "except ImportError as error: print(error)"
    )
    done = run_without("cv2", code)
    assert done.stdout.startswith("resize: OpenCV must be installed (pip install")
