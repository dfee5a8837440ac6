"""VisionDataset: a folder, and which parts a sample has."""

import os
from collections.abc import Sequence
from pathlib import Path

from ..dataset import Dataset


class VisionDataset(Dataset):
    """Samples from the folder `root`, with the parts that `order` names (default: the image).

    `supported_order` lists the names that the dataset knows; None leaves them to the subclass.
    """

    def __init__(self, root, *, order=None, supported_order=None):
        self.root = os.path.expanduser(root) if isinstance(root, (str, bytes)) else root
        order, name = ("image",) if order is None else order, type(self).__name__
        if not isinstance(order, Sequence) or isinstance(order, str):
            raise ValueError(f"{name}: order must be a sequence of names, got {order!r}")
        unknown = [each for each in order if supported_order and each not in supported_order]
        if unknown:
            raise NotImplementedError(
                f"{name}: order must be of {tuple(supported_order)}, got {unknown!r}"
            )
        self.order = order

    def __getitem__(self, index):
        raise NotImplementedError(f"{type(self).__name__}: samples must be given, got none")

    def __len__(self):
        raise NotImplementedError(f"{type(self).__name__}: a length must be given, got none")


def default_root(name):
    """The folder of the dataset `name` where none is given: below TESSERA_DATA, or the user's
    cache."""
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    folder = os.environ.get("TESSERA_DATA", os.path.join(cache, "tessera", "dataset"))
    return os.path.join(os.path.expanduser(folder), name)


def must_exist(tool, path, source):
    """`path`; FileNotFoundError that says where its data comes from when there is none."""
    if not Path(path).exists():
        raise FileNotFoundError(f"{tool}: data must be there (from {source}), got no {path}")
    return path
