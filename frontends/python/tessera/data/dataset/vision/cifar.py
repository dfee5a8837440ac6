"""CIFAR10 and CIFAR100: small photographs, in pickled dicts."""

import os
import pickle
import tarfile

import numpy as np
from numpy._core.multiarray import _reconstruct

from ....utils.http_download import download as download_file
from .vision_dataset import VisionDataset, default_root, must_exist

_ALLOWED = {
    ("numpy.core.multiarray", "_reconstruct"): _reconstruct,
    ("numpy._core.multiarray", "_reconstruct"): _reconstruct,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("_codecs", "encode"): lambda text, encoding: text.encode(encoding),
}


class _Unpickler(pickle.Unpickler):
    """Reads arrays and builtin containers, and runs nothing else."""

    def find_class(self, module, name):
        """What the pickle asks for by name; ValueError where it is no part of an array."""
        if (module, name) not in _ALLOWED:
            raise ValueError(f"CIFAR: files must have arrays alone, got {module}.{name}")
        return _ALLOWED[module, name]


class CIFAR10(VisionDataset):
    """Photographs of ten classes: an image, uint8 (32, 32, 3) in blue, green, red, and its class,
    int32.

    `root` has the folder of pickled batches as it is published, or the archive of it, which is
    unpacked. With `download` an archive that is missing is downloaded, which a warning in the log
    says, for at most `timeout` seconds; FileNotFoundError or RuntimeError where it cannot be had.
    """

    url_path = "https://www.cs.toronto.edu/~kriz/"
    raw_file_name = "cifar-10-python.tar.gz"
    raw_file_md5 = "c58f30108f718f92721af3b95e74349a"
    raw_file_dir = "cifar-10-batches-py"
    train_batch = ("data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5")
    test_batch = ("test_batch",)
    meta_info = {"name": "batches.meta"}
    _labels = (b"labels",)

    def __init__(self, root=None, train=True, download=True, timeout=500):
        root = default_root(type(self).__name__) if root is None else root
        super().__init__(root, order=("image", "image_category"))
        self.timeout = timeout
        self._provide(download)
        batches = [self._read(name) for name in (self.train_batch if train else self.test_batch)]
        pixels = np.concatenate([batch[b"data"] for batch in batches])
        images = pixels.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)[..., ::-1]
        labels = [
            np.concatenate([batch[key] for batch in batches]).astype(np.int32)
            for key in self._labels
        ]
        self.arrays = np.ascontiguousarray(images), *labels

    @property
    def meta(self):
        """What the file of names says, a dict with keys of bytes."""
        return self._read(self.meta_info["name"])

    def _provide(self, may_download):
        name, folder = type(self).__name__, os.path.join(self.root, self.raw_file_dir)
        if os.path.isdir(folder):
            return
        archive, url = os.path.join(self.root, self.raw_file_name), self.url_path
        url += self.raw_file_name
        if not os.path.exists(archive) and may_download:
            download_file(name, url, archive, self.raw_file_md5, self.timeout)
        must_exist(name, archive, url)
        os.makedirs(folder)
        with tarfile.open(archive) as source:
            for each in (*self.train_batch, *self.test_batch, self.meta_info["name"]):
                packed = source.extractfile(f"{self.raw_file_dir}/{each}")
                with open(os.path.join(folder, each), "wb") as target:
                    target.write(packed.read())

    def _read(self, name):
        path = os.path.join(self.root, self.raw_file_dir, name)
        with open(must_exist(type(self).__name__, path, self.url_path), "rb") as source:
            return _Unpickler(source, encoding="bytes").load()

    def __getitem__(self, index):
        return tuple(array[index] for array in self.arrays)

    def __len__(self):
        return len(self.arrays[0])


class CIFAR100(CIFAR10):
    """Photographs of 100 classes: as CIFAR10, and the class of 20 larger ones, int32."""

    raw_file_name = "cifar-100-python.tar.gz"
    raw_file_md5 = "eb9058c3a382ffc7106e4002c42a8d85"
    raw_file_dir = "cifar-100-python"
    train_batch = ("train",)
    test_batch = ("test",)
    meta_info = {"name": "meta"}
    _labels = (b"fine_labels", b"coarse_labels")
