"""Gradients whose operators become one program, once calls of their shapes have come back."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import Tensor
from tessera.autodiff import GradManager

RUNS = 12  # of which the first ones are made operator by operator
RANDOM = np.random.RandomState(7)


def values(*shape, dtype="float32"):
    return Tensor(RANDOM.randn(*shape), dtype=dtype)


def gradients(function, operands, dy=None):
    """The result's bytes, and those of the operands' gradients."""
    manager = GradManager().attach(operands)
    with manager:
        y = function(*operands)
        manager.backward(y, dy) if dy is not None else manager.backward(y.sum())
    grads = [operand.grad.numpy().tobytes() for operand in operands]
    for operand in operands:
        operand.grad = None
    return grads


def counted(call, *names):
    """What the call adds to these counts."""
    before = tessera.cache_stats()
    call()
    after = tessera.cache_stats()
    return [after[name] - before[name] for name in names]


CALLS = {
    "activation": (F.gelu, [(3, 5)]),
    "of a number": (lambda x: F.leaky_relu(x, 0.3), [(3, 5)]),
    "of two numbers": (lambda x: F.elu(x, 0.25) * F.celu(x, 2.0), [(4, 5)]),
    "broadcast": (lambda x, y: F.smooth_l1_loss(x, y, beta=0.5), [(3, 5), (3, 5)]),
    "a size of 1": (F.square_loss, [(1, 5), (1, 5)]),
    "no elements": (F.silu, [(0, 5)]),
    "rank 0": (F.hswish, [()]),
    "halves": (lambda x: F.glu(x, -1), [(3, 8)]),
    "rows": (lambda x: F.logsoftmax(x, -1), [(7, 33)]),
    "equal sizes": (lambda x, w, b: F.layer_norm(x, (8,), True, w, b), [(8, 8), (8,), (8,)]),
    "sizes in the graph": (lambda x, w, b: F.layer_norm(x, (8,), True, w, b), [(3, 8), (8,), (8,)]),
    "groups": (lambda x, w, b: F.group_norm(x, 2, True, w, b), [(2, 4, 3, 3), (4,), (4,)]),
    "statistics": (F.normalize, [(5, 6)]),
    "a size that is read nowhere": (lambda x: F.nll_loss(x, Tensor([4, 0, 4])), [(3, 5)]),
}


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
@pytest.mark.parametrize("name", CALLS)
def test_bits_are_those_of_the_operators(name, dtype):
    function, shapes = CALLS[name]
    operands = [values(*shape, dtype=dtype) for shape in shapes]
    first = gradients(function, operands)
    assert all(gradients(function, operands) == first for _ in range(RUNS))


@pytest.mark.parametrize(
    "of",
    [
        lambda dy: dy,
        lambda dy: dy[::-1],
        lambda dy: dy.T,
        lambda dy: F.broadcast_to(dy[:, :1], dy.shape),
    ],
)
def test_gradients_that_arrive_may_lie_anyhow(of):
    x, dy = values(6, 6), of(values(6, 6))
    first = gradients(F.gelu, [x], dy)
    assert all(gradients(F.gelu, [x], dy) == first for _ in range(RUNS))


def test_many_operators_become_one():
    x = values(17, 19)
    (first,) = counted(lambda: gradients(F.hswish, [x]), "results_of_kernels")
    for _ in range(RUNS):
        gradients(F.hswish, [x])
    (last,) = counted(lambda: gradients(F.hswish, [x]), "results_of_kernels")
    assert (first, last) == (16, 4)  # hswish, its sum, the 1 that arrives, and the gradient


def test_neither_numbers_nor_sizes_compile_anew():
    def run(slope, *shape):
        x = values(*shape)
        for _ in range(RUNS):
            gradients(lambda x: F.leaky_relu(x, slope), [x])
            gradients(lambda x: F.layer_norm(x, shape[1:], False), [x])

    run(0.5, 6, 11)
    assert counted(lambda: run(0.125, 9, 14), "compilations") == [0]


def test_a_gradient_of_sizes_that_nothing_has_compiles_once_for_each():
    def calls(rows, runs=RUNS):
        x, label = values(rows, 7), Tensor([6] * rows)
        for _ in range(runs):
            gradients(lambda x: F.nll_loss(x, label), [x])

    calls(3)
    (results,) = counted(lambda: calls(3, 1), "results_of_kernels")
    assert results == 4  # nll_loss, its sum, the 1 that arrives, and the gradient
    for rows in range(4, 40):
        calls(rows)
    assert counted(lambda: calls(3), "compilations") == [0]
    compiled = counted(lambda: [calls(rows) for rows in range(40, 50)], "compilations")
    assert compiled == [0]  # there are enough: operator by operator


def test_places_in_the_graph_are_no_programs():
    x = values(4, 64)

    def cut(start):
        for _ in range(RUNS):
            gradients(lambda x: x[:, start : start + 5] * x[:, start + 1 : start + 6], [x])

    cut(0)
    assert counted(lambda: [cut(start) for start in range(1, 50)], "compilations") == [0]


def test_second_gradients_see_the_operators():
    x = values(3, 4)

    def second():
        outer, inner = GradManager().attach([x]), GradManager().attach([x])
        with outer:
            with inner:
                inner.backward(F.gelu(x).sum())
            outer.backward((x.grad * x.grad).sum())
        grad, x.grad = x.grad.numpy().tobytes(), None
        return grad

    first = second()
    assert all(second() == first for _ in range(RUNS))


def test_an_error_of_a_gradient_leaves_the_program_usable():
    x = values(3, 4)
    for _ in range(RUNS):
        first = gradients(F.gelu, [x], F.ones((3, 4)))
    with pytest.raises(ValueError, match="backward: dy must have the shape and dtype of y"):
        gradients(F.gelu, [x], F.ones((4, 3)))
    assert gradients(F.gelu, [x], F.ones((3, 4))) == first
