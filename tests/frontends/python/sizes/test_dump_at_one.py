"""Calls of size 1, dumped with that size free."""

import numpy as np
import pytest
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
from tessera import Tensor, jit
from tessera.core import apply
from tessera.core.ops import builtin as B  # noqa: N812
from tessera.jit import Dim

from tests.support.helper import same_bits

NET = M.Sequential(M.Conv2d(3, 4, 3), M.BatchNorm2d(4), M.ReLU()).eval()
FUNCTIONS = {
    "sizes as numbers": (lambda x: F.zeros(x.shape) + x, (3,)),
    "a size in a reshape": (lambda x: x.reshape(x.shape[0], 3, 1), (3,)),
    "a module": (lambda x: NET(x).flatten(1), (3, 5, 5)),
    "a size that data decides": (lambda x: x[x > 0].sum() + x, (4,)),
}


def dumped(function, shape, path, high=64):
    traced = jit.trace(function, capture_as_const=True)
    traced(F.ones((1, *shape)))
    traced.dump(path, arg_names=["x"], dims={"x": {0: Dim("n", 1, high)}})
    return jit.load(path)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_other_sizes_have_the_bits_of_eager(name, tmp_path):
    function, shape = FUNCTIONS[name]
    program = dumped(function, shape, tmp_path / "one.tess")
    for size in (1, 2, 7):
        x = Tensor(np.random.RandomState(size).randn(size, *shape).astype("float32"))
        assert same_bits(program(x), function(x))


def test_what_is_another_function_at_size_1_is_refused(tmp_path):
    with pytest.raises(ValueError, match="a free dimension must not be fixed in the program"):
        dumped(lambda x: x if x.shape[0] == 1 else x * 2, (3,), tmp_path / "one.tess")


def test_what_eager_refuses_at_size_1_is_refused_beside_sizes_of_data(tmp_path):
    def parts(x):
        return F.split(x, 2, 0)[1] + x[x > 0].shape[0]

    with pytest.raises(ValueError, match=r"dump: .* must run at every size .*, got n=1: split: "):
        traced = jit.trace(parts, capture_as_const=True)
        traced(F.ones((4, 3)))
        traced.dump(tmp_path / "one.tess", arg_names=["x"], dims={"x": {0: Dim("n", 1, 64)}})


def test_a_bound_of_1_stays(tmp_path):
    program = dumped(lambda x: x + 1, (3,), tmp_path / "one.tess", high=1)
    assert program(F.ones((1, 3))).tolist() == [[2, 2, 2]]


def summed_to_positive(x, y):
    return apply(B.SumTo(), x, y[y > 0])[0]


def test_a_sum_to_a_size_of_data_takes_it_for_that_of_its_operand(tmp_path):
    x, one, all_four = F.ones((3, 4)), Tensor([1.0, -1, -1, -1]), F.ones((4,))
    traced = jit.trace(summed_to_positive, capture_as_const=True)
    assert traced(x, all_four).tolist() == [3, 3, 3, 3]
    traced.dump(tmp_path / "four.tess", arg_names=["x", "y"])
    program = jit.load(tmp_path / "four.tess")
    assert program(x, all_four).tolist() == [3, 3, 3, 3]
    with pytest.raises(ValueError, match="sum_to: sizes must match, got axis 0 of .* and 4"):
        program(x, one)
    assert traced(x, one).tolist() == [12]


def test_a_sum_over_a_size_of_data_is_refused(tmp_path):
    x, one = F.ones((3, 4)), Tensor([1.0, -1, -1, -1])
    traced = jit.trace(summed_to_positive, capture_as_const=True)
    assert traced(x, one).tolist() == [12]
    with pytest.raises(ValueError, match="hold for all sizes .*, got sum_to of sizes 1 and 4"):
        traced.dump(tmp_path / "one.tess", arg_names=["x", "y"])
