"""ImageFolder: one folder of images for each class."""

import os

import numpy as np

from ...._opencv import read_image
from .vision_dataset import VisionDataset, must_exist

_ENDINGS = (".jpg", ".jpeg", ".png", ".bmp", ".ppm", ".pgm", ".tif", ".tiff", ".webp")


def is_image(path):
    """Whether the name of the file ends as an image's does.

    >>> from tessera.data.dataset.vision.folder import is_image
    >>> is_image("a/b.JPEG"), is_image("a/b.txt")
    (True, False)
    """
    return str(path).lower().endswith(_ENDINGS)


class ImageFolder(VisionDataset):
    """The images root/class/**/name: an image, uint8 (H, W, 3) in blue, green, red, and its class.

    The class is an int32, the place of its name among the sorted names, or with `class_name` the
    name. `check_valid_func` tells of a path whether it is an image (default: by its ending).
    """

    def __init__(self, root, check_valid_func=None, class_name=False):
        super().__init__(root, order=("image", "image_category"))
        must_exist(type(self).__name__, self.root, "your own images, one folder for each class")
        self.check_valid, self.class_name = check_valid_func or is_image, class_name
        names = sorted(each.name for each in os.scandir(self.root) if each.is_dir())
        self.class_dict = {name: np.int32(number) for number, name in enumerate(names)}
        self.samples = [
            (path, name if class_name else number)
            for name, number in self.class_dict.items()
            for path in self._images(name)
        ]

    def _images(self, name):
        for folder, _, files in sorted(os.walk(os.path.join(self.root, name), followlinks=True)):
            paths = (os.path.join(folder, each) for each in sorted(files))
            yield from (path for path in paths if self.check_valid(path))

    def __getitem__(self, index):
        path, label = self.samples[index]
        return read_image(type(self).__name__, path), label

    def __len__(self):
        return len(self.samples)
