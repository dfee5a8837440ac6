"""Changes of the values of pixels."""

import numpy as np

from ...._opencv import opencv
from . import functional as F  # noqa: N812
from .vision_transform import Compose, PixelTransform


class Normalize(PixelTransform):
    """(image - mean) / std, float32; `mean` and `std` are numbers or one for each channel."""

    def __init__(self, mean=0.0, std=1.0, *, order=None):
        super().__init__(order)
        self.mean = np.array(mean, dtype=np.float32)
        self.std = np.array(std, dtype=np.float32)

    def _apply_image(self, image):
        return (image - self.mean) / self.std


class GaussianNoise(PixelTransform):
    """Adds 255 times normal numbers of `mean` and `std`; values stay in [0, 255], and the dtype."""

    def __init__(self, mean=0.0, std=1.0, *, order=None):
        super().__init__(order)
        self.mean = np.array(mean, dtype=np.float32)
        self.std = np.array(std, dtype=np.float32)

    def _apply_image(self, image):
        noise = np.random.normal(self.mean, self.std, image.shape) * 255
        return np.clip(image + noise.astype(np.float32), 0, 255).astype(image.dtype)


class _Strength(PixelTransform):
    """A change that a number drawn near 1 decides; 0 for `value` changes nothing."""

    def __init__(self, value, *, order=None):
        super().__init__(order)
        if value < 0:
            raise ValueError(f"{type(self).__name__}: value must be >= 0, got {value}")
        self.value = value

    def _apply_image(self, image):
        if self.value == 0:
            return image
        alpha = np.random.uniform(max(0, 1 - self.value), 1 + self.value)
        return self._changed(image.astype(np.float32), alpha).clip(0, 255).astype(image.dtype)

    def _changed(self, image, alpha):
        raise NotImplementedError(f"{type(self).__name__}: a change must be given, got none")


class BrightnessTransform(_Strength):
    """image * alpha, alpha uniform in [max(0, 1 - value), 1 + value]; values stay in [0, 255]."""

    def _changed(self, image, alpha):
        return image * alpha


class ContrastTransform(_Strength):
    """Mixes image * alpha and (1 - alpha) times the mean of its gray image; alpha is uniform in
    [max(0, 1 - value), 1 + value], values stay in [0, 255]."""

    def _changed(self, image, alpha):
        return image * alpha + F.to_gray(image).mean() * (1 - alpha)


class SaturationTransform(_Strength):
    """Mixes image * alpha and (1 - alpha) times its gray image; alpha is uniform in
    [max(0, 1 - value), 1 + value], values stay in [0, 255]."""

    def _changed(self, image, alpha):
        return image * alpha + F.to_gray(image) * (1 - alpha)


class HueTransform(PixelTransform):
    """Turns the hue by a share of the circle, uniform in [-value, value]; `value` is at most 0.5.

    The image is (H, W, 3) in blue, green, red, with values in [0, 255].
    """

    def __init__(self, value, *, order=None):
        super().__init__(order)
        if not 0 <= value <= 0.5:
            raise ValueError(f"HueTransform: value must be in [0, 0.5], got {value}")
        self.value = value

    def _apply_image(self, image):
        if self.value == 0:
            return image
        cv2 = opencv("HueTransform")
        turned = cv2.cvtColor(image.astype(np.uint8), cv2.COLOR_BGR2HSV_FULL)
        turn = int(np.random.uniform(-self.value, self.value) * 255)
        turned[..., 0] += np.uint8(turn % 256)  # wraps around
        return cv2.cvtColor(turned, cv2.COLOR_HSV2BGR_FULL).astype(image.dtype)


class ColorJitter(PixelTransform):
    """Brightness, contrast, saturation and hue in random order, by their values; 0 is none."""

    def __init__(self, brightness=0, contrast=0, saturation=0, hue=0, *, order=None):
        super().__init__(order)
        values = {
            BrightnessTransform: brightness,
            ContrastTransform: contrast,
            SaturationTransform: saturation,
            HueTransform: hue,
        }
        transforms = [kind(value) for kind, value in values.items() if value != 0]
        group = tuple(range(1, len(transforms) + 1))
        self.transforms = Compose(transforms, shuffle_indices=[group], order=order)

    def apply(self, input):
        """The changed sample."""
        self.transforms.set_order(self.order)
        return self.transforms.apply(input)


# Axes of the colors of ImageNet's images, rows for blue, green, red, and their variances.
_COLOR_AXES = np.array(
    [[-0.5836, -0.6948, 0.4203], [-0.5808, -0.0045, -0.8140], [-0.5675, 0.7192, 0.4009]]
)
_COLOR_VARIANCES = np.array([0.2175, 0.0188, 0.0045])


class Lighting(PixelTransform):
    """Adds one color, drawn along the axes of the colors of ImageNet's images.

    The numbers along the axes are normal, of deviation 255 * `scale`; values stay in [0, 255].
    """

    def __init__(self, scale, *, order=None):
        super().__init__(order)
        if scale < 0:
            raise ValueError(f"Lighting: scale must be >= 0, got {scale}")
        self.scale = scale

    def _apply_image(self, image):
        if self.scale == 0:
            return image
        alpha = np.random.normal(scale=self.scale * 255, size=3)
        color = _COLOR_AXES.dot(alpha * _COLOR_VARIANCES)
        return (image.astype(np.float32) + color).clip(0, 255).astype(image.dtype)
