"""Gradients of every record where its formula has an edge: zeros, ties, infinities, masked results.

Where all results are numbers, no gradient of first or second order may be NaN; where differences
from both sides agree, it is what they say; and where nothing arrives, nothing goes on.
"""

import numpy as np
import pytest
import tessera
from tessera.autodiff.modes import recording

from tests import quick
from tests.records import samples as S  # noqa: N812
from tests.records.test_ops import differentiable, every

INF = np.inf
LARGEST = 60  # elements of the operands
SAMPLES = 3  # of one record
STEP = 1e-6
LEAP = 1e4  # a difference quotient from here on is that of a leap

# Edges at which a record has no gradient, and why.
SINGULAR = "an error, as the record says: a singular matrix, or one that is not positive definite"
EQUAL = "vectors of equal eigenvalues or singular values turn freely"
LOGARITHM = "the exponent's slope is the logarithm of the base, which is negative here"
EXPONENT = "an infinite exponent"
EXTREME = "every element beats the others' infinities: the difference of two"
WITHOUT = {
    "cholesky": (SINGULAR, "*"),
    "matinv": (SINGULAR, "*"),
    "slogdet": (SINGULAR, "*"),
    "solve": (SINGULAR, "*"),
    "solve_triangular": (SINGULAR, "*"),
    "qr": (SINGULAR, "*"),
    "adjugate": (SINGULAR, "*"),
    "det": (SINGULAR, "second"),
    "eigh": (EQUAL, "*"),
    "svd": (EQUAL, "*"),
    "svdvals": (EQUAL, "*"),
    "pow": (LOGARITHM, ("minus ones", "one -inf", "all -inf", "x -inf", "y -inf", "one 0", "x 0")),
    "triplet_margin_loss": (EXTREME, ("positive -inf", "negative -inf", "anchor -inf")),
}

# Corners that differences from both sides do not show.
CORNERS = {
    "copysign": ("zeros", "minus zeros", "one 0", "y 0"),  # the sign leaps with both operands
    "max_pool3d_backward": "*",  # the results are at places that are chosen anew
    "warp_affine": ("minus ones",),  # positions on whole pixels
}


def edges(record, operands):
    """(name, operands) with zeros, ties and infinities among the floats."""
    named = zip(S_names(record, operands), operands, strict=True)
    floats = [name for name, (_, dtype) in named if dtype == "float64"]

    def everywhere(change, only=None):
        return [
            (np.array(change(a.copy())), dtype) if dtype == "float64" and only in (None, name)
            else (a, dtype)
            for name, (a, dtype) in zip(S_names(record, operands), operands, strict=True)
        ]  # fmt: skip

    def first(value):
        def change(array):
            array.reshape(-1)[:1] = value
            return array

        return change

    values = {"zeros": 0.0, "minus zeros": -0.0, "ones": 1.0, "minus ones": -1.0, "all -inf": -INF}
    for name, value in values.items():
        yield name, everywhere(lambda a, value=value: np.full_like(a, value))
    for name, value in {"one 0": 0.0, "one -inf": -INF}.items():
        yield name, everywhere(first(value))
    for operand in floats if len(floats) > 1 else ():
        for name, value in {"0": 0.0, "1": 1.0, "-inf": -INF}.items():
            change = lambda a, value=value: np.full_like(a, value)  # noqa: E731
            yield f"{operand} {name}", everywhere(change, operand)


def S_names(record, operands):  # noqa: N802
    names = [operand.name for operand in record.operands]
    return (names + [names[-1]] * len(operands))[: len(operands)]


def few(record):
    """The samples in float64 that are small and have elements."""
    fitting = [
        sample
        for sample in record.samples
        if "float64" in S.dtypes_of(record, sample)
        if 0 < sum(int(np.prod(shape)) for shape in sample.shapes) <= LARGEST
    ]
    return quick.few(fitting[:SAMPLES])


def total(tensors):
    result = tessera.Tensor(0.0, dtype="float64")
    for tensor in tensors:
        result = result + tensor.sum()
    return result


class Call:
    """Results and gradients of one call; `scale` multiplies the results."""

    def __init__(self, record, sample, scale=1.0):
        self.record, self.sample, self.scale = record, sample, scale

    def results(self, inputs):
        found = differentiable(self.record, S.call(self.record, self.sample, inputs))
        return [each for each in found if each.dtype == "float64"]

    def gradients(self, inputs, order=1):
        with recording(inputs) as state:
            if order == 1:
                y = total(self.results(inputs)) * tessera.Tensor(self.scale, dtype="float64")
            else:
                y = total([g for g in self.gradients(inputs, order - 1) if g is not None])
            return state.backward([y], None)


def arrays(tensors):
    return [each.numpy() for each in tensors if each is not None]


def has_nan(found):
    return any(np.isnan(each).any() for each in found)


def is_left_out(record, edge, order):
    _, places = WITHOUT.get(record.name, ("", ()))
    return places == "*" or edge in places or (places == "second" and order == 2)


def cases(record):
    for sample in few(record):
        yield from (
            (sample, *edge) for edge in edges(record, S.arrays(record, sample, "float64", seed=3))
        )


def has_own_places(record):
    """Whether an element's gradient comes from where the element stands, or the row there; sums of
    products with infinities are NaN.
    """
    return record.lowering == "elementwise" or record.name in SOFTMAX


SOFTMAX = ("softmax", "log_softmax", "logsumexp")
DIFFERENTIABLE = every(lambda record: record.has_gradient and not record.stochastic)


@DIFFERENTIABLE
def test_numbers_have_gradients(name):
    record = S.records()[name]
    for sample, edge, operands in cases(record):
        call = Call(record, sample)
        for order in (1, 2):
            if is_left_out(record, edge, order):
                continue
            where = f"{sample.shapes} {sample.attrs} {edge}, order {order}"
            results = arrays(call.results(S.tensors(operands)))
            if all(np.isfinite(each).all() for each in results):
                found = arrays(call.gradients(S.tensors(operands), order))
                assert not has_nan(found), f"{where}: {found}"


@DIFFERENTIABLE
def test_nothing_goes_on_where_nothing_arrives(name):
    record = S.records()[name]
    for sample, edge, operands in cases(record):
        if is_left_out(record, edge, 1) or ("inf" in edge and not has_own_places(record)):
            continue
        found = arrays(Call(record, sample, scale=0.0).gradients(S.tensors(operands)))
        assert not any(each.any() for each in found), f"{sample.shapes} {sample.attrs} {edge}"


@DIFFERENTIABLE
@pytest.mark.parametrize("order", [1, 2])
def test_slopes_from_both_sides(name, order):
    record = S.records()[name]
    for sample, edge, operands in cases(record):
        if "inf" in edge or any(is_left_out(record, edge, each) for each in (1, order)):
            continue
        if edge in CORNERS.get(name, ()) or CORNERS.get(name) == "*":
            continue
        slopes = Slopes(Call(record, sample), operands, order)
        sides = [slopes.difference(STEP), slopes.difference(-STEP)]
        if np.max(np.abs(sides)) < LEAP and np.isclose(*sides, rtol=1e-4, atol=1e-4):
            where = f"{sample.shapes} {sample.attrs} {edge}"
            np.testing.assert_allclose(slopes.found(), sides[0], 1e-3, 1e-3, err_msg=where)


class Slopes:
    """The derivative of one call along a random direction, or that of the derivative."""

    def __init__(self, call, operands, order):
        self.call, self.operands, self.order = call, operands, order
        random = np.random.RandomState(7)
        self.directions = [random.rand(*a.shape) - 0.5 for a, _ in operands]

    def difference(self, step):
        """Change of the value from here to `step` along the direction, divided by the step."""
        return (self._value(step) - self._value(0.0)) / step

    def found(self):
        """The gradient along the direction."""
        grads = self.call.gradients(S.tensors(self.operands), self.order)
        return sum(
            (g.numpy() * v).sum()
            for g, v, (_, dtype) in zip(grads, self.directions, self.operands, strict=True)
            if g is not None and dtype == "float64"
        )

    def _value(self, step):
        moved = S.tensors([
            (a + step * v if dtype == "float64" else a, dtype)
            for (a, dtype), v in zip(self.operands, self.directions, strict=True)
        ])  # fmt: skip
        if self.order == 1:
            return sum(each.sum() for each in arrays(self.call.results(moved)))
        return sum(each.sum() for each in arrays(self.call.gradients(moved)))
