"""Functions of one sample without a batch axis: its result has none either."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812

from tests.support.helper import floats

CASES = [
    (M.Conv1d(3, 4, 3), (3, 9)),
    (M.Conv2d(3, 4, 3, stride=2, padding=1), (3, 8, 8)),
    (M.Conv2d(4, 4, 3, groups=2, bias=False), (4, 8, 8)),
    (M.Conv2d(3, 4, 3, padding=1, padding_mode="zeros"), (3, 8, 8)),
    (M.Conv3d(3, 4, 3), (3, 5, 6, 7)),
    (M.ConvTranspose2d(3, 4, 3), (3, 8, 8)),
    (M.ConvTranspose3d(3, 4, 3), (3, 4, 4, 4)),
    (M.ConvRelu2d(3, 4, 3), (3, 8, 8)),
    (M.MaxPool2d(2), (3, 8, 8)),
    (M.AvgPool2d(3, 2, 1), (3, 8, 8)),
]


@pytest.mark.parametrize(("module", "shape"), CASES, ids=lambda each: type(each).__name__)
def test_a_sample_is_a_batch_of_one_without_its_axis(module, shape):
    """A bias [1, C, 1, 1] gave the result of a convolution a batch axis."""
    for name, parameter in module.named_parameters():
        if name == "bias":
            parameter.set_value(floats(*parameter.shape, seed=3))
    x = tessera.Tensor(floats(*shape))
    whole = module(F.expand_dims(x, 0)).numpy()
    assert whole.shape[0] == 1
    for call in (module, tessera.jit.trace(module, symbolic=True)):
        for _ in range(2):
            got = call(x)
            assert got.shape == whole.shape[1:]
            np.testing.assert_array_equal(got.numpy(), whole[0])


@pytest.mark.parametrize("shape", [(4,), (1, 4), (4, 1, 1), (2, 4, 1, 1), (1, 4, 1, 6)])
def test_a_bias_that_would_broadcast_elsewhere_is_refused(shape):
    """One of [C] would be added along the width."""
    image, kernel = F.ones((2, 3, 8, 8)), F.ones((4, 3, 3, 3))
    with pytest.raises(ValueError, match="conv2d: bias must have 4 axes, all but axis 1 of size 1"):
        F.conv2d(image, kernel, F.ones(shape))
    weight, size = F.ones((1, 6, 6, 3, 3, 3, 4)), "must have 4 axes, the first of size 1"
    if shape[:1] != (1,) or len(shape) < 4:
        with pytest.raises(ValueError, match=f"local_conv2d: bias {size}"):
            F.local_conv2d(image, weight, F.ones(shape))


@pytest.mark.parametrize("shape", [(7, 4), (4, 4), (2, 4, 4), (2, 4, 3, 4)])
def test_a_prelu_has_a_factor_for_each_channel(shape):
    """The weight is [1, C, 1, 1]: [N, C] became [1, C, N, C]."""
    module, x = M.PReLU(4), floats(*shape)
    module.weight.set_value(np.arange(1, 5, dtype="float32").reshape(1, 4, 1, 1))
    factor = np.arange(1, 5).reshape(1, 4, *[1] * (len(shape) - 2))
    np.testing.assert_allclose(module(tessera.Tensor(x)).numpy(), np.where(x > 0, x, factor * x))


def test_modules_refuse_what_would_broadcast():
    for shape in ((4,), (2, 4, 4, 3, 3)):
        with pytest.raises(ValueError, match="PReLU: inputs must have 2 to 4 axes, got"):
            M.PReLU(4)(F.ones(shape))
    for cell in (M.RNNCell, M.LSTMCell, M.GRUCell):
        with pytest.raises(ValueError, match=f"{cell.__name__}: input must have 2 axes, got"):
            cell(4, 3)(F.ones((4,)))
