"""MNIST: handwritten digits, in IDX files."""

import gzip
import math
import os

import numpy as np

from ....utils.http_download import download as download_file
from .vision_dataset import VisionDataset, default_root, must_exist


class MNIST(VisionDataset):
    """Handwritten digits: an image, uint8 (28, 28, 1), and its digit, int32.

    `root` has the four files as they are published, packed by gzip or not. With `download` files
    that are missing are downloaded, which a warning in the log says and which takes at most
    `timeout` seconds each; FileNotFoundError or RuntimeError where they cannot be had.
    """

    url_path = "https://ossci-datasets.s3.amazonaws.com/mnist/"
    raw_file_name = (
        "train-images-idx3-ubyte.gz",
        "train-labels-idx1-ubyte.gz",
        "t10k-images-idx3-ubyte.gz",
        "t10k-labels-idx1-ubyte.gz",
    )
    raw_file_md5 = (
        "f68b3c2dcbeaaa9fbdd348bbdeb94873",
        "d53e105ee54ea40749a09fcbcd1e9432",
        "9fb629c4189551a2d022fa330f9573f3",
        "ec29112dd5afa0611ce80d1b7f02629c",
    )

    def __init__(self, root=None, train=True, download=True, timeout=500):
        root = default_root("MNIST") if root is None else root
        super().__init__(root, order=("image", "image_category"))
        self.timeout = timeout
        files = [self._file(number, download) for number in ((0, 1) if train else (2, 3))]
        images, labels = _read_idx(files[0], 3), _read_idx(files[1], 1)
        if len(images) != len(labels):
            raise ValueError(
                f"MNIST: images and labels must be as many, got {len(images)} and {len(labels)}"
            )
        self.arrays = images[..., np.newaxis], labels.astype(np.int32)
        count, height, width = images.shape
        sizes = {"magic": 2051, "imgs": count, "height": height, "width": width}
        self._meta = {"images": sizes, "labels": {"magic": 2049, "imgs": count}}

    @property
    def meta(self):
        """What the heads of the files say: "images" and "labels", each a dict of numbers."""
        return self._meta

    def _file(self, number, may_download):
        name = self.raw_file_name[number]
        packed = os.path.join(self.root, name)
        plain = packed.removesuffix(".gz")
        if os.path.exists(plain) and not os.path.exists(packed):
            return plain
        if not os.path.exists(packed) and may_download:
            md5 = self.raw_file_md5[number]
            download_file("MNIST", self.url_path + name, packed, md5, self.timeout)
        return must_exist("MNIST", packed, self.url_path + name)

    def __getitem__(self, index):
        return tuple(array[index] for array in self.arrays)

    def __len__(self):
        return len(self.arrays[0])


def _read_idx(path, axes):
    """The bytes of an IDX file: a magic number, the sizes (32 bits, large end first), the data."""
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rb") as source:
        data = source.read()
    size = 4 * (axes + 1)
    head = np.frombuffer(data[:size] if len(data) >= size else b"", dtype=">i4").tolist()
    if not head or head[0] != 2048 + axes:
        raise ValueError(f"MNIST: file must be IDX of {axes} axes of bytes, got {path} with {head}")
    body = np.frombuffer(data, dtype=np.uint8, offset=size)
    if body.size != math.prod(head[1:]):
        raise ValueError(f"MNIST: file must have {head[1:]} bytes, got {body.size} in {path}")
    return body.reshape(head[1:]).copy()
