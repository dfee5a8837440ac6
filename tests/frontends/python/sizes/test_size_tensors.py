"""Tensors as sizes that follow from shapes: they stay free."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import core, jit
from tessera import module as M  # noqa: N812

from tests.support.helper import programs, same_bits
from tests.support.networks import tensor

# By shapes: tensors that the function makes of sizes, and computes with.
FREE = {
    "reshape": lambda x: F.reshape(x, F.concat([x.shape[:1], [-1]])),
    "reshape_all": lambda x: x.reshape(
        F.stack([tessera.tensor(x.shape).prod(), tessera.tensor(1)])
    ),
    "of a tensor": lambda x: F.full(tessera.tensor(x.shape) + 1, 2.0),
    "arange": lambda x: F.arange(tessera.tensor(x.shape[0]) * 2, dtype="int32"),
    "eye": lambda x: F.eye(tessera.tensor(x.shape[0])),
    "linspace": lambda x: F.linspace(0, 1, tessera.tensor(x.shape[0]) + 1),
    "broadcast": lambda x: F.broadcast_to(x[:1], F.concat([[2], x.shape])),
    "slice": lambda x: x[tessera.tensor(x.shape[0]) // 2 :],
    "end": lambda x: x[: tessera.tensor(x.shape)[0] - 1],
    "pad": lambda x: F.pad(x, ((0, tessera.tensor(x.shape[0])), (0, 0))),
    "repeat": lambda x: F.repeat(x, tessera.tensor(x.shape[0]), 0),
    "tile": lambda x: F.tile(x, tessera.tensor(x.shape) % 3 + 1),
    "one_hot": lambda x: F.one_hot(F.arange(2, dtype="int32"), tessera.tensor(x.shape[0])),
    "several": lambda x: F.zeros((tessera.tensor(x.shape[0]), 2)),
    "least": lambda x: F.ones(F.minimum(tessera.tensor(x.shape[0]), 4)),
}


@pytest.mark.parametrize("name", FREE)
def test_sizes_that_follow_from_shapes_stay_free(name, tmp_path):
    function = FREE[name]
    call = jit.trace(function)
    for n in (4, 4, 5, 9, 6):
        x = tensor(n, 3, seed=n)
        assert same_bits(call(x), function(x))
    assert programs(call) <= 2
    kept = jit.trace(function, capture_as_const=True)
    kept(tensor(4, 3))
    kept.dump(tmp_path / "p", arg_names=["x"], dims={"x": {0: jit.Dim("n", 2, 99)}})
    for n in (2, 7):
        x = tensor(n, 3, seed=n)
        assert same_bits(jit.load(tmp_path / "p")(x), function(x))


@pytest.fixture
def _symbolic_shapes():
    before = core.set_symbolic_shape(True)
    yield
    core.set_symbolic_shape(before)


# MegEngine's programs: `shape` is a tensor.
SHAPES = {
    "itself": lambda x: x.shape,
    "reshape": lambda x: F.reshape(x, F.concat([x.shape[:1], [-1]])),
    "full": lambda x: F.full(x.shape * 2 + 1, 2.0),
    "one size": lambda x: F.arange(x.shape[0]) + x.shape[1],
    "of a result": lambda x: F.broadcast_to(x.sum(axis=0), F.concat([x, x]).shape),
    "a module": M.LayerNorm(3),
}


@pytest.mark.usefixtures("_symbolic_shapes")
@pytest.mark.parametrize("name", SHAPES)
def test_shapes_are_tensors_where_the_process_says_so(name):
    function = SHAPES[name]
    call = jit.trace(function)
    for n in (4, 4, 5, 9):
        x = tensor(n, 3, seed=n)
        assert same_bits(call(x), function(x))
    assert programs(call) <= 2


def test_a_shape_as_a_tensor_is_int32_and_the_switch_says_what_held():
    x, call = tensor(4, 3), jit.trace(lambda x: x.shape)
    assert call(x) == (4, 3) and not core.set_symbolic_shape(True)
    try:
        assert x.shape.dtype == np.int32 and x.shape.numpy().tolist() == [4, 3]
        assert (x.shape[0] == 4).item() and x.sum().shape == ()
        assert same_bits(call(x), x.shape)  # no recording of before
    finally:
        assert core.set_symbolic_shape(False) and not core.use_symbolic_shape()
    assert call(x) == (4, 3)


def test_sizes_must_be_integers():
    with pytest.raises(ValueError, match=r"shape: sizes must be at most 64 integers, got f32\[\]"):
        jit.trace(lambda n: F.zeros(n))(tessera.tensor(2.0))
    with pytest.raises(
        ValueError, match=r"shape: sizes must be at most 64 integers, got i32\[65\]"
    ):
        jit.trace(lambda n: F.zeros(n))(F.ones(65, dtype="int32"))


def test_a_tensor_of_sizes_is_computed_by_the_program():
    call = jit.trace(lambda x: (tessera.tensor(x.shape), tessera.tensor([x.shape[0], 7], "int64")))
    for n in (3, 3, 5, 8):
        sizes, mixed = call(tensor(n, 2))
        assert (sizes.tolist(), mixed.tolist()) == ([n, 2], [n, 7])
        assert (sizes.dtype, mixed.dtype) == (np.int32, np.int64)
    assert programs(call) <= 2
