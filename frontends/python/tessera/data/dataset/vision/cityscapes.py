"""Cityscapes: streets, with a class for each pixel."""

import os

import numpy as np

from ...._opencv import read_image
from .vision_dataset import VisionDataset, must_exist

_SOURCE = "https://www.cityscapes-dataset.com, after registration"
_SETS = {"gtFine": ("train", "val", "test"), "gtCoarse": ("train", "train_extra", "val")}
_NAMES = """road, sidewalk, building, wall, fence, pole, traffic light, traffic sign, vegetation,
terrain, sky, person, rider, car, truck, bus, train, motorcycle, bicycle"""
_LABELS = [7, 8, 11, 12, 13, 17, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 31, 32, 33]


class Cityscapes(VisionDataset):
    """Photographs of streets with masks, from the folders leftImg8bit and `mode` in `root`.

    `mode` is "gtFine" or "gtCoarse", `image_set` one of its parts, "train" for example.

    * "image": uint8 (H, W, 3) in blue, green, red
    * "mask": uint8 (H, W, 1), the place in `class_names`, 255 for all other pixels
    * "info": [height, width, path of the image]
    """

    supported_order = ("image", "mask", "info")
    class_names = tuple(name.strip() for name in _NAMES.split(","))

    def __init__(self, root, image_set, mode, *, order=None):
        super().__init__(root, order=order, supported_order=self.supported_order)
        if image_set not in _SETS.get(mode, ()):
            raise ValueError(
                f"Cityscapes: mode and image_set must be of {_SETS}, got {mode!r}, {image_set!r}"
            )
        self.mode = mode
        self.images_dir = os.path.join(self.root, "leftImg8bit", image_set)
        self.masks_dir = os.path.join(self.root, mode, image_set)
        must_exist("Cityscapes", self.images_dir, _SOURCE)
        must_exist("Cityscapes", self.masks_dir, _SOURCE)
        self.images, self.masks = [], []
        for city in sorted(os.listdir(self.images_dir)):
            for name in sorted(os.listdir(os.path.join(self.images_dir, city))):
                mask = f"{name.split('_leftImg8bit')[0]}_{mode}_labelIds.png"
                self.images.append(os.path.join(self.images_dir, city, name))
                self.masks.append(os.path.join(self.masks_dir, city, mask))
        self._classes = np.full(256, 255, dtype=np.uint8)
        self._classes[_LABELS] = np.arange(len(_LABELS))

    def __getitem__(self, index):
        return tuple(getattr(self, f"_{part}")(index) for part in self.order)

    def __len__(self):
        return len(self.images)

    def _image(self, index):
        return read_image("Cityscapes", self.images[index])

    def _mask(self, index):
        mask = read_image("Cityscapes", self.masks[index], color=False)
        return self._classes[mask][:, :, np.newaxis]

    def _info(self, index):
        height, width, _ = self._image(index).shape
        return [height, width, self.images[index]]
