"""The detector: how it names anchors too, and what it does with boxes that overlap."""

import detector
import numpy as np
import tessera

from tests.examples.harness import Example
from tests.support.helper import assert_close

LIKELY = 0.04  # after the few steps of a test


class TestDetector(Example):
    module = detector
    steps, count = 20, 4

    @classmethod
    def make(cls):
        return detector.Detector(width=8)

    @classmethod
    def inference(cls, model):
        model.eval()
        return lambda image: model.detect(image, score=LIKELY)

    def test_something_is_found(self, eager):
        """Else the file is compared by empty results."""
        for count in self.batches:
            image = tessera.tensor(detector.batch(1, count)[0])
            assert 0 < len(self.inference(eager[0])(image)[0]) < 400


def iou(a, b):
    sides = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    both = np.prod(np.maximum(sides, 0))
    return both / (np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]) - both)


def test_anchors_get_the_box_that_they_overlap_most():
    model, (_, boxes, labels) = detector.Detector(width=4), detector.batch(3, 5)
    chosen, label = (x.numpy() for x in model.assign(*map(tessera.tensor, (boxes, labels))))
    kinds = set()
    for n, a in np.ndindex(label.shape):
        real = [i for i in range(detector.MOST) if labels[n, i] >= 0]
        shared = [iou(detector.anchors()[a], boxes[n, i]) for i in real]
        best = max(shared)
        if best < 0.5:
            assert label[n, a] == (detector.CLASSES if best < 0.4 else -1)
        else:
            assert shared[chosen[n, a]] == best and label[n, a] == labels[n, chosen[n, a]]
        kinds.add(min(label[n, a], detector.CLASSES) if label[n, a] < 0 else label[n, a] < 10)
    assert kinds == {-1, True, False}


def test_offsets_and_boxes_are_inverse():
    model, corner = (
        detector.Detector(width=4),
        np.random.RandomState(0).rand(2, len(detector.anchors()), 2),
    )
    boxes = np.concatenate([corner * 20, corner * 20 + 3 + corner], 2).astype(np.float32)
    assert_close(
        model.boxes_at(model.offsets_of(tessera.tensor(boxes))), boxes, rtol=1e-5, atol=1e-4
    )


def test_only_the_best_of_boxes_that_overlap_in_a_picture_stays():
    """The same box in two pictures is two."""
    model, many = detector.Detector(width=4), len(detector.anchors())
    logits, offsets = np.full((2, many, 10), -9.0), np.zeros((2, many, 4))
    logits[0, 30, 4], logits[0, 31, 4], logits[1, 30, 7] = 2.0, 3.0, 1.0
    offsets[0, 30, 0] = 0.5  # of 8 pixels: where the next anchor is
    model.forward = lambda image: [tessera.tensor(logits), tessera.tensor(offsets)]
    picture, box, label, _ = (each.numpy() for each in model.detect(None))
    assert picture.tolist() == [0, 1] and label.tolist() == [4, 7]
    assert_close(box, detector.anchors()[[31, 30]])
