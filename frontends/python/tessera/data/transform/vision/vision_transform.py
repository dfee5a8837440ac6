"""VisionTransform, and transforms made of transforms."""

from collections.abc import Sequence

import numpy as np

from ...._extras import importing
from ..transform import Transform

_CORNERS = [0, 1, 2, 1, 0, 3, 2, 3]  # (x, y) of the four corners of a box (x1, y1, x2, y2)


class VisionTransform(Transform):
    """A change of images and of what belongs to them.

    A sample is a tuple; `order` names its parts, and each is changed by the method `_apply_*` of
    that name. Parts beyond `order` stay. Parts of a sample that is changed are new arrays.

    * "image": (H, W, C)
    * "mask": (H, W, 1), one class for each pixel
    * "coords": (N, 2), each x, y in pixels
    * "boxes": (N, 4), each x1, y1, x2, y2: the corners at the top left and the bottom right
    * "keypoints": (N, K, 3), each x, y and visibility
    * "polygons": for each instance a list of arrays (N, 2)
    * names that end in "category" or "info": left as they are where there is no such method
    """

    def __init__(self, order=None):
        order = ("image",) if order is None else order
        name = type(self).__name__
        if not isinstance(order, Sequence) or isinstance(order, str):
            raise ValueError(f"{name}: order must be a sequence of names, got {order!r}")
        if "batch" in order:
            raise ValueError(f"{name}: order must name parts of a sample, got {order!r}")
        unknown = [each for each in order if not self._knows(each)]
        if unknown:
            raise NotImplementedError(f"{name}: order must name known parts, got {unknown!r}")
        self.order = order

    def _knows(self, part):
        return part.endswith(("category", "info")) or self._method(part) is not None

    def _method(self, part):
        return getattr(self, f"_apply_{part}", None)

    def apply(self, input):
        """The changed sample; a sample that is no tuple is its first part."""
        parts = list(input) if isinstance(input, tuple) else [input]
        for number, name in enumerate(self.order[: len(parts)]):
            method = self._method(name)
            if method is not None:
                parts[number] = method(parts[number])
        return parts[0] if len(parts) == 1 else tuple(parts)

    def _get_image(self, input):
        parts = input if isinstance(input, tuple) else (input,)
        if "image" not in self.order:
            raise ValueError(
                f"{type(self).__name__}: order must have an image, got {tuple(self.order)}"
            )
        return parts[self.order.index("image")]

    def _apply_image(self, image):
        raise NotImplementedError(f"{type(self).__name__}: images must be supported, got one")

    def _apply_coords(self, coords):
        raise NotImplementedError(f"{type(self).__name__}: coords must be supported, got some")

    def _apply_mask(self, mask):
        raise NotImplementedError(f"{type(self).__name__}: masks must be supported, got one")

    def _apply_boxes(self, boxes):
        corners = np.asarray(boxes).reshape(-1, 4)[:, _CORNERS].reshape(-1, 2)
        corners = self._apply_coords(corners).reshape(-1, 4, 2)
        return np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)

    def _apply_keypoints(self, keypoints):
        keypoints = np.asarray(keypoints)
        coords = self._apply_coords(keypoints[..., :2].reshape(-1, 2))
        coords = coords.reshape(*keypoints.shape[:-1], 2)
        return np.concatenate([coords, keypoints[..., 2:]], axis=-1)

    def _apply_polygons(self, polygons):
        return [[self._apply_coords(each) for each in instance] for instance in polygons]


class PixelTransform(VisionTransform):
    """A change of pixels alone: coordinates and masks stay."""

    def _apply_coords(self, coords):
        return coords

    def _apply_mask(self, mask):
        return mask


class ToMode(VisionTransform):
    """Images and masks from (H, W, C) to (C, H, W), for the `mode` "CHW"."""

    def __init__(self, mode="CHW", *, order=None):
        super().__init__(order)
        if mode != "CHW":
            raise ValueError(f"ToMode: mode must be 'CHW', got {mode!r}")
        self.mode = mode

    def _apply_image(self, image):
        return np.ascontiguousarray(np.moveaxis(image, 2, 0))

    def _apply_coords(self, coords):
        return coords

    def _apply_mask(self, mask):
        return self._apply_image(mask)


class Compose(VisionTransform):
    """One transform after the other, all with the `order` of this one.

    `shuffle_indices` lists groups of positions, counted from 1; the transforms of a group change
    places at random for each sample. `batch_compose` gives each transform a whole batch.
    """

    def __init__(self, transforms=(), batch_compose=False, shuffle_indices=None, *, order=None):
        super().__init__(order)
        if batch_compose and shuffle_indices is not None:
            raise ValueError(
                f"Compose: shuffle_indices must be None for whole batches, got {shuffle_indices!r}"
            )
        self.transforms, self.batch_compose = list(transforms), batch_compose
        self.shuffle_indices = shuffle_indices
        self.set_order(self.order)

    def set_order(self, order):
        """Names the parts of samples, here and in every transform."""
        self.order = order
        for each in self.transforms:
            if isinstance(each, Compose):
                each.set_order(order)
            else:
                each.order = order

    def apply_batch(self, inputs):
        """The changed samples of one batch."""
        if not self.batch_compose:
            return super().apply_batch(inputs)
        for each in self.transforms:
            inputs = each.apply_batch(inputs)
        return inputs

    def apply(self, input):
        """The changed sample."""
        for each in self._shuffled():
            input = each.apply(input)
        return input

    def _shuffled(self):
        places = list(range(len(self.transforms)))
        for group in self.shuffle_indices or ():
            drawn = np.random.permutation(group).tolist() if group else []
            for place, other in zip(group, drawn, strict=True):
                places[place - 1] = other - 1
        return [self.transforms[place] for place in places]


class TorchTransformCompose(VisionTransform):
    """Transforms of torchvision, one after the other; each is a function of a PIL image.

    The image is uint8 (H, W, C), C 1 or 3 (blue, green, red; PIL images are red, green, blue).
    """

    def __init__(self, transforms, *, order=None):
        super().__init__(order)
        self.transforms = transforms

    def _apply_image(self, image):
        with importing("TorchTransformCompose", "Pillow", "pillow"):
            from PIL import Image
        flat = image[:, :, 0] if image.shape[2] == 1 else image[:, :, ::-1]
        result = Image.fromarray(np.ascontiguousarray(flat.astype(np.uint8)))
        for each in self.transforms:
            result = each(result)
        result = np.array(result, dtype=np.uint8)
        return result[:, :, np.newaxis] if result.ndim == 2 else result[:, :, ::-1].copy()
