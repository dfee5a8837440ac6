"""Composites whose graph follows from numbers of a call: operator by operator, and as one program
once calls of the same shapes have come back.
"""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import Tensor

RUNS = 12  # of which the first ones are made operator by operator
RANDOM = np.random.RandomState(3)


def values(*shape, dtype="float32"):
    return Tensor(RANDOM.randn(*shape), dtype=dtype)


def counted(call, *names):
    """What the call adds to these counts."""
    before = tessera.cache_stats()
    call()
    after = tessera.cache_stats()
    return [after[name] - before[name] for name in names]


def resized(mode):
    return lambda x: F.vision.interpolate(x, size=(7, 5), mode=mode)


CALLS = {
    "halves": (lambda x: F.glu(x, -1), [(3, 8)]),
    "halves of the first axis": (lambda x: F.glu(x, 0), [(6, 5)]),
    "no elements": (lambda x: F.glu(x, -1), [(0, 8)]),
    "groups": (lambda x, w, b: F.group_norm(x, 2, True, w, b), [(2, 4, 3, 3), (4,), (4,)]),
    "a size of 1": (lambda x, w, b: F.group_norm(x, 2, True, w, b), [(1, 4, 1, 3), (4,), (4,)]),
    "bilinear": (resized("bilinear"), [(2, 3, 4, 6)]),
    "nearest": (resized("nearest"), [(2, 3, 4, 6)]),
    "sizes that stay": (resized("bilinear"), [(1, 1, 7, 5)]),
}


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
@pytest.mark.parametrize("name", CALLS)
def test_bits_are_those_of_the_operators(name, dtype):
    function, shapes = CALLS[name]
    operands = [values(*shape, dtype=dtype) for shape in shapes]
    first = function(*operands).numpy().tobytes()
    assert all(function(*operands).numpy().tobytes() == first for _ in range(RUNS))


def test_operators_become_one_kernel_and_read_what_calls_give():
    def run():
        x = values(17, 38)
        np.testing.assert_allclose(
            F.glu(x, 1).numpy(),
            x.numpy()[:, :19] / (1 + np.exp(-x.numpy()[:, 19:])),
            rtol=1e-5,
            atol=1e-6,
        )

    names = "results_of_kernels", "views"
    assert counted(run, *names) == [2, 2]  # of sigmoid and mul; the halves
    for _ in range(RUNS):
        run()
    assert counted(run, *names) == [1, 0]


def test_operands_may_lie_anyhow():
    x = values(8, 6)
    for of in (lambda x: x.T, lambda x: x[:, ::-1], lambda x: F.broadcast_to(x[:1], x.shape)):
        want = F.glu(Tensor(of(x).numpy()), -1).numpy().tobytes()
        assert all(F.glu(of(x), -1).numpy().tobytes() == want for _ in range(RUNS))


def test_shapes_need_no_program_each():
    def run(rows):
        x, w = values(rows, 6, 5, 40 + rows), values(6)  # no other two are equal
        for _ in range(RUNS):
            F.group_norm(x, 3, True, w, w)

    run(7)
    assert counted(lambda: [run(rows) for rows in range(8, 14)], "compilations") == [0]


def test_numbers_have_few_programs():
    x = values(1, 1, 3, 4)

    def run(size):
        for _ in range(RUNS):
            F.vision.interpolate(x, size=(size, size))

    for size in range(5, 30):
        run(size)
    assert counted(lambda: [run(size) for size in range(30, 60)], "compilations") == [0]


def test_traced_calls_give_the_same_bits():
    x = values(2, 3, 6, 8)
    want = resized("bilinear")(x).numpy().tobytes()
    traced = tessera.jit.trace(resized("bilinear"))
    for _ in range(RUNS):
        assert resized("bilinear")(x).numpy().tobytes() == want
        assert traced(x).numpy().tobytes() == want


def test_errors_are_those_of_the_operators():
    x, w = values(2, 6, 3), values(6)
    for _ in range(RUNS):
        F.group_norm(x, 3, True, w, w)
    with pytest.raises(ValueError, match="must divide the channels"):
        F.group_norm(x, 4, True, w, w)


def test_graphs_without_symbols_are_for_their_sizes():
    x, y = values(4, 10), values(6, 10)
    want = [F.glu(each, 1).numpy().tobytes() for each in (x, y)]
    for _ in range(RUNS):
        assert [F.glu(each, 1).numpy().tobytes() for each in (x, y)] == want


def test_what_ends_with_a_view_stays_operators():
    """A program would copy the windows into the order of the result's axes."""
    x = values(1, 2, 6, 6)

    def run():
        F.sliding_window(x, 3)

    names = "results_of_kernels", "views"
    first = counted(run, *names)
    for _ in range(RUNS):
        run()
    assert counted(run, *names) == first
    assert first[1] > 0
