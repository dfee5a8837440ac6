"""ImageNet: the classification data of ILSVRC2012."""

import os
import tarfile

from ....logger import get_logger
from ....utils.http_download import check_md5
from .folder import ImageFolder
from .vision_dataset import default_root, must_exist

_SOURCE = "https://image-net.org, after registration"


class ImageNet(ImageFolder):
    """ILSVRC2012 as an ImageFolder: root/train/class/name or root/val/class/name.

    Where that folder is missing, it is unpacked from the archives `raw_file_meta` in `root`, which
    takes hours; FileNotFoundError that says where they are from when they are missing too. Other
    arguments are ImageFolder's. Names of the classes of `val` take SciPy to read.
    """

    raw_file_meta = {
        "train": ("ILSVRC2012_img_train.tar", "1d675b47d978889d74fa0da5fadfb00e"),
        "val": ("ILSVRC2012_img_val.tar", "29b22e2961454d5413ddabcf34fc5622"),
        "devkit": ("ILSVRC2012_devkit_t12.tar.gz", "fa75699e90414af021442c21a62c3abf"),
    }
    default_train_dir, default_val_dir = "train", "val"
    default_devkit_dir = "ILSVRC2012_devkit_t12"

    def __init__(self, root=None, train=True, check_valid_func=None, class_name=False):
        root = os.path.expanduser(default_root("ImageNet") if root is None else root)
        self.train = train
        self.devkit_dir = os.path.join(root, self.default_devkit_dir)
        part = self.default_train_dir if train else self.default_val_dir
        self.target_folder = os.path.join(root, part)
        if not os.path.isdir(self.target_folder):
            unpack = self._unpack_train if train else self._unpack_val
            unpack(root, self.target_folder + ".part")
            os.rename(self.target_folder + ".part", self.target_folder)
        super().__init__(self.target_folder, check_valid_func, class_name)

    def _archive(self, root, part):
        name, md5 = self.raw_file_meta[part]
        path = must_exist("ImageNet", os.path.join(root, name), _SOURCE)
        get_logger("data").warning("ImageNet: checking and unpacking %s", path)
        check_md5("ImageNet", path, md5)
        return tarfile.open(path)

    def _unpack_train(self, root, target):
        with self._archive(root, "train") as classes:
            for each in classes:
                wnid = os.path.splitext(os.path.basename(each.name))[0]
                with tarfile.open(fileobj=classes.extractfile(each)) as images:
                    _unpack(images, lambda _, wnid=wnid: os.path.join(target, wnid))

    def _unpack_val(self, root, target):
        if not os.path.isdir(self.devkit_dir):
            with self._archive(root, "devkit") as devkit:
                _unpack(devkit, lambda name: os.path.dirname(os.path.join(root, name)))
        wnids, labels = self.meta[0], self.valid_ground_truth
        with self._archive(root, "val") as images:
            names = sorted(each.name for each in images if each.isfile())
            if len(names) != len(labels):
                raise ValueError(
                    f"ImageNet: images and labels must be as many, got {len(names)} and "
                    f"{len(labels)}"
                )
            folders = dict(zip(names, (wnids[each] for each in labels), strict=True))
            _unpack(images, lambda name: os.path.join(target, folders[name]))

    @property
    def valid_ground_truth(self):
        """The numbers of the classes of the images of `val`, in the order of their names."""
        path = os.path.join(self.devkit_dir, "data", "ILSVRC2012_validation_ground_truth.txt")
        with open(must_exist("ImageNet", path, _SOURCE)) as lines:
            return [int(line) for line in lines]

    @property
    def meta(self):
        """({number: WordNet's name of the class}, {that name: words}) of the 1000 classes."""
        import scipy.io

        path = os.path.join(self.devkit_dir, "data", "meta.mat")
        synsets = scipy.io.loadmat(must_exist("ImageNet", path, _SOURCE), squeeze_me=True)[
            "synsets"
        ]
        leaves = [row for row in synsets if row["num_children"] == 0]
        wnids = {int(row["ILSVRC2012_ID"]): str(row["WNID"]) for row in leaves}
        return wnids, {str(row["WNID"]): tuple(str(row["words"]).split(", ")) for row in leaves}


def _unpack(archive, folder_of):
    """The files of `archive`; each goes to the folder that its name has, under its last name."""
    for each in archive:
        if not each.isfile():
            continue
        if ".." in each.name.split("/") or each.name.startswith("/"):
            raise ValueError(f"ImageNet: names in archives must stay inside, got {each.name!r}")
        folder = folder_of(each.name)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, os.path.basename(each.name)), "wb") as target:
            target.write(archive.extractfile(each).read())
