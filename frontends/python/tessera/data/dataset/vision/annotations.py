"""Datasets whose boxes stand in one JSON file of COCO's form."""

import json
import os
from collections import defaultdict

import numpy as np

from ...._opencv import read_image
from .vision_dataset import VisionDataset, must_exist


class AnnotatedDataset(VisionDataset):
    """Images below `root`, with what `ann_file` says of them. A subclass gives `source`, where its
    data is from, and `supported_order`.

    * "image": uint8 (H, W, 3) in blue, green, red
    * "boxes": float32 (N, 4), each x1, y1, x2, y2
    * "boxes_category": int32 (N,), counted from 1 by the sorted numbers of the file's categories
    * "info": [height, width, file name]

    `remove_images_without_annotations` leaves out crowds and empty boxes, and images without any
    other.
    """

    source = None
    supported_order = ("image", "boxes", "boxes_category", "info")

    def __init__(self, root, ann_file, remove_images_without_annotations=False, *, order=None):
        super().__init__(root, order=order, supported_order=self.supported_order)
        with open(must_exist(type(self).__name__, ann_file, self.source)) as text:
            data = json.load(text)
        self.imgs = {each["id"]: each for each in data["images"]}
        self.cats = {each["id"]: each for each in data["categories"]}
        self.img_to_anns = defaultdict(list)
        for each in data["annotations"]:
            self.img_to_anns[each["image_id"]].append(each)
        self.ids = sorted(self.imgs)
        if remove_images_without_annotations:
            self._remove_without_annotations()
        numbers = {category: place + 1 for place, category in enumerate(sorted(self.cats))}
        self.json_category_id_to_contiguous_id = numbers
        self.contiguous_category_id_to_json_id = {place: each for each, place in numbers.items()}

    def _remove_without_annotations(self):
        for image in self.ids:
            kept = [each for each in self.img_to_anns[image] if not each.get("iscrowd", 0)]
            kept = [each for each in kept if min(each["bbox"][2:]) > 0]
            self.img_to_anns[image] = kept if self._is_enough(kept) else []
        self.ids = [image for image in self.ids if self.img_to_anns[image]]

    def _is_enough(self, annotations):
        return bool(annotations)

    def get_img_info(self, index):
        """What the file says of image number `index`, a dict."""
        return self.imgs[self.ids[index]]

    def __getitem__(self, index):
        image = self.ids[index]
        return tuple(getattr(self, f"_{part}")(image) for part in self.order)

    def __len__(self):
        return len(self.ids)

    def _image(self, image):
        path = os.path.join(self.root, self.imgs[image]["file_name"])
        return read_image(type(self).__name__, path)

    def _boxes(self, image):
        boxes = [each["bbox"] for each in self.img_to_anns[image]]
        boxes = np.array(boxes, dtype=np.float32).reshape(-1, 4)
        boxes[:, 2:] += boxes[:, :2]  # the file has widths and heights
        return boxes

    def _boxes_category(self, image):
        numbers = self.json_category_id_to_contiguous_id
        found = [numbers[each["category_id"]] for each in self.img_to_anns[image]]
        return np.array(found, dtype=np.int32)

    def _info(self, image):
        info = self.imgs[image]
        return [info["height"], info["width"], info["file_name"]]
