"""tessera.data.dataset.vision: small files of the published forms, written here."""

import gzip
import hashlib
import io
import json
import pickle
import struct
import tarfile

import numpy as np
import pytest
from tessera.data import DataLoader, SequentialSampler, dataset
from tessera.data.dataset.vision import (
    CIFAR10,
    CIFAR100,
    COCO,
    MNIST,
    Cityscapes,
    ImageFolder,
    ImageNet,
    Objects365,
    PascalVOC,
    VisionDataset,
)

cv2 = pytest.importorskip("cv2")


def pixels(*shape, seed=0):
    return np.random.RandomState(seed).randint(0, 256, shape).astype(np.uint8)


def write_image(path, image):
    path.parent.mkdir(parents=True, exist_ok=True)
    assert cv2.imwrite(str(path), image)
    return image


def write_text(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def idx(array):
    return struct.pack(f">{1 + array.ndim}i", 2048 + array.ndim, *array.shape) + array.tobytes()


def write_mnist(root, train, count, open_=gzip.open, ending=".gz"):
    name = "train" if train else "t10k"
    images, labels = pixels(count, 28, 28, seed=train), np.arange(count, dtype=np.uint8) % 10
    for kind, array in {"images-idx3": images, "labels-idx1": labels}.items():
        with open_(root / f"{name}-{kind}-ubyte{ending}", "wb") as target:
            target.write(idx(array))
    return images, labels


def test_mnist(tmp_path):
    images, labels = write_mnist(tmp_path, True, 12)
    others, _ = write_mnist(tmp_path, False, 3, open, "")  # not packed
    data = MNIST(tmp_path, download=False)
    assert len(data) == 12 and data.meta["images"]["height"] == 28
    image, label = data[11]
    assert image.shape == (28, 28, 1) and label == 1 and label.dtype == np.int32
    np.testing.assert_array_equal(image[..., 0], images[11])
    test = MNIST(str(tmp_path), train=False)
    np.testing.assert_array_equal(test[2][0][..., 0], others[2])
    batch, numbers = next(iter(DataLoader(data, SequentialSampler(data, 4))))
    assert batch.shape == (4, 28, 28, 1) and numbers.tolist() == labels[:4].tolist()


def test_mnist_of_a_wrong_file(tmp_path):
    write_mnist(tmp_path, True, 5)
    labels = tmp_path / "train-labels-idx1-ubyte.gz"
    labels.write_bytes(gzip.compress(idx(np.zeros(4, np.uint8))))
    with pytest.raises(ValueError, match="images and labels must be as many, got 5 and 4"):
        MNIST(tmp_path)
    labels.write_bytes(gzip.compress(idx(np.zeros(5, np.uint8))[:-1]))
    with pytest.raises(ValueError, match=r"file must have \[5\] bytes, got 4 in /"):
        MNIST(tmp_path)
    labels.write_bytes(gzip.compress(b"no"))
    with pytest.raises(ValueError, match="file must be IDX of 1 axes of bytes, got /"):
        MNIST(tmp_path)


def test_what_is_missing_says_where_it_is_from(tmp_path):
    for make, source in {
        lambda: MNIST(tmp_path, download=False): "https://.*/mnist/train-images-idx3-ubyte.gz",
        lambda: CIFAR10(tmp_path, download=False): "https://.*/cifar-10-python.tar.gz",
        lambda: ImageNet(tmp_path): "https://image-net.org",
        lambda: ImageFolder(tmp_path / "no"): "your own images",
        lambda: COCO(tmp_path, tmp_path / "no.json"): "https://cocodataset.org",
        lambda: Objects365(tmp_path, tmp_path / "no.json"): "https://www.objects365.org",
        lambda: PascalVOC(tmp_path, "train", order=("image", "mask")): "http://host.robots",
        lambda: Cityscapes(tmp_path, "val", "gtFine"): "https://www.cityscapes-dataset.com",
    }.items():
        with pytest.raises(FileNotFoundError, match=rf"data must be there \(from {source}.*got no"):
            make()


def test_a_download(tmp_path, monkeypatch):
    """It is tried, checked, and its failure told; a file that came is not asked for again."""
    source = tmp_path / "source"
    source.mkdir()
    write_mnist(source, True, 2)
    sums = [hashlib.md5(each.read_bytes()).hexdigest() for each in sorted(source.iterdir())]
    monkeypatch.setattr(MNIST, "url_path", source.as_uri() + "/")
    with pytest.raises(RuntimeError, match="MNIST: file:.* must come to .*must have the MD5 sum f"):
        MNIST(tmp_path / "root")
    assert list((tmp_path / "root").iterdir()) == []
    monkeypatch.setattr(MNIST, "raw_file_md5", (*sums, None, None))
    assert len(MNIST(tmp_path / "root")) == 2
    with pytest.raises(RuntimeError, match="MNIST: file:.*t10k-images.* must come to .*No such"):
        MNIST(tmp_path / "root", train=False)
    monkeypatch.setattr(MNIST, "url_path", "no url of ")
    assert len(MNIST(tmp_path / "root")) == 2


def write_cifar(folder, names, labels, meta):
    folder.mkdir(parents=True)
    arrays = []
    for number, name in enumerate(names):
        arrays.append(pixels(4, 3072, seed=number))
        batch = {b"data": arrays[-1], **{key: [number, 1, 2, 3] for key in labels}}
        (folder / name).write_bytes(pickle.dumps(batch, protocol=2))
    (folder / meta).write_bytes(pickle.dumps({b"label_names": [b"cat"]}, protocol=2))
    return np.concatenate(arrays)


@pytest.mark.parametrize("packed", [False, True])
def test_cifar10(tmp_path, packed):
    folder = tmp_path / CIFAR10.raw_file_dir
    names = [*CIFAR10.train_batch, "test_batch"]
    rows = write_cifar(folder, names, [b"labels"], "batches.meta")
    if packed:
        with tarfile.open(tmp_path / CIFAR10.raw_file_name, "w:gz") as archive:
            archive.add(folder, CIFAR10.raw_file_dir)
        folder.rename(tmp_path / "elsewhere")
    data = CIFAR10(tmp_path)
    assert len(data) == 20 and len(CIFAR10(tmp_path, train=False)) == 4
    image, label = data[8]
    assert label == 2 and label.dtype == np.int32 and image.shape == (32, 32, 3)
    np.testing.assert_array_equal(image[..., 2], rows[8, :1024].reshape(32, 32))  # red
    assert data.meta == {b"label_names": [b"cat"]}


def test_cifar100(tmp_path):
    labels = [b"fine_labels", b"coarse_labels"]
    write_cifar(tmp_path / CIFAR100.raw_file_dir, ["train", "test"], labels, "meta")
    image, fine, coarse = CIFAR100(tmp_path, train=False)[0]
    assert image.shape == (32, 32, 3) and fine == coarse == 1 and coarse.dtype == np.int32


def test_a_pickle_that_runs_something_is_refused(tmp_path):
    folder = tmp_path / CIFAR100.raw_file_dir
    write_cifar(folder, ["train", "test"], [], "meta")
    (folder / "train").write_bytes(pickle.dumps(print))
    with pytest.raises(ValueError, match="CIFAR: files must have arrays alone, got builtins.print"):
        CIFAR100(tmp_path)


def test_image_folder(tmp_path):
    cat = write_image(tmp_path / "cat" / "deep" / "b.png", pixels(4, 5, 3))
    write_image(tmp_path / "cat" / "a.PNG", pixels(3, 3, 3))
    write_image(tmp_path / "ant" / "c.png", pixels(2, 2, 3))
    write_text(tmp_path / "ant" / "notes.txt", "no image")
    data = ImageFolder(str(tmp_path))
    assert [int(label) for _, label in (data[n] for n in range(len(data)))] == [0, 1, 1]
    np.testing.assert_array_equal(data[2][0], cat)
    assert data.class_dict == {"ant": 0, "cat": 1} and data[0][1].dtype == np.int32
    assert ImageFolder(tmp_path, class_name=True)[0][1] == "ant"
    assert len(ImageFolder(tmp_path, check_valid_func=lambda path: path.endswith("b.png"))) == 1
    (tmp_path / "ant" / "c.png").write_bytes(b"broken")
    with pytest.raises(ValueError, match="ImageFolder: file must be an image that OpenCV reads"):
        data[0]


def add(archive, name, data):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    archive.addfile(info, io.BytesIO(data))


def tar(files, mode="w"):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode=mode) as archive:
        for name, content in files.items():
            add(archive, name, content)
    return data.getvalue()


def write_imagenet(root):
    """The three archives; the class of ImageNet with their sums."""
    from scipy.io import savemat

    images = [cv2.imencode(".png", pixels(2, 2, 3, seed=n))[1].tobytes() for n in range(3)]
    row = [("ILSVRC2012_ID", "O"), ("WNID", "O"), ("words", "O"), ("gloss", "O")]
    synsets = np.empty(3, dtype=[*row, ("num_children", "O")])
    for place, wnid in enumerate(["n02", "n01", "n99"]):
        synsets[place] = (place + 1, wnid, f"{wnid} thing, other", "", int(wnid == "n99"))
    mat = io.BytesIO()
    savemat(mat, {"synsets": synsets})
    devkit = {"meta.mat": mat.getvalue(), "ILSVRC2012_validation_ground_truth.txt": b"2\n1\n2\n"}
    contents = {
        "train": tar({"n01.tar": tar({"n01_1.JPEG": images[0], "n01_2.JPEG": images[1]}),
                      "n02.tar": tar({"n02_1.JPEG": images[2]})}),
        "val": tar({f"ILSVRC2012_val_{n + 1}.JPEG": images[n] for n in (2, 0, 1)}),
        "devkit": tar({f"ILSVRC2012_devkit_t12/data/{k}": v for k, v in devkit.items()}, "w:gz"),
    }  # fmt: skip
    meta = {}
    for part, data in contents.items():
        name = ImageNet.raw_file_meta[part][0]
        (root / name).write_bytes(data)
        meta[part] = name, hashlib.md5(data).hexdigest()
    return type("ImageNet", (ImageNet,), {"raw_file_meta": meta})


def test_imagenet(tmp_path):
    small = write_imagenet(tmp_path)
    train = small(tmp_path)
    assert len(train) == 3 and [int(train[n][1]) for n in range(3)] == [0, 0, 1]
    np.testing.assert_array_equal(train[2][0], pixels(2, 2, 3, seed=2))
    val = small(tmp_path, train=False)
    assert [int(val[n][1]) for n in range(3)] == [0, 0, 1]  # images 1 and 3 are n01
    np.testing.assert_array_equal(val[2][0], pixels(2, 2, 3, seed=1))
    assert val.meta[1]["n02"] == ("n02 thing", "other") and val.valid_ground_truth == [2, 1, 2]
    for part in small.raw_file_meta.values():
        (tmp_path / part[0]).unlink()
    assert len(small(tmp_path)) == 3  # the folders suffice


def test_a_damaged_archive_is_told(tmp_path):
    small = write_imagenet(tmp_path)
    (tmp_path / "ILSVRC2012_img_train.tar").write_bytes(b"damaged")
    with pytest.raises(ValueError, match="ImageNet: .*img_train.tar must have the MD5 sum"):
        small(tmp_path)
    (tmp_path / "evil").mkdir()
    data = tar({"n01.tar": tar({"../x.JPEG": b""})})
    (tmp_path / "evil" / "ILSVRC2012_img_train.tar").write_bytes(data)
    small.raw_file_meta["train"] = "ILSVRC2012_img_train.tar", hashlib.md5(data).hexdigest()
    with pytest.raises(ValueError, match="names in archives must stay inside, got '../x.JPEG'"):
        small(tmp_path / "evil")


def annotation(image, category, bbox, crowd=0, visible=0):
    points = [1.0, 2.0, 2.0] * visible + [0.0, 0.0, 0.0] * (17 - visible)
    fields = {"image_id": image, "category_id": category, "bbox": bbox, "iscrowd": crowd}
    return {**fields, "keypoints": points}


def write_coco(root):
    images = [write_image(root / f"{n}.png", pixels(4, 5 + n, 3, seed=n)) for n in range(3)]
    shapes = {n: dict(zip(("height", "width"), each.shape)) for n, each in enumerate(images)}  # noqa: B905
    anns = [
        annotation(20, 18, [1, 1, 2, 2], visible=10),
        annotation(20, 3, [0, 0, 4, 3], crowd=1),
        annotation(10, 3, [0, 1, 3, 2], visible=3),
        annotation(0, 3, [0, 0, 0, 2]),
    ]
    content = {
        "images": [{"id": 10 * n, "file_name": f"{n}.png", **shapes[n]} for n in (2, 0, 1)],
        "annotations": anns,
        "categories": [{"id": 18, "name": "dog"}, {"id": 3, "name": "car"}],
    }
    write_text(root / "ann.json", json.dumps(content))
    return images


def test_coco(tmp_path):
    images = write_coco(tmp_path)
    order = ("image", "boxes", "boxes_category", "keypoints", "info")
    data = COCO(tmp_path, tmp_path / "ann.json", order=order)
    image, boxes, categories, keypoints, info = data[2]
    np.testing.assert_array_equal(image, images[2])
    assert boxes.tolist() == [[1, 1, 3, 3], [0, 0, 4, 3]] and boxes.dtype == np.float32
    assert categories.tolist() == [2, 1] and categories.dtype == np.int32
    assert keypoints.shape == (2, 17, 3) and info == [4, 7, "2.png"] and len(data) == 3
    assert data.get_img_info(2)["id"] == 20 and data.contiguous_category_id_to_json_id[2] == 18
    assert len(COCO.class_names) == 80 and COCO.classes_originID["toothbrush"] == 90
    assert COCO.classes_originID["stop sign"] == 13 and len(COCO.keypoint_names) == 17


@pytest.mark.parametrize(("order", "left"), [(("boxes",), [10, 20]), (("keypoints",), [20])])
def test_coco_without_what_has_no_annotations(tmp_path, order, left):
    write_coco(tmp_path)
    data = COCO(tmp_path, tmp_path / "ann.json", True, order=order)
    assert data.ids == left and len(data[len(left) - 1][0]) == 1  # no crowd


def test_objects365(tmp_path):
    images = write_coco(tmp_path)
    order = ("image", "boxes_category")
    data = Objects365(str(tmp_path), tmp_path / "ann.json", True, order=order)
    image, categories = data[0]
    np.testing.assert_array_equal(image, images[1])
    assert categories.tolist() == [1] and data.class_names == ("car", "dog")
    with pytest.raises(NotImplementedError, match=r"Objects365: order must be of .*\['keypoints'"):
        Objects365(tmp_path, tmp_path / "ann.json", order=("keypoints",))


OBJECT = "<object><name>{}</name><bndbox><xmin>{}</xmin><ymax>9</ymax><ymin>2</ymin><xmax>8</xmax>"


def test_pascal_voc_boxes(tmp_path):
    image = write_image(tmp_path / "JPEGImages" / "b.jpg", np.full((6, 7, 3), 90, np.uint8))
    write_text(tmp_path / "ImageSets" / "Main" / "train.txt", "b  1\n")
    objects = "".join(OBJECT.format(*each) + "</bndbox></object>" for each in (("dog", 1), ("aeroplane", 3.5)))  # fmt: skip # noqa: E501
    write_text(tmp_path / "Annotations" / "b.xml", f"<annotation>{objects}</annotation>")
    order = ("image", "boxes", "boxes_category", "info")
    got, boxes, categories, info = PascalVOC(tmp_path, "train", order=order)[0]
    assert got.shape == image.shape and boxes.tolist() == [[1, 2, 8, 9], [3.5, 2, 8, 9]]
    assert categories.tolist() == [12, 1] and info == [6, 7, "b"]
    for wrong in (("image",), ("boxes", "mask")):
        with pytest.raises(ValueError, match="PascalVOC: order must have boxes or masks, got"):
            PascalVOC(tmp_path, "train", order=wrong)


def test_pascal_voc_masks(tmp_path):
    colors = [[0, 0, 0], [0, 0, 128], [128, 64, 0], [192, 224, 224]]  # background, 1, 20, border
    write_image(tmp_path / "SegmentationClass" / "a.png", np.array([colors], dtype=np.uint8))
    write_image(tmp_path / "SegmentationClass_aug" / "a.png", np.array([[3, 255]], dtype=np.uint8))
    for name in ("val", "val_aug"):
        write_text(tmp_path / "ImageSets" / "Segmentation" / f"{name}.txt", "a\n")
    (mask,) = PascalVOC(tmp_path, "val", order=("mask",))[0]
    assert mask.tolist() == [[[0], [1], [20], [255]]] and mask.dtype == np.uint8
    (mask,) = PascalVOC(tmp_path, "val_aug", order=("mask",))[0]
    assert mask.tolist() == [[[3], [255]]]


def test_cityscapes(tmp_path):
    for city, name in (("ulm", "ulm_1"), ("bonn", "bonn_2")):
        image = pixels(1, 4, 3, seed=len(city))
        write_image(tmp_path / "leftImg8bit" / "val" / city / f"{name}_leftImg8bit.png", image)
        mask = np.array([[7, 33, 0, 26]], dtype=np.uint8)
        write_image(tmp_path / "gtFine" / "val" / city / f"{name}_gtFine_labelIds.png", mask)
    data = Cityscapes(tmp_path, "val", "gtFine", order=("image", "mask", "info"))
    image, mask, info = data[0]
    np.testing.assert_array_equal(image, pixels(1, 4, 3, seed=4))
    assert mask.tolist() == [[[0], [18], [255], [13]]] and len(data) == 2
    assert info[:2] == [1, 4] and info[2].endswith("bonn_2_leftImg8bit.png")
    assert Cityscapes.class_names[13] == "car" and len(Cityscapes.class_names) == 19
    with pytest.raises(ValueError, match="Cityscapes: mode and image_set must be of"):
        Cityscapes(tmp_path, "train_extra", "gtFine")


def test_a_dataset_of_a_user():
    class Mine(VisionDataset):
        def __getitem__(self, index):
            return super().__getitem__(index)

        def __len__(self):
            return super().__len__()

    assert dataset.MNIST is MNIST and Mine("~").order == ("image",) and "~" not in Mine("~").root
    with pytest.raises(NotImplementedError, match="Mine: a length must be given"):
        len(Mine("."))
    with pytest.raises(ValueError, match="Mine: order must be a sequence of names, got 'image'"):
        Mine(".", order="image")
    with pytest.raises(AttributeError, match="dataset: name must be that of a dataset, got 'Nope'"):
        dataset.Nope  # noqa: B018
