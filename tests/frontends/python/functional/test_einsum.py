"""einsum, searches and counts beyond the records' samples."""

import numpy as np
import pytest
import tessera.functional as F  # noqa: N812
from tessera import Tensor, jit, tensor
from tessera.autodiff import grad

from tests.support.helper import same_bits

RANDOM = np.random.RandomState(0)
EQUATIONS = {
    "ab,bc,cd": [(2, 3), (3, 4), (4, 5)],
    "ab,ab,ab->a": [(2, 3)] * 3,
    "iij,jkk->ik": [(3, 3, 4), (4, 2, 2)],
    "abc,cbd->da": [(2, 3, 4), (4, 3, 5)],
    "BA->": [(2, 3)],
    "bA,Ab": [(2, 3), (3, 2)],
    "i...->...": [(4, 2, 3)],
    "...i,...i->i...": [(2, 1, 3), (4, 3)],
    "i...j,jk->...ik": [(2, 5, 6, 3), (3, 4)],
    "a,b,c->cab": [(2,), (3,), (4,)],
    "abcd,efcd->abef": [(2, 3, 2, 2), (4, 5, 2, 2)],
    "ab,cd->": [(2, 3), (4, 5)],
    "...,...": [(2, 3), ()],
    "ijk,ijl->ikl": [(2, 0, 3), (2, 0, 4)],
}


@pytest.mark.parametrize("equation", EQUATIONS)
def test_numpy_says_the_same(equation):
    arrays = [RANDOM.rand(*shape) for shape in EQUATIONS[equation]]
    tensors = [Tensor(x, dtype="float64") for x in arrays]
    found = F.einsum(equation, *tensors)
    np.testing.assert_allclose(found.numpy(), np.einsum(equation, *arrays), rtol=1e-12)
    traced = jit.trace(lambda *x: F.einsum(equation, *x), capture_as_const=True)
    assert same_bits([traced(*tensors)], [found]) and same_bits([traced(*tensors)], [found])


def test_integers_wrap_and_complex_numbers_are_not_conjugated():
    bytes_ = RANDOM.randint(-100, 100, (2, 5, 5)).astype("int8")
    found = F.einsum("ij,jk->ik", *(Tensor(x, dtype="int8") for x in bytes_))
    assert found.dtype == "int8" and (found.numpy() == bytes_[0] @ bytes_[1]).all()
    z = RANDOM.rand(3, 4) + 1j * RANDOM.rand(3, 4)
    found = F.einsum("ij,ij->i", *[Tensor(z, dtype="complex128")] * 2)
    np.testing.assert_allclose(found.numpy(), (z * z).sum(1), rtol=1e-12)


def test_a_refusal_names_equation_and_operands():
    with pytest.raises(ValueError) as caught:
        F.einsum("ij,jk->ik", tensor(np.ones((2, 3), "float32")), tensor(np.ones(3, "float32")))
    assert str(caught.value) == (
        "einsum: parts of the equation must have a letter for each axis, got equation "
        '"ij,jk->ik" and operands f32[2, 3], f32[3]'
    )
    many = [tensor(np.ones((1,) * count, "float32")) for count in (5, 5, 4, 4)]
    with pytest.raises(ValueError, match="einsum: products must have at most 8 axes, got equation"):
        F.einsum("abcde,afghi,bcdf,ehgi->a", *many)


def test_one_program_serves_all_sizes():
    traced = jit.trace(lambda x, y: F.einsum("bqhd,bkhd->bhqk", x, y), capture_as_const=True)
    for q, k in ((2, 3), (5, 4)):
        x, y = (tensor(RANDOM.rand(2, n, 3, 4).astype("float32")) for n in (q, k))
        assert same_bits([traced(x, y)], [F.einsum("bqhd,bkhd->bhqk", x, y)])


def test_places_among_nan_and_equal_ones():
    line = np.array([-np.inf, 1, 1, 2, np.inf, np.nan, np.nan], "float32")
    values = np.array([1, 1.5, np.nan, np.inf, -np.inf, 5], "float32")
    for side in ("left", "right"):
        found = F.searchsorted(tensor(line), tensor(values), side)
        assert (found.numpy() == np.searchsorted(line, values, side)).all()
    with pytest.raises(ValueError, match="searchsorted: side must be one of"):
        F.searchsorted(tensor(line), tensor(values), "middle")


def test_counts_are_as_long_as_the_largest_number_wants():
    x = np.array([3, 0, 3, 1], "int32")
    assert F.bincount(tensor(x)).tolist() == [1, 1, 0, 2]
    assert F.bincount(tensor(x), minlength=6).tolist() == [1, 1, 0, 2, 0, 0]
    assert F.bincount(tensor(np.zeros(0, "int32")), minlength=2).tolist() == [0, 0]
    with pytest.raises(IndexError, match=r"bincount: x must be in \[0, 1\], got -1"):
        F.bincount(tensor(np.array([1, -1], "int32"))).numpy()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int32"])
def test_weights_are_added(dtype):
    x, weights = np.array([2, 0, 2], "int32"), np.array([1, 2, 3], "float32")
    found = F.bincount(tensor(x), tensor(weights).astype(dtype))
    assert found.dtype == dtype and found.astype("float32").tolist() == [2, 0, 4]


def test_weights_have_a_gradient():
    x = np.array([2, 0, 2], "int32")
    slope = grad(lambda w: (F.bincount(tensor(x), w) * tensor([1.0, 2.0, 3.0])).sum())
    assert slope(tensor([1.0, 1.0, 1.0])).tolist() == [3, 1, 3]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64", "uint16"])
@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (3, 4, 5)])
def test_distinct_elements(shape, dtype):
    x = RANDOM.randint(0, 5, shape).astype(dtype)
    found = F.unique(Tensor(x, dtype=dtype), True, True)
    for ours, theirs in zip(found, np.unique(x, return_inverse=True, return_counts=True),
                            strict=True):  # fmt: skip
        assert ours.shape == theirs.shape and ours.tolist() == theirs.tolist()
    assert found[0].dtype == dtype and {found[1].dtype, found[2].dtype} == {np.dtype("int32")}
    assert F.unique(Tensor(x, dtype=dtype)).tolist() == found[0].tolist()


def test_nan_is_one_element_and_a_trace_knows_how_many_there_are():
    traced = jit.trace(lambda x: F.unique(x, return_counts=True), capture_as_const=True)
    for row in ([np.nan, 2, np.nan, -np.inf], [1, 1, 1, 1], [4, 3, 2, 1]):
        values, counts = np.unique(np.array(row, "float32"), return_counts=True)
        for found in (F.unique(tensor(row), return_counts=True), traced(tensor(row))):
            np.testing.assert_array_equal(found[0].numpy(), values)
            np.testing.assert_array_equal(found[1].numpy(), counts)
