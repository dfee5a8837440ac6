"""New tensors: the functions that make them."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812


@pytest.mark.parametrize(
    "make",
    [
        lambda **where: F.full((2,), 3, **where),
        lambda **where: F.full((2,), tessera.tensor(3), **where),
        lambda **where: F.zeros((2,), **where),
        lambda **where: F.ones((2,), **where),
        lambda **where: F.arange(2, **where),
        lambda **where: F.eye(2, **where),
        lambda **where: F.linspace(0, 1, 2, **where),
        lambda **where: F.concat([tessera.tensor([1]), tessera.tensor([2])], **where),
    ],
)
def test_device_of_new_tensors(make):
    assert make().device == make(device=None).device == make(device="cpu0").device == "cpu0"
    assert make(device="null0").device == "null0"
    with pytest.raises(ValueError, match="device must be one of cpu0, sim0, null0, got 'moon'"):
        make(device="moon")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_linspace_ends_at_its_end(dtype):
    random = np.random.default_rng(0)
    for start, stop, num in zip(random.random(50), random.random(50), range(2, 52), strict=True):
        got = F.linspace(start, stop, num, dtype=dtype).numpy()
        assert got[0] == np.dtype(dtype).type(start) and got[-1] == np.dtype(dtype).type(stop)
        assert got.shape == (num,)
    assert F.linspace(0.1, 0.7, 1).item() == np.float32(0.1)
