"""PascalVOC: boxes or masks of 20 classes."""

import os
from xml.etree import ElementTree

import numpy as np

from ...._opencv import read_image
from .vision_dataset import VisionDataset, must_exist

_SOURCE = "http://host.robots.ox.ac.uk/pascal/VOC"
_NAMES = """aeroplane bicycle bird boat bottle bus car cat chair cow diningtable dog horse motorbike
person pottedplant sheep sofa train tvmonitor"""


def _color(number):
    """Blue, green, red of a class: its bits by threes are the high bits of red, green and blue."""
    return tuple(
        sum((number >> 3 * bit + channel & 1) << 7 - bit for bit in range(8))
        for channel in (2, 1, 0)
    )


class PascalVOC(VisionDataset):
    """Photographs with boxes or masks: the VOC of one year, such as VOCdevkit/VOC2012, in `root`.

    `image_set` names a list in ImageSets, "train" for example; with "aug" in it masks are gray
    images in SegmentationClass_aug.

    * "image": uint8 (H, W, 3) in blue, green, red
    * "boxes": float32 (N, 4), each x1, y1, x2, y2
    * "boxes_category": int32 (N,), the place in `class_names`, counted from 1
    * "mask": uint8 (H, W, 1), 0 background, classes counted from 1, 255 nothing
    * "info": [height, width, name]

    ValueError where both boxes and masks are asked for, or none.
    """

    supported_order = ("image", "boxes", "boxes_category", "mask", "info")
    class_names = tuple(_NAMES.split())
    class_colors = tuple(_color(number) for number in range(21))

    def __init__(self, root, image_set, *, order=None):
        super().__init__(root, order=order, supported_order=self.supported_order)
        has_boxes = "boxes" in self.order or "boxes_category" in self.order
        if has_boxes == ("mask" in self.order):
            raise ValueError(f"PascalVOC: order must have boxes or masks, got {self.order!r}")
        self.image_set = image_set.strip()
        folder = "Main" if has_boxes else "Segmentation"
        names = os.path.join(self.root, "ImageSets", folder, f"{self.image_set}.txt")
        with open(must_exist("PascalVOC", names, _SOURCE)) as lines:
            self.file_names = [line.split()[0] for line in lines if line.strip()]
        self.images = self._paths("JPEGImages", ".jpg")
        if has_boxes:
            self.annotations = self._paths("Annotations", ".xml")
        else:
            aug = "_aug" if "aug" in self.image_set else ""
            self.masks = self._paths(f"SegmentationClass{aug}", ".png")

    def _paths(self, folder, ending):
        return [os.path.join(self.root, folder, name + ending) for name in self.file_names]

    def __getitem__(self, index):
        return tuple(getattr(self, f"_{part}")(index) for part in self.order)

    def __len__(self):
        return len(self.images)

    def get_img_info(self, index):
        """{"height", "width", "file_name"} of image number `index`."""
        height, width, _ = self._image(index).shape
        return {"height": height, "width": width, "file_name": self.file_names[index]}

    def _image(self, index):
        return read_image("PascalVOC", self.images[index])

    def _info(self, index):
        return list(self.get_img_info(index).values())

    def _objects(self, index):
        return ElementTree.parse(self.annotations[index]).getroot().findall("object")

    def _boxes(self, index):
        corners = ("xmin", "ymin", "xmax", "ymax")
        boxes = [[each.findtext(f"bndbox/{c}") for c in corners] for each in self._objects(index)]
        return np.array(boxes, dtype=np.float32).reshape(-1, 4)

    def _boxes_category(self, index):
        names = [each.findtext("name").strip() for each in self._objects(index)]
        return np.array([self.class_names.index(name) + 1 for name in names], dtype=np.int32)

    def _mask(self, index):
        path = self.masks[index]
        if "aug" in self.image_set:
            return read_image("PascalVOC", path, color=False)[:, :, np.newaxis]
        pixels = read_image("PascalVOC", path)
        mask = np.full((*pixels.shape[:2], 1), 255, dtype=np.uint8)
        for number, color in enumerate(self.class_colors):
            mask[(pixels == color).all(axis=-1)] = number
        return mask
