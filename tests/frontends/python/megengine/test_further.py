"""Further differences, each of one function; quantization's parameters; images."""

import copy
import pickle
import sys

import cv2
import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import Parameter, Tensor, jit
from tessera import module as M  # noqa: N812
from tessera.autodiff import GradManager
from tessera.quantization import QParams, QuantMode, create_qparams

from tests.support.helper import assert_close, check, floats, same_bits

X = floats(2, 3)


def test_e10_keywords_of_makers():
    """meshgrid takes indexing, prelu is of x and y, stack and copy take a device."""
    a, b = np.int32([1, 2]), np.int32([3])
    for indexing in ("xy", "ij"):
        got = F.meshgrid(Tensor(a), Tensor(b), indexing=indexing)
        assert same_bits(list(got), np.meshgrid(a, b, indexing=indexing))
    assert_close(F.prelu(x=Tensor(X), y=Tensor(0.5)), np.where(X > 0, X, X * 0.5))
    for device in (None, "cpu0", "sim0"):
        stacked = F.stack([Tensor(X), Tensor(X)], axis=1, device=device)
        copied = F.copy(Tensor(X), device)
        assert stacked.device == copied.device == (device or "cpu0")
        assert same_bits(stacked, np.stack([X, X], 1)) and same_bits(copied, X)
    own = Tensor(X)
    other = F.copy(own, "cpu0")
    other[0] = 0
    assert same_bits(own, X)


@pytest.mark.parametrize(
    ("pattern", "shape"), [((1, "x", 0), (3, 1, 2)), (("x", 0, "x", 1), (1, 2, 1, 3)),
                           ([0, 1, "x"], (2, 3, 1))],
)  # fmt: skip
def test_e10_new_axes_of_transpose(pattern, shape):
    """ "x" in the pattern of transpose is a new axis."""
    wanted = np.transpose(X, [axis for axis in pattern if axis != "x"]).reshape(shape)
    check(lambda x: F.transpose(x, pattern), X, oracle=lambda x: np.float64(wanted))
    for got in (Tensor(X).transpose(pattern), Tensor(X).transpose(*pattern)):
        assert same_bits(got, wanted)
    assert same_bits(Tensor(X).transpose(1, 0), X.T) and same_bits(Tensor(X).transpose([1, 0]), X.T)
    assert same_bits(Tensor(X).transpose(), X.T)
    x = Parameter(X)
    manager = GradManager().attach(x)
    with manager:
        manager.backward((x.transpose(*pattern) ** 2).sum())
    assert_close(x.grad, 2 * X)
    for refused in ((1, "y"), (1.5, "x"), "x"):
        with pytest.raises(TypeError, match="transpose: pattern must be"):
            F.transpose(Tensor(X), refused)
    with pytest.raises(TypeError, match="transpose: every argument must be given"):
        F.transpose(pattern=pattern)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64", "bool"])
@pytest.mark.parametrize("name", ["ceil", "floor", "round", "trunc"])
def test_e11_rounding_keeps_integers(name, dtype):
    """ceil, floor, round and trunc of integers keep the dtype, and the elements."""
    x = np.array([[0, 1, 100], [3, 1, 0]]).astype(dtype)
    check(lambda x: getattr(F, name)(x), x, oracle=lambda x: x, dtype=dtype)
    floating = np.float32([1.5, -0.5])
    wanted = getattr(np, name)(floating)
    assert same_bits(getattr(F, name)(Tensor(floating)), wanted)


# Quantization's parameters.


def test_parameters_of_quantization():
    """A tensor has qparams, which say nothing at first and go along with copies and pickles."""
    x = Parameter(X)
    assert x.qparams == create_qparams() == Tensor(X).qparams
    x.qparams.update(create_qparams(QuantMode.ASYMMERTIC, "quint8", Tensor(0.5), Tensor(3)))
    assert (x.qparams.mode, x.qparams.dtype_meta) == (QuantMode.ASYMMERTIC, "quint8")
    for again in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert isinstance(again, Parameter) and again.qparams == x.qparams
        assert again.qparams is not x.qparams
    assert Tensor(x).qparams == create_qparams() != x.qparams
    x.qparams = create_qparams(dtype_meta="qint8")
    assert repr(x.qparams) == ("QParams(mode=QuantMode.SYMMERTIC, dtype_meta=qint8, scale=None, "
                               "zero_point=None)")  # fmt: skip
    with pytest.raises(TypeError, match="create_qparams: mode must be a QuantMode, got 'sym'"):
        create_qparams("sym")


def test_parameters_of_quantized_dtypes():
    """Those of a quantized tensor are of its dtype."""
    from tessera.core.tensor.dtype import qint8, quint8

    asymmetric = Tensor(X).astype(quint8(0.5, 128)).qparams
    assert isinstance(asymmetric, QParams) and asymmetric.mode is QuantMode.ASYMMERTIC
    assert (asymmetric.scale.item(), asymmetric.zero_point.item()) == (0.5, 128)
    symmetric = Tensor(X).astype(qint8(0.25)).qparams
    assert (symmetric.dtype_meta, symmetric.zero_point) == ("qint8", None)
    assert symmetric.scale.item() == 0.25


def test_parameters_of_quantization_leave_with_their_tensor():
    """What is kept beside a tensor goes when the tensor goes."""
    known = sys.modules["tessera.tensor"]._known_qparams
    before = len(known)
    kept = [Tensor(X) for _ in range(10)]
    assert all(each.qparams.scale is None for each in kept) and len(known) == before + 10
    del kept
    assert len(known) == before


# Images.


def pair(shape=(3, 2, 8, 10)):
    return Tensor(floats(*shape)), Tensor([1.0, 2.0, 3.0]), Tensor(floats(*shape, seed=1)), Tensor(
        [0.0, 5.0, 9.0])  # fmt: skip


def test_images_mixed():
    """Mixup weighs two images and labels by a share of Beta(beta, beta) for each pair."""
    first, label, second, other = pair()
    images, labels = M.Mixup(3.0, seed=5)(first, label, second, other)
    share = tessera.random.RNG(5).beta(3.0, 3.0, (3,)).numpy()
    wide = share.reshape(3, 1, 1, 1)
    assert_close(images, wide * first.numpy() + (1 - wide) * second.numpy(), 1e-5, 1e-6)
    assert_close(labels, share * label.numpy() + (1 - share) * other.numpy(), 1e-5)
    big = M.Mixup(2.0, seed=1).sample(20000).numpy()
    assert abs(big.mean() - 0.5) < 0.01 and abs(big.var() - 1 / 20) < 0.005  # of Beta(2, 2)


def test_images_with_a_box_of_another():
    """Cutmix puts a box of the second image in the place of that of the first."""
    first, label, second, other = pair()
    module = M.Cutmix(1.0, seed=9)
    images, labels = module(first, label, second, other)
    rng = tessera.random.RNG(9)
    share = rng.beta(1.0, 1.0, (3,)).numpy()
    sides = []
    for size in (8, 10):
        centre = np.floor(rng.uniform(0, size, (3,)).numpy())
        half = np.floor(size * np.sqrt(1 - share)) // 2
        sides.append((np.clip(centre - half, 0, size), np.clip(centre + half, 0, size)))
    wanted = first.numpy().copy()
    for n in range(3):
        rows, columns = (slice(int(low[n]), int(high[n])) for low, high in sides)
        wanted[n, :, rows, columns] = second.numpy()[n, :, rows, columns]
    assert same_bits(images, wanted) and not same_bits(images, first)
    assert_close(labels, share * label.numpy() + (1 - share) * other.numpy(), 1e-5)


def framed(image, percent, value, mode, align):
    """One image [C, H, W], step by step."""
    sizes, margins = image.shape[1:], [int(abs(n * percent) + 0.5) for n in image.shape[1:]]
    sign = 1 if percent > 0 else -1
    wide = np.full(
        (image.shape[0], *(n + 2 * m for n, m in zip(sizes, margins, strict=True))), value
    )
    if sign > 0:
        wide[:, margins[0] : margins[0] + sizes[0], margins[1] : margins[1] + sizes[1]] = image
    else:
        wide = image[:, margins[0] : sizes[0] - margins[0], margins[1] : sizes[1] - margins[1]]
    rows, columns = (places(wide.shape[k + 1], sizes[k], mode, align) for k in (0, 1))
    rows_by_columns = [
        by_row * by_column * wide[:, row][:, :, column]
        for row, by_row in ((rows[0], 1 - rows[2][:, None]), (rows[1], rows[2][:, None]))
        for column, by_column in ((columns[0], 1 - columns[2]), (columns[1], columns[2]))
    ]
    return sum(rows_by_columns)


def places(whole, size, mode, align):
    """The element before and behind each place, and how far behind it is."""
    step = np.arange(size)
    place = step * whole / size if mode == "nearest" else (step + 0.5) * whole / size - 0.5
    if mode == "nearest":
        place = np.floor(place)
    elif align:
        place = step * (whole - 1) / max(size - 1, 1)
    place = np.clip(place, 0, whole - 1)
    before = np.floor(place).astype(int)
    return before, np.minimum(before + 1, whole - 1), place - before


@pytest.mark.parametrize(("mode", "align"), [("bilinear", False), ("bilinear", True),
                                             ("nearest", False)])  # fmt: skip
def test_images_cropped_and_framed(mode, align):
    """CropAndPad frames or crops each image by its share and makes it as large as it was."""
    images, percent = floats(4, 2, 8, 10), np.float32([0.25, -0.25, 0.0, 0.1])
    border = np.float32([1.0, 2.0, 3.0, 4.0])
    wanted = [framed(*row, mode, align) for row in zip(images, percent, border, strict=True)]
    check(M.CropAndPad(mode, align), images, percent, border, oracle=lambda *_: np.stack(wanted),
          rtol=1e-4, atol=1e-5, dynamic=False)  # fmt: skip
    assert_close(M.CropAndPad()(Tensor(images), Tensor(percent))[1],
                 framed(images[1], -0.25, 0, "bilinear", False), 1e-4, 1e-5)  # fmt: skip
    with pytest.raises(ValueError, match="CropAndPad: mode must be bilinear or nearest, got 'x'"):
        M.CropAndPad("x")


BORDERS = {
    "REPLICATE": cv2.BORDER_REPLICATE,
    "REFLECT": cv2.BORDER_REFLECT,
    "REFLECT_101": cv2.BORDER_REFLECT_101,
    "CONSTANT": cv2.BORDER_CONSTANT,
}


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize(("size", "x", "y"), [(3, 0, 0), ((5, 3), 1.2, 0), ((3, 7), 0.8, 2.0),
                                              (9, 0, 0.9)])  # fmt: skip
def test_images_smoothed(size, x, y, border):
    """GaussianBlur gives OpenCV's pixels."""
    height, width = (size, size) if isinstance(size, int) else size
    image = np.random.RandomState(0).randint(0, 256, (12, 14, 3)).astype(np.uint8)
    wide = cv2.GaussianBlur(np.float32(image), (width, height), x or y, None, y, BORDERS[border])
    module = M.GaussianBlur(size, x, y, border)
    assert_close(module(Tensor(np.float32(image[None])))[0], wide, 1e-4, 1e-2)
    got = module(Tensor(image[None]))
    assert got.dtype == "uint8" and np.abs(got.numpy()[0] - np.float32(wide)).max() <= 0.51
    columns = M.GaussianBlur(size, x, y, border, format="NCHW")(
        Tensor(np.float32(image).transpose(2, 0, 1)[None]))  # fmt: skip
    assert_close(columns[0], wide.transpose(2, 0, 1), 1e-4, 1e-2)


def test_images_smoothed_around_and_refusals():
    """Pixels beyond the edges may be those of the other side; sizes must be odd."""
    image = np.arange(5, dtype=np.float32).reshape(1, 1, 1, 5)
    got = M.GaussianBlur((1, 3), border_mode="WRAP", format="NCHW")(Tensor(image))
    assert got.tolist() == [[[[1.25, 1.0, 2.0, 3.0, 2.75]]]]
    for size in (2, (3, 4), (1, 2, 3), -1):
        with pytest.raises(ValueError, match="GaussianBlur: kernel_size must be odd and positive"):
            M.GaussianBlur(size)
    with pytest.raises(ValueError, match="GaussianBlur: border_mode must be one of REPLICATE, "):
        M.GaussianBlur(3, border_mode="TRANSPARENT")
    with pytest.raises(ValueError, match="GaussianBlur: format must be NHWC or NCHW, got 'x'"):
        M.GaussianBlur(3, format="x")


@pytest.mark.parametrize("border", ["REPLICATE", "REFLECT", "REFLECT_101", "CONSTANT"])
@pytest.mark.parametrize("dtype", ["float32", "uint8"])
@pytest.mark.parametrize("iterations", [1, 2])
def test_images_widened(iterations, dtype, border):
    """Dilation gives OpenCV's pixels."""
    image = np.random.RandomState(1).randint(0, 256, (9, 11)).astype(dtype)
    kernel = np.array([[0, 1, 0, 0], [1, 1, 1, 0], [0, 1, 0, 1]], np.uint8)
    wanted = image
    for _ in range(iterations):
        wanted = cv2.dilate(wanted, kernel, borderType=BORDERS[border], borderValue=3)
    module = M.Dilation(iterations, f"BORDER_{border}", 3)
    check(lambda x: module(x, Tensor(kernel)), image[None, None],
          oracle=lambda x: wanted[None, None], dynamic=False)  # fmt: skip
    with pytest.raises(ValueError, match="Dilation: border_type must be one of BORDER_REPLICATE"):
        M.Dilation(border_type="REFLECT")
    with pytest.raises(ValueError, match="Dilation: iterations must be at least 1, got 0"):
        M.Dilation(0)


POLYGONS = [
    [[(1, 1), (8, 1), (8, 6), (1, 6)]],
    [[(2, 2), (9, 2), (2, 9)]],
    [[(0, 0), (5, 5), (10, 0)], [(3, 8), (7, 8), (7, 10), (3, 10)]],
    [[(5, 0), (10, 5), (5, 10), (0, 5)]],
]


@pytest.mark.parametrize("polygons", POLYGONS)
def test_images_painted(polygons):
    """FillPoly paints polygons with their edges as OpenCV does, on every image and channel."""
    images, colour = np.zeros((2, 3, 12, 13), np.float32), np.float32([5, 6, 7])
    wanted = images.copy()
    for polygon in polygons:
        plane = cv2.fillPoly(np.zeros((12, 13), np.uint8), [np.int32(polygon)], 1) == 1
        wanted = np.where(plane, colour.reshape(3, 1, 1), wanted)
    points = np.int32([corner for polygon in polygons for corner in polygon])
    counts = np.int32([len(polygon) for polygon in polygons])
    check(M.FillPoly(), images, points, counts, colour, oracle=lambda *_: np.float64(wanted),
          dynamic=False)  # fmt: skip


def test_images_painted_beyond_their_edges():
    """What lies beyond the image is left out; a colour has the dtype of the images."""
    image = Tensor(np.zeros((1, 1, 4, 4), np.int32))
    points = Tensor([[-3, -3], [2, -3], [2, 9], [-3, 9]])
    got = M.FillPoly()(image, points, Tensor([4]), Tensor([7]))
    assert got.dtype == "int32" and (got.numpy()[0, 0] == [[7, 7, 7, 0]] * 4).all()


def test_image_modules_in_traces():
    """The modules that draw do so in a trace, too, with the same numbers."""
    arguments = pair()
    for make in (lambda: M.Mixup(2.0, seed=3), lambda: M.Cutmix(2.0, seed=3)):
        eager, traced = make(), jit.trace(make().__call__)
        for _ in range(3):
            assert same_bits(list(eager(*arguments)), list(traced(*arguments)))
