"""Data: datasets, samplers, transforms, collators, streams, and workers."""

import itertools
import os
import tempfile
from collections import defaultdict

import numpy as np
from megengine.data import (
    Collator,
    DataLoader,
    Infinite,
    RandomSampler,
    ReplacementSampler,
    SequentialSampler,
    StreamSampler,
)
from megengine.data import transform as T  # noqa: N812
from megengine.data.dataset import ArrayDataset, ConcatDataset, Dataset, ImageFolder, StreamDataset
from megengine.data.sampler import MapSampler


class Boxes(Dataset):
    """Pictures with boxes and a text, as a detector has them: as many boxes as the index says."""

    def __init__(self, count):
        super().__init__()
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        image = np.full((8, 12, 3), index, dtype="uint8")
        image[:, : index % 12] = 200
        boxes = np.float32([[i, i, i + 4, i + 3] for i in range(index % 3 + 1)])
        return image, boxes, f"picture {index}"


class Words(StreamDataset):
    """Numbers that come one after the other, without an end."""

    def __init__(self):
        super().__init__()

    def __iter__(self):
        for number in itertools.count():
            yield np.full(2, number, dtype="float32"), np.int32(number)


class PadCollator(Collator):
    """Makes boxes equal in number."""

    def apply(self, inputs):
        rows = defaultdict(list)
        most = max(len(boxes) for _, boxes, _ in inputs)
        for image, boxes, text in inputs:
            rows["image"].append(image)
            rows["boxes"].append(np.pad(boxes, ((0, most - len(boxes)), (0, 0))))
            rows["count"].append(np.int32(len(boxes)))
            rows["text"].append(text)
        return {key: row if key == "text" else np.stack(row) for key, row in rows.items()}


class EvenFirst(MapSampler):
    """Even indices, then odd ones."""

    def sample(self):
        return [*range(0, len(self.dataset), 2), *range(1, len(self.dataset), 2)]


def order(sampler, batches=None):
    """The indices of the batches."""
    result = []
    for number, batch in enumerate(sampler):
        if number == batches:
            break
        result.append([int(index) for index in batch])
    return result


def check_samplers():
    data = ArrayDataset(np.arange(10), np.arange(10) * 2)
    assert data[3] == (3, 6) and len(data) == 10
    assert order(SequentialSampler(data, batch_size=4)) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert order(SequentialSampler(data, batch_size=4, drop_last=True)) == [
        [0, 1, 2, 3], [4, 5, 6, 7]]  # fmt: skip
    drawn = order(RandomSampler(data, batch_size=3, seed=5))
    assert sorted(sum(drawn, [])) == list(range(10)) and sum(drawn, []) != list(range(10))
    assert drawn == order(RandomSampler(data, batch_size=3, seed=5))
    parts = [order(SequentialSampler(data, 2, world_size=2, rank=rank)) for rank in (0, 1)]
    assert sorted(sum(sum(parts, []), [])) == list(range(10))
    again = ReplacementSampler(data, batch_size=4, num_samples=9, weights=[1] * 5 + [0] * 5)
    drawn = order(again)
    assert [len(each) for each in drawn] == [4, 4, 1] and max(sum(drawn, [])) < 5
    assert order(EvenFirst(data, 5)) == [[0, 2, 4, 6, 8], [1, 3, 5, 7, 9]]
    assert len(RandomSampler(data, 4)) == 3 and len(RandomSampler(data, 4, drop_last=True)) == 2
    endless = Infinite(SequentialSampler(data, batch_size=8, drop_last=True))
    assert order(endless, 3) == [list(range(8))] * 3
    joined = ConcatDataset([data, ArrayDataset(np.arange(3), np.arange(3))])
    assert len(joined) == 13 and joined[11] == (1, 1)


def check_transforms():
    """Each beside what it says, in NumPy; boxes move as pictures do."""
    rng = np.random.RandomState(0)
    image = rng.randint(0, 256, (8, 12, 3)).astype("uint8")
    square = np.float32([[1, 2, 5, 6]])
    both = ("image", "boxes")
    flip = T.RandomHorizontalFlip(prob=1, order=both)
    flipped, moved = flip.apply((image, square.copy()))
    np.testing.assert_array_equal(flipped, image[:, ::-1])
    np.testing.assert_array_equal(moved, [[12 - 5, 2, 12 - 1, 6]])
    upside = T.RandomVerticalFlip(prob=1, order=both).apply((image, square.copy()))
    np.testing.assert_array_equal(upside[0], image[::-1])
    np.testing.assert_array_equal(upside[1], [[1, 8 - 6, 5, 8 - 2]])
    same = T.RandomHorizontalFlip(prob=0).apply(image)
    np.testing.assert_array_equal(same, image)
    np.testing.assert_array_equal(T.CenterCrop((4, 6)).apply(image), image[2:6, 3:9])
    padded, moved = T.Pad((2, 1, 3, 4), value=(7, 7, 7), order=both).apply((image, square.copy()))
    np.testing.assert_array_equal(padded[2:-1, 3:-4], image)
    assert (padded[:2] == 7).all() and moved.tolist() == [[4, 4, 8, 8]]
    normal = T.Normalize(mean=[10.0, 20.0, 30.0], std=[2.0, 4.0, 8.0]).apply(image)
    wanted = (image.astype("float32") - [10, 20, 30]) / [2, 4, 8]
    np.testing.assert_allclose(normal, wanted, rtol=1e-5)
    assert T.ToMode("CHW").apply(image).shape == (3, 8, 12)
    resized, moved = T.Resize((16, 24), order=both).apply((image, square.copy()))
    assert resized.shape == (16, 24, 3) and moved.tolist() == [[2, 4, 10, 12]]
    short = T.ShortestEdgeResize(16, max_size=20).apply(image)
    assert short.shape[1] == 20 and abs(short.shape[0] - 40 / 3) < 1


def check_random_transforms():
    """They keep what they should: shapes, and for colours the dtype."""
    image = np.random.RandomState(0).randint(0, 256, (8, 12, 3)).astype("uint8")
    np.random.seed(1)
    for random in (T.RandomCrop((4, 6)), T.RandomResizedCrop((4, 6))):
        assert random.apply(image).shape == (4, 6, 3)
    for colour in (T.BrightnessTransform(0.4), T.ContrastTransform(0.4), T.HueTransform(0.2),
                   T.SaturationTransform(0.4), T.ColorJitter(0.2, 0.2, 0.2, 0.1), T.Lighting(1.0),
                   T.GaussianNoise(0.0, 2.0)):  # fmt: skip
        changed = colour.apply(image)
        assert changed.shape == image.shape and changed.dtype == image.dtype
        assert not np.array_equal(changed, image)
    chain = T.Compose([T.Resize(10), T.CenterCrop(6), T.ToMode()])
    assert chain.apply(image).shape == (3, 6, 6)


def check_loader():
    """A dataset whose items differ in size, joined by a collator; with workers the same."""
    transform = T.Compose(
        [T.RandomHorizontalFlip(prob=1), T.ToMode()], order=("image", "boxes", "image_category")
    )
    data = Boxes(7)
    sampler = SequentialSampler(data, batch_size=3)
    expected = None
    for workers in (0, 2):
        loader = DataLoader(data, sampler, transform, PadCollator(), num_workers=workers)
        assert len(loader) == 3
        batches = list(loader)
        assert [b["image"].shape for b in batches] == [(3, 3, 8, 12)] * 2 + [(1, 3, 8, 12)]
        assert [b["count"].tolist() for b in batches] == [[1, 2, 3], [1, 2, 3], [1]]
        assert batches[1]["text"] == ["picture 3", "picture 4", "picture 5"]
        assert batches[0]["boxes"].shape == (3, 3, 4)
        if expected is not None:
            for got, wanted in zip(batches, expected, strict=True):
                np.testing.assert_array_equal(got["image"], wanted["image"])
        expected = batches
    plain = DataLoader(ArrayDataset(np.arange(5)))
    assert [batch[0].tolist() for batch in plain] == [[i] for i in range(5)]


def check_streams():
    stream = iter(DataLoader(Words(), StreamSampler(batch_size=4)))
    batches = [(data.shape, label.tolist()) for data, label in itertools.islice(stream, 2)]
    assert batches == [((4, 2), [0, 1, 2, 3]), ((4, 2), [4, 5, 6, 7])]
    mode = T.ToMode(order=("image", "boxes", "image_category"))
    sampler = Infinite(SequentialSampler(Boxes(4), batch_size=1))
    endless = iter(DataLoader(Boxes(4), sampler, mode))
    texts = [next(endless)[2] for _ in range(6)]
    assert [str(np.asarray(text).reshape(-1)[0]) for text in texts] == [
        f"picture {i % 4}" for i in range(6)]  # fmt: skip


def check_folder():
    """A folder of folders of pictures, each the class of its name."""
    import cv2

    with tempfile.TemporaryDirectory() as root:
        for number, name in enumerate(["cat", "dog"]):
            os.makedirs(os.path.join(root, name))
            for index in range(2):
                image = np.full((4, 4, 3), 100 * number + index, dtype="uint8")
                cv2.imwrite(os.path.join(root, name, f"{index}.png"), image)
        data = ImageFolder(root, class_name=True)
        assert len(data) == 4
        classes = [data[i][1] for i in range(4)]
        assert sorted(classes) == ["cat", "cat", "dog", "dog"]
        image, label = ImageFolder(root)[3]
        assert image.shape == (4, 4, 3) and label == 1 and image.max() == 101


def main():
    check_samplers()
    check_transforms()
    check_random_transforms()
    check_loader()
    check_streams()
    check_folder()
    print("samplers, transforms, collators, streams and workers as expected")


if __name__ == "__main__":
    main()
