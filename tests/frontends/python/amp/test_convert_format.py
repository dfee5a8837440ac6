"""convert_tensor_format and convert_module_format: marks that results take over."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
from tessera.amp import convert_module_format, convert_tensor_format
from tessera.autodiff import GradManager

from tests.support.helper import floats


@pytest.mark.parametrize("rank", [4, 5])
def test_images_and_volumes(rank):
    x = tessera.Tensor(floats(*range(2, 2 + rank)))
    before = x.numpy()
    assert convert_tensor_format(x) is x and x.format == "nhwc"
    assert x.shape == before.shape and np.array_equal(x.numpy(), before)
    assert (x + 1).format == "nhwc" and F.relu(x).format == "nhwc"


@pytest.mark.parametrize("rank", [0, 1, 2, 3, 6])
def test_other_ranks_stay(rank):
    x = tessera.Tensor(floats(*[2] * rank))
    assert convert_tensor_format(x) is x and x.format == "default"
    assert convert_tensor_format(x, inplace=False) is x


def test_a_new_tensor_through_which_gradients_go():
    x = tessera.Tensor(floats(1, 2, 3, 3))
    manager = GradManager().attach(x)
    with manager:
        y = convert_tensor_format(x, inplace=False)
        manager.backward((y * y).sum())
    assert y is not x and y.format == "nhwc" and x.format == "default"
    assert np.array_equal(x.grad.numpy(), 2 * x.numpy())


def test_modules():
    net = M.Sequential(M.Conv2d(3, 4, 3), M.BatchNorm2d(4), M.ReLU())
    x = tessera.Tensor(floats(2, 3, 5, 5))
    wanted = net(x).numpy()
    other = convert_module_format(net, inplace=False)
    assert other is not net and net[0].weight.format == "default"
    assert other[0].weight.format == "nhwc" and other[0].weight is not net[0].weight
    assert convert_module_format(net) is net and net[0].weight.format == "nhwc"
    got = net(convert_tensor_format(x))
    assert got.format == "nhwc" and np.array_equal(got.numpy(), wanted)
    assert isinstance(net[0].weight, tessera.Parameter)
