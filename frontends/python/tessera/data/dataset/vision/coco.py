"""COCO: common objects in context."""

import numpy as np

from .annotations import AnnotatedDataset

_NAMES = """person, bicycle, car, motorcycle, airplane, bus, train, truck, boat, traffic light,
fire hydrant, stop sign, parking meter, bench, bird, cat, dog, horse, sheep, cow, elephant, bear,
zebra, giraffe, backpack, umbrella, handbag, tie, suitcase, frisbee, skis, snowboard, sports ball,
kite, baseball bat, baseball glove, skateboard, surfboard, tennis racket, bottle, wine glass, cup,
fork, knife, spoon, bowl, banana, apple, sandwich, orange, broccoli, carrot, hot dog, pizza, donut,
cake, chair, couch, potted plant, bed, dining table, toilet, tv, laptop, mouse, remote, keyboard,
cell phone, microwave, oven, toaster, sink, refrigerator, book, clock, vase, scissors, teddy bear,
hair drier, toothbrush"""
_UNUSED = {12, 26, 29, 30, 45, 66, 68, 69, 71, 83}  # numbers of classes that COCO has given up
_KEYPOINTS = """nose left_eye right_eye left_ear right_ear left_shoulder right_shoulder left_elbow
right_elbow left_wrist right_wrist left_hip right_hip left_knee right_knee left_ankle right_ankle"""
_LEAST_KEYPOINTS = 10  # visible ones, over all persons of an image


class COCO(AnnotatedDataset):
    """Photographs with boxes of 80 classes; parts and arguments are those of AnnotatedDataset.

    There is also "keypoints", float32 (N, 17, 3), each x, y and visibility (0 is none). With it
    `remove_images_without_annotations` also leaves out images with fewer than ten visible ones.
    """

    source = "https://cocodataset.org"
    supported_order = ("image", "boxes", "boxes_category", "keypoints", "info")
    class_names = tuple(name.strip() for name in _NAMES.split(","))
    classes_originID = dict(  # noqa: N815
        zip(class_names, sorted(set(range(1, 91)) - _UNUSED), strict=True)
    )
    keypoint_names = tuple(_KEYPOINTS.split())

    def _is_enough(self, annotations):
        if "keypoints" not in self.order or not annotations:
            return bool(annotations)
        visible = [v for each in annotations for v in each.get("keypoints", ())[2::3] if v > 0]
        return len(visible) >= _LEAST_KEYPOINTS

    def _keypoints(self, image):
        points = [each["keypoints"] for each in self.img_to_anns[image]]
        return np.array(points, dtype=np.float32).reshape(-1, len(self.keypoint_names), 3)
