"""Images [N, C, H, W] changed as training data are: noise, contrast, filters, mirror images.

A number among the parameters may be a pair instead, of which each call draws one of [first,
second). Pixels of uint8 are computed with in float32 and limited to 0 to 255.
"""

import numpy as np

from .. import functional as F  # noqa: N812
from .._known_form import known_form
from ..random import RNG
from ..tensor import Tensor
from .module import Module


def _drawn(module, what, value, rng, size=()):
    """The number itself, or one of a pair for each place of `size`."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    if isinstance(value, tuple) and len(value) == 2:
        return rng.uniform(*value, size)
    name = type(module).__name__
    raise TypeError(f"{name}: {what} must be a number or a tuple of two, got {value!r}")


def _as_stored(result, inp):
    """In the dtype of the images that it was made of."""
    if inp.dtype != "uint8":
        return result if result.dtype == inp.dtype else F.astype(result, inp.dtype)
    return F.astype(F.clip(F.round(result), 0, 255), "uint8")


class AdditiveElemwise(Module):
    """Images plus what `sample(size)` of a class made of this one gives: a number for each pixel,
    and with `per_channel` for each of its channels.
    """

    def __init__(self, per_channel=False, **kwargs):
        super().__init__(**kwargs)
        self.per_channel = per_channel

    def sample(self, size):
        """Numbers of this shape."""
        raise NotImplementedError(f"{type(self).__name__}: sample must be given, got none")

    @known_form
    def forward(self, inp):
        """See the class."""
        count, channels, *plane = inp.shape
        noise = self.sample((count, channels if self.per_channel else 1, *plane))
        return _as_stored(inp + noise, inp)


class _Noise(AdditiveElemwise):
    def __init__(self, per_channel, seed, **kwargs):
        super().__init__(per_channel, **kwargs)
        self._rng = RNG(seed)


class AdditiveGaussianNoise(_Noise):
    """Images plus numbers of a normal distribution.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> M.AdditiveGaussianNoise(seed=1)(F.ones((1, 3, 4, 4))).shape
    (1, 3, 4, 4)
    """

    def __init__(self, mean=0.0, std=1.0, per_channel=False, seed=None, **kwargs):
        super().__init__(per_channel, seed, **kwargs)
        self.mean, self.std = mean, std

    def sample(self, size):
        """See the class."""
        return self._rng.normal(self.mean, self.std, size)


class AdditiveLaplaceNoise(_Noise):
    """Images plus numbers of the Laplace distribution: `mean - std * sign(u) * log(1 - |u|)` of a
    uniform u between -1 and 1.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> M.AdditiveLaplaceNoise(seed=1)(F.ones((1, 3, 4, 4))).shape
    (1, 3, 4, 4)
    """

    def __init__(self, mean=0.0, std=1.0, per_channel=False, seed=None, **kwargs):
        super().__init__(per_channel, seed, **kwargs)
        self.mean, self.std = mean, std

    def sample(self, size):
        """See the class."""
        u = self._rng.uniform(float(np.finfo(np.float32).eps) - 1, 1, size)
        return self.mean - self.std * F.sign(u) * F.log1p(-F.abs(u))


class AdditivePoissonNoise(_Noise):
    """Images plus numbers of the Poisson distribution with mean `lam`.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> M.AdditivePoissonNoise(2.0, seed=1)(F.ones((1, 3, 4, 4))).shape
    (1, 3, 4, 4)
    """

    def __init__(self, lam=1.0, per_channel=False, seed=None, **kwargs):
        super().__init__(per_channel, seed, **kwargs)
        self.lam = lam

    def sample(self, size):
        """See the class."""
        return self._rng.poisson(self.lam, size)


class ActiveBlur(Module):
    """Images filtered by the kernel of 3 x 3 pixels that `get_kernel()` of a class made of this one
    gives, each channel by itself; at the edges they are mirrored.
    """

    def get_kernel(self):
        """A tensor of shape [3, 3]."""
        raise NotImplementedError(f"{type(self).__name__}: get_kernel must be given, got none")

    @known_form
    def forward(self, inp):
        """See the class."""
        channels, kernel = inp.shape[1], self.get_kernel()
        images = F.astype(inp, "float32") if inp.dtype == "uint8" else inp
        images = F.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)), mode="reflect")
        weight = F.broadcast_to(F.astype(kernel, images.dtype), (channels, 1, 3, 3))
        return _as_stored(F.conv2d(images, weight, groups=channels), inp)


class _Blended(ActiveBlur):
    """A filter of weight `alpha`, over the image of weight 1 - alpha; `amount` times `change` is
    added to its kernel.
    """

    kernel = change = None

    def __init__(self, alpha, amount, seed, **kwargs):
        super().__init__(**kwargs)
        self.alpha, self._amount, self._rng = alpha, amount, RNG(seed)

    def get_kernel(self):
        """See the class."""
        alpha = _drawn(self, "alpha", self.alpha, self._rng)
        amount = _drawn(self, self._amount, getattr(self, self._amount), self._rng)
        image = np.zeros((3, 3), np.float32)
        image[1, 1] = 1
        effect = Tensor(np.float32(self.kernel)) + Tensor(np.float32(self.change)) * amount
        return effect * alpha + Tensor(image) * (1 - alpha)


class Emboss(_Blended):
    """Images with highlights and shadows, as if light fell on them: `alpha` of the effect, of a
    `strength` usually between 0 and 2.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> M.Emboss(0.5, (0.6, 0.8), seed=1)(F.ones((1, 3, 4, 4))).shape
    (1, 3, 4, 4)
    """

    kernel = ((-1, 0, 0), (0, 1, 0), (0, 0, 1))
    change = ((-1, -1, 0), (-1, 0, 1), (0, 1, 1))

    def __init__(self, alpha, strength, seed=None, **kwargs):
        super().__init__(alpha, "strength", seed, **kwargs)
        self.strength = strength


class Sharpen(_Blended):
    """Images with sharper edges: `alpha` of the effect, of a `lightness` usually between 0.5 and 2.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> M.Sharpen(1.0, 1.0)(F.ones((1, 1, 3, 3)))[0, 0, 1, 1].item()
    1.0
    """

    kernel = ((-1, -1, -1), (-1, 8, -1), (-1, -1, -1))
    change = ((0, 0, 0), (0, 1, 0), (0, 0, 0))

    def __init__(self, alpha, lightness, seed=None, **kwargs):
        super().__init__(alpha, "lightness", seed, **kwargs)
        self.lightness = lightness


class LinearContrast(Module):
    """Pixels `center + alpha * (pixel - center)`, the centre being 127 of uint8 and 0 of floats;
    each image, and with `per_channel` each channel, draws an alpha of its own.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> M.LinearContrast(2.0)(ts.tensor([[[[1.0, -0.5]]]])).tolist()
    [[[[2.0, -1.0]]]]
    """

    def __init__(self, alpha, per_channel=False, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.alpha, self.per_channel, self._rng = alpha, per_channel, RNG(seed)

    @known_form
    def forward(self, inp):
        """See the class."""
        size = (inp.shape[0], inp.shape[1] if self.per_channel else 1, 1, 1)
        alpha = _drawn(self, "alpha", self.alpha, self._rng, size)
        center = 127.0 if inp.dtype == "uint8" else 0.0
        return _as_stored((inp - center) * alpha + center, inp)


class Flip(Module):
    """`functional.vision.flip` as a module.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> M.Flip(vertical=False)(ts.tensor([[[[1], [2]]]])).tolist()
    [[[[2], [1]]]]
    """

    def __init__(self, vertical=True, horizontal=True, format="NHWC", **kwargs):
        super().__init__(**kwargs)
        self.vertical, self.horizontal, self.format = vertical, horizontal, format

    def forward(self, inp):
        """See the class."""
        return F.vision.flip(inp, self.vertical, self.horizontal, self.format)


class Rotate(Module):
    """`functional.vision.rotate` as a module.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> M.Rotate()(ts.tensor([[[[1], [2]]]])).tolist()
    [[[[1]], [[2]]]]
    """

    def __init__(self, clockwise=True, format="NHWC", **kwargs):
        super().__init__(**kwargs)
        self.clockwise, self.format = clockwise, format

    def forward(self, inp):
        """See the class."""
        return F.vision.rotate(inp, self.clockwise, self.format)


class Rot90(Module):
    """`functional.vision.rot90` as a module.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> M.Rot90()(ts.tensor([[1, 2], [3, 4]])).tolist()
    [[2, 4], [1, 3]]
    """

    def __init__(self, k=1, axes=(0, 1), **kwargs):
        super().__init__(**kwargs)
        self.k, self.axes = k, axes

    def forward(self, inp):
        """See the class."""
        return F.vision.rot90(inp, self.k, self.axes)


class Resize(Module):
    """`functional.vision.resize` as a module.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> M.Resize((4, 6))(F.ones((1, 3, 2, 2))).shape
    (1, 3, 4, 6)
    """

    def __init__(self, target_shape, imode="linear", format="NCHW", **kwargs):
        super().__init__(**kwargs)
        self.target_shape, self.imode, self.format = target_shape, imode, format

    def forward(self, inp):
        """See the class."""
        return F.vision.resize(inp, self.target_shape, self.imode, self.format)


class Remap(Module):
    """`functional.vision.remap` as a module, of images and positions.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> M.Remap()(ts.tensor([[[[1.0, 2.0]]]]), ts.tensor([[[[0.5, 0.0]]]])).tolist()
    [[[[1.5]]]]
    """

    def __init__(self, border_mode="replicate", scalar=0.0, interp_mode="linear", **kwargs):
        super().__init__(**kwargs)
        self.border_mode, self.scalar, self.interp_mode = border_mode, scalar, interp_mode

    def forward(self, inp, map_xy):
        """See the class."""
        return F.vision.remap(inp, map_xy, self.border_mode, self.scalar, self.interp_mode)
