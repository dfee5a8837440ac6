"""A detector like RetinaNet, which finds handwritten digits on photographs.

    tools/dev python frontends/examples/detector.py [--steps N] [--dump detector.tess]

T. Lin et al.: Focal Loss for Dense Object Detection, 2017. Digits (8 or 16 pixels high) and
photographs are those of scikit-learn. The file is `detect`: pictures to boxes, after NMS.
"""

import numpy as np
import pictures
import tessera as mge
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import training
from tessera.optimizer import Adam

SIZE, CLASSES, MOST = 48, 10, 3
STRIDES, HEIGHTS = (4, 8), (8.0, 16.0)  # of the maps, and of the anchors in each of them
INPUTS = {"image": {0: training.BATCH}}


def anchors():
    """Boxes (x1, y1, x2, y2) around the middle of each place of each map: float32[A, 4]."""
    boxes = []
    for stride, height in zip(STRIDES, HEIGHTS, strict=True):
        middle = (np.arange(SIZE // stride) + 0.5) * stride
        y, x = (each.ravel() for each in np.meshgrid(middle, middle, indexing="ij"))
        half = height / 2
        boxes.append(np.stack([x - half, y - half, x + half, y + half], 1))
    return np.concatenate(boxes).astype(np.float32)


def overlaps(a, b):
    """Intersection over union of boxes that broadcast, float[..., 4]."""
    sides = F.minimum(a[..., 2:], b[..., 2:]) - F.maximum(a[..., :2], b[..., :2])
    both = F.prod(F.maximum(sides, 0.0), axis=-1)
    areas = [F.prod(each[..., 2:] - each[..., :2], axis=-1) for each in (a, b)]
    return both / (areas[0] + areas[1] - both)


def tower(width, outputs):
    """The head that all maps share."""
    layers = [M.Conv2d(width, width, 3, padding=1), M.ReLU()]
    return M.Sequential(*layers, M.Conv2d(width, outputs, 3, padding=1))


class Detector(M.Module):
    """Maps of two sizes, the larger one with what the smaller one knows, under shared heads."""

    def __init__(self, width=32):
        super().__init__()
        self.stem = M.Sequential(*self._down(3, width // 2), *self._down(width // 2, width))
        self.down = M.Sequential(*self._down(width, width))
        self.lateral = M.Conv2d(width, width, 1)
        self.scores, self.offsets = tower(width, CLASSES), tower(width, 4)
        self.anchors = mge.tensor(anchors())
        M.init.fill_(self.scores[-1].bias, -4.0)  # at first nothing is likely: section 4.1

    def _down(self, inputs, outputs):
        return M.ConvBnRelu2d(inputs, outputs, 3, 2, 1), M.ConvBnRelu2d(outputs, outputs, 3, 1, 1)

    def forward(self, image):
        """float[N, 3, SIZE, SIZE] -> logits float[N, A, CLASSES], and offsets float[N, A, 4] from
        the anchors: of the middle in anchors' heights, and logarithms of the sides.
        """
        high = self.stem(image)
        low = self.down(high)
        high = self.lateral(high) + F.vision.interpolate(low, scale_factor=2, mode="nearest")
        return [
            F.concat([F.flatten(head(x), 2) for x in (high, low)], 2).transpose(0, 2, 1)
            for head in (self.scores, self.offsets)
        ]

    def assign(self, boxes, labels):
        """For each anchor the number of the box that it overlaps most, and its label: CLASSES for
        none (below 0.4), -1 where that is not clear (below 0.5). Both int32[N, A].
        """
        shared = overlaps(F.expand_dims(self.anchors, 1), F.expand_dims(boxes, 1))
        shared = F.where(F.expand_dims(labels, 1) >= 0, shared, -1.0)  # some boxes are none
        chosen, best = F.argmax(shared, axis=2), F.max(shared, axis=2)
        label = F.gather(labels, 1, chosen)
        return chosen, F.where(best < 0.5, F.where(best < 0.4, CLASSES, -1), label)

    def offsets_of(self, boxes):
        """From the anchors: what `boxes_at` takes back."""
        sides = self.anchors[:, 2:] - self.anchors[:, :2]
        middle = (boxes[..., :2] + boxes[..., 2:] - self.anchors[:, :2] - self.anchors[:, 2:]) / 2
        return F.concat([middle / sides, F.log((boxes[..., 2:] - boxes[..., :2]) / sides)], -1)

    def boxes_at(self, offsets):
        """float[N, A, 4], in pixels."""
        sides = self.anchors[:, 2:] - self.anchors[:, :2]
        middle = (self.anchors[:, :2] + self.anchors[:, 2:]) / 2 + offsets[..., :2] * sides
        half = F.exp(offsets[..., 2:]) * sides / 2
        return F.concat([middle - half, middle + half], -1)

    def detect(self, image, score=0.4, overlap=0.4):
        """The likely boxes of all pictures, the best first, of those that overlap in a picture only
        the best: number of the picture int32[K], box float[K, 4], class int32[K], score float[K].
        """
        logits, offsets = self(image)
        best = F.sigmoid(F.max(logits, axis=2)).flatten()
        kept = F.non_zero(best > score).flatten()
        boxes, scores = self.boxes_at(offsets).reshape(-1, 4)[kept], best[kept]
        picture = kept // len(anchors())
        apart = boxes + F.expand_dims(picture.astype("float32") * (4 * SIZE), 1)
        chosen = F.vision.nms(apart, scores, overlap)
        label = F.argmax(logits, axis=2).flatten()[kept]
        return picture[chosen], boxes[chosen], label[chosen], scores[chosen]


def batch(seed, count, held_out=False):
    """float32[count, 3, SIZE, SIZE], boxes float32[count, MOST, 4] and digits int32[count, MOST];
    a picture has one to MOST of them, and then -1.
    """
    random = np.random.RandomState(seed)
    images, _ = pictures.crops(random, count, SIZE, held_out)
    boxes, labels = np.ones((count, MOST, 4), np.float32), np.full((count, MOST), -1, np.int32)
    boxes[..., :2] = 0
    for image, box, label in zip(images, boxes, labels, strict=True):
        digits, names = pictures.some_digits(random, random.randint(1, MOST + 1), held_out)
        for number, digit in enumerate(digits):
            ink = np.kron(digit, np.ones([random.randint(1, 3)] * 2, np.float32))
            y, x = random.randint(0, SIZE - len(ink) + 1, 2)
            part = image[:, y : y + len(ink), x : x + len(ink)]
            part += ink * (random.choice([-1, 1]) - part)
            box[number], label[number] = (x, y, x + len(ink), y + len(ink)), names[number]
    return images, boxes, labels


def loss(model, image, boxes, labels):
    """Focal loss of the classes (equation 5) and smooth L1 of the boxes, for each anchor of one."""
    logits, offsets = model(image)
    chosen, label = model.assign(boxes, labels)
    is_box = F.logical_and(label >= 0, label < CLASSES)
    wanted = F.expand_dims(label, 2) == F.arange(CLASSES, dtype="int32")
    wanted = wanted.astype(logits.dtype)
    entropy = F.loss.binary_cross_entropy(logits, wanted, reduction="none")
    probability = F.sigmoid(logits)
    surprise = wanted + probability - 2 * wanted * probability
    focal = (0.25 * wanted + 0.75 * (1 - wanted)) * surprise**2 * entropy
    focal = F.where(F.expand_dims(label >= 0, 2), focal, 0.0)
    nearest = F.gather(boxes, 1, F.broadcast_to(F.expand_dims(chosen, 2), (*chosen.shape, 4)))
    wrong = F.loss.smooth_l1_loss(offsets, model.offsets_of(nearest), reduction="none", beta=0.1)
    wrong = F.where(F.expand_dims(is_box, 2), wrong, 0.0)
    return (F.sum(focal) + F.sum(wrong)) / F.maximum(F.sum(is_box), 1)


def training_step(model):
    """Adam."""
    return training.step_of(model, loss, Adam(model.parameters(), lr=2e-3))


def found(model, image, boxes, labels):
    """How many digits were found where they are, how many there are, and how many were told."""
    picture, at, label, _ = (each.numpy() for each in model.detect(mge.tensor(image)))
    hits = 0
    for number, own in enumerate(labels):
        shared = overlaps(*map(mge.tensor, (boxes[number][:, None], at[picture == number][None])))
        is_same = own[:, None] == label[picture == number]
        hits += (is_same & (shared.numpy() > 0.5)).any(axis=1).sum()
    return hits, (labels >= 0).sum(), len(label)


def main(arguments=None):
    """Trains, tells recall and precision for pictures that are held out, and dumps."""
    options = training.parser(__doc__, steps=400).parse_args(arguments)
    mge.random.seed(0)
    model = Detector()
    training.fit(training_step(model), batch, options)
    with mge.no_grad():
        hits, there, told = found(model.eval(), *batch(0, 64, held_out=True))
    print(f"held-out digits: {there}, told: {told}, right: {hits}")
    training.finish(model.detect, INPUTS, batch(0, 4), options)


if __name__ == "__main__":
    main()
