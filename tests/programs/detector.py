"""A detector's heads: anchors, focal loss, regions by NMS, features of regions by RoI align."""

import megengine as mge
import megengine.functional as F  # noqa: N812
import megengine.module as M  # noqa: N812
import numpy as np
from megengine.autodiff import GradManager
from megengine.functional.vision import interpolate, nms, roi_align, roi_pooling
from megengine.jit import trace
from megengine.optimizer import Adam

SIZE, STRIDE, BOX = 32, 8, 10.0


def pictures(seed, count=4):
    """Dark pictures with one bright square each, and the squares as (x0, y0, x1, y1)."""
    rng = np.random.RandomState(seed)
    image = rng.normal(0, 0.1, (count, 1, SIZE, SIZE)).astype("float32")
    boxes = np.zeros((count, 4), dtype="float32")
    for index in range(count):
        x, y = rng.randint(0, SIZE - 10, 2)
        image[index, 0, y : y + 10, x : x + 10] += 1
        boxes[index] = x, y, x + 10, y + 10
    return image, boxes


class AnchorGenerator:
    """One square at each place of the feature map."""

    def __call__(self, height, width):
        x = F.arange(width) * STRIDE + STRIDE / 2
        y = F.arange(height) * STRIDE + STRIDE / 2
        grid_x = F.broadcast_to(x.reshape(1, -1), (height, width)).flatten()
        grid_y = F.broadcast_to(y.reshape(-1, 1), (height, width)).flatten()
        centers = F.stack([grid_x, grid_y], axis=1)
        return F.concat([centers - BOX / 2, centers + BOX / 2], axis=1)


def columns(boxes):
    """Centre and size, each by column."""
    x0, y0, x1, y1 = (boxes[:, i] for i in range(4))
    return (x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0


def encode(anchors, boxes):
    """Boxes as offsets and logarithms of sizes from anchors."""
    ax, ay, aw, ah = columns(anchors)
    x, y, w, h = columns(boxes)
    return F.stack([(x - ax) / aw, (y - ay) / ah, F.log(w / aw), F.log(h / ah)], axis=1)


def decode(anchors, deltas):
    x, y, w, h = columns(anchors)
    x, y = x + deltas[:, 0] * w, y + deltas[:, 1] * h
    w, h = F.exp(deltas[:, 2]) * w / 2, F.exp(deltas[:, 3]) * h / 2
    return F.clip(F.stack([x - w, y - h, x + w, y + h], axis=1), 0, SIZE)


def iou(left, right):
    """Of each box of `left` with each of `right`."""
    left_3d, right_3d = F.expand_dims(left, 1), F.expand_dims(right, 0)
    common = 1
    for axis in (0, 1):
        low = F.maximum(left_3d[:, :, axis], right_3d[:, :, axis])
        high = F.minimum(left_3d[:, :, axis + 2], right_3d[:, :, axis + 2])
        common = common * F.maximum(high - low, 0)
    area_l, area_r = (w * h for _, _, w, h in map(columns, (left, right)))
    return common / (F.expand_dims(area_l, 1) + F.expand_dims(area_r, 0) - common)


def focal_loss(logits, targets, alpha=0.25, gamma=2.0):
    """T.-Y. Lin et al., 2017."""
    scores = F.sigmoid(logits)
    losses = -targets * alpha * (1 - scores) ** gamma * F.logsigmoid(logits)
    losses += -(1 - targets) * (1 - alpha) * scores**gamma * F.logsigmoid(-logits)
    return losses.sum() / F.maximum((targets > 0).sum(), 1)


class Detector(M.Module):
    """A backbone, a small pyramid, and heads for scores and boxes."""

    def __init__(self, width=16):
        super().__init__()
        self.stem = M.Conv2d(1, width, 3, stride=2, padding=1)
        self.down = M.Conv2d(width, width, 3, stride=4, padding=1)
        self.deep = M.Conv2d(width, width, 3, stride=2, padding=1)
        self.lateral = M.Conv2d(width, width, 1)
        self.score = M.Conv2d(width, 1, 3, padding=1)
        self.box = M.Conv2d(width, 4, 3, padding=1)
        M.init.fill_(self.score.bias, -np.log((1 - 0.05) / 0.05))
        M.init.normal_(self.box.weight, std=0.01)
        self.anchors = AnchorGenerator()

    def features(self, image):
        low = F.relu(self.down(F.relu(self.stem(image))))
        high = interpolate(F.relu(self.deep(low)), scale_factor=2, mode="nearest")
        return F.relu(self.lateral(low)) + high

    def forward(self, image):
        x = self.features(image)
        logits = self.score(x).reshape(image.shape[0], -1)
        deltas = F.transpose(self.box(x), (0, 2, 3, 1)).reshape(image.shape[0], -1, 4)
        return logits, deltas, self.anchors(x.shape[2], x.shape[3])

    def losses(self, image, boxes):
        logits, deltas, anchors = self(image)
        score_loss, box_loss = 0, 0
        for index in range(image.shape[0]):
            overlaps = iou(anchors, boxes[index : index + 1])[:, 0]
            chosen = F.logical_or(overlaps > 0.4, F.equal(overlaps, overlaps.max()))
            score_loss += focal_loss(logits[index], chosen.astype("float32"))
            _, places = F.cond_take(chosen, overlaps)
            square = F.repeat(boxes[index : index + 1], places.shape[0], axis=0)
            target = encode(anchors[places], square)
            box_loss += F.loss.l1_loss(deltas[index][places], target)
        return score_loss / image.shape[0], box_loss / image.shape[0]

    def detect(self, image, limit=8, threshold=0.05):
        """Boxes and scores of one picture, the best first."""
        logits, deltas, anchors = self(image)
        scores, places = F.topk(F.sigmoid(logits[0]), limit, descending=True)
        boxes = decode(anchors[places], deltas[0][places])
        kept = nms(boxes, scores, iou_thresh=0.3, max_output=4)
        boxes, scores = boxes[kept], scores[kept]
        good = scores > threshold
        return boxes[good], scores[good]


def train(model, steps):
    manager = GradManager().attach(model.parameters())
    optimizer = Adam(model.parameters(), lr=1e-2)
    rows = []
    for step in range(steps):
        image, boxes = map(mge.tensor, pictures(step))
        with manager:
            score_loss, box_loss = model.losses(image, boxes)
            manager.backward(score_loss + box_loss)
        optimizer.step().clear_grad()
        rows.append([score_loss.item(), box_loss.item()])
    return np.array(rows)


def overlap(a, b):
    edges = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    common = max(edges[0], 0) * max(edges[1], 0)
    return common / (np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]) - common)


def check_detection(model, count=8):
    """The best box of most pictures lies over the square; traced, the results are the same."""
    traced = trace(symbolic=False)(model.detect)
    good = 0
    for seed in range(100, 100 + count):
        image, boxes = pictures(seed, 1)
        found, scores = model.detect(mge.tensor(image))
        for got, wanted in zip(traced(mge.tensor(image)), (found, scores), strict=True):
            np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-5, atol=1e-4)
        assert found.shape == (scores.shape[0], 4)
        assert (np.diff(scores.numpy()) <= 0).all()
        good += len(found) > 0 and overlap(found[0].numpy(), boxes[0]) > 0.4
    assert good > count / 2, good
    return good


def check_nms():
    """Beside a loop in NumPy."""
    rng = np.random.RandomState(0)
    corner = rng.uniform(0, 20, (30, 2))
    boxes = np.concatenate([corner, corner + rng.uniform(4, 12, (30, 2))], 1).astype("float32")
    scores = rng.permutation(30).astype("float32")
    expected = []
    for place in np.argsort(-scores):
        if all(overlap(boxes[place], boxes[each]) <= 0.3 for each in expected):
            expected.append(place)
    got = nms(mge.tensor(boxes), mge.tensor(scores), 0.3).numpy()
    np.testing.assert_array_equal(got, expected)
    few = nms(mge.tensor(boxes), mge.tensor(scores), 0.3, max_output=2).numpy()
    np.testing.assert_array_equal(few, expected[:2])


def check_regions():
    """Of a linear picture the mean in a bin is the value at its middle."""
    rows, columns = np.mgrid[:16, :16].astype("float32")
    picture = mge.tensor((2 * columns + rows)[None, None])
    rois = mge.tensor(np.float32([[0, 2, 3, 10, 11], [0, 4.5, 1.0, 8.5, 9.0]]))
    got = roi_align(picture, rois, (4, 4), mode="average", spatial_scale=1.0, sample_points=2,
                    aligned=True).numpy()  # fmt: skip
    for (_, x0, y0, x1, y1), pooled in zip(rois.numpy(), got[:, 0], strict=True):
        middle = (np.arange(4) + 0.5) / 4
        x, y = x0 + middle * (x1 - x0) - 0.5, y0 + middle * (y1 - y0) - 0.5
        np.testing.assert_allclose(pooled, 2 * x[None] + y[:, None], rtol=1e-4)
    largest = roi_pooling(picture, rois, (2, 2), mode="max", scale=1.0).numpy()
    assert largest.shape == (2, 1, 2, 2)
    assert largest[0, 0, 1, 1] == picture.numpy()[0, 0, 3:12, 2:11].max()


def main():
    check_nms()
    check_regions()
    mge.random.seed(12)
    model = Detector()
    rows = train(model, 60)
    first, last = rows[:5].mean(0), rows[-5:].mean(0)
    assert (last < 0.6 * first).all(), (first, last)
    model.eval()
    good = check_detection(model)
    print(f"losses {first.round(3)} -> {last.round(3)}, {good} of 8 squares found")


if __name__ == "__main__":
    main()
