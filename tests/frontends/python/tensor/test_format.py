"""The format "nhwc": where a tensor of the same meaning keeps it."""

import copy
import io
import pickle

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
from tessera.amp import convert_module_format, convert_tensor_format

from tests.support.helper import floats


def image(*shape):
    return convert_tensor_format(tessera.Tensor(floats(*(shape or (1, 4, 4, 6)))))


def saved(value):
    file = io.BytesIO()
    tessera.save(value, file)
    file.seek(0)
    return tessera.load(file)


KEEPS = {
    "tensor": tessera.tensor,
    "Tensor": tessera.Tensor,
    "Parameter": tessera.Parameter,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "save": saved,
    "save in a dict": lambda x: saved({"a": [x]})["a"][0],
    "astype": lambda x: x.astype("float16"),
    "reshape": lambda x: x.reshape(2, 2, 4, 6),
    "reshape to itself": lambda x: F.reshape(x, x.shape),
    "broadcast_to": lambda x: F.broadcast_to(x, (3, 4, 4, 6)),
    "interpolate": lambda x: F.vision.interpolate(x, scale_factor=2),
    "interpolate by nearest": lambda x: F.vision.interpolate(x, (3, 3), mode="nearest"),
    "resize": lambda x: F.vision.resize(x, (8, 3)),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, 2),
    "adaptive_avg_pool2d to 1": lambda x: F.adaptive_avg_pool2d(x, 1),
    "adaptive_max_pool2d": lambda x: F.adaptive_max_pool2d(x, (2, 3)),
    "adaptive_max_pool2d uneven": lambda x: F.adaptive_max_pool2d(x, (3, 4), uneven=True),
    "max_pool2d": lambda x: F.max_pool2d(x, 2),
    "conv2d": lambda x: F.conv2d(x, F.ones((2, 4, 1, 1))),
    "batch_norm": lambda x: M.BatchNorm2d(4)(x),
    "concat": lambda x: F.concat([x, x]),
    "relu": F.relu,
}


@pytest.mark.parametrize("name", KEEPS)
def test_images_stay_images(name):
    assert KEEPS[name](image()).format == "nhwc"
    plain = tessera.Tensor(floats(1, 4, 4, 6))
    assert KEEPS[name](plain).format == "default"


def test_volumes_stay_volumes():
    x = image(1, 2, 4, 4, 4)
    assert F.adaptive_avg_pool3d(x, 2).format == F.adaptive_max_pool3d(x, 2).format == "nhwc"


def test_other_ranks_have_none():
    for function in (lambda x: x.reshape(4, -1), lambda x: x.sum(), lambda x: x[0]):
        assert function(image()).format == "default"


def test_a_format_that_is_given_counts():
    assert tessera.tensor(image(), format="nchw").format == "default"


def test_values_that_a_tensor_takes_leave_its_format():
    x = image()
    assert x.set_value(floats(1, 4, 4, 6)).format == "nhwc"
    x.reset_zero()
    assert x.format == "nhwc"
    x[:] = 1.0
    assert x.format == "nhwc"


def test_a_state_leaves_the_formats_of_a_module():
    net = convert_module_format(M.Sequential(M.Conv2d(3, 2, 1), M.BatchNorm2d(2)))
    before = {name: each.format for name, each in net.named_tensors()}
    net.load_state_dict({name: np.asarray(each) for name, each in net.state_dict().items()})
    assert {name: each.format for name, each in net.named_tensors()} == before
    assert before["0.weight"] == "nhwc"
