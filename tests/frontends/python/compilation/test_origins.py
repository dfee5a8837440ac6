"""Where eager results come from: generated kernels, a library, loops of our own, views."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera.autodiff import GradManager

from tests.support.helper import difference

IMAGE, KERNEL, ROWS = (2, 16, 14, 14), (32, 16, 3, 3), (40, 24)
PRODUCTS = {  # by loops of our own around generated kernels: shapes of operands, call
    "matmul": ([ROWS, (24, 16)], F.matmul),
    "matmul of transposed": ([ROWS, (40, 16)], lambda x, w: F.matmul(x, w, transpose_a=True)),
    "matmul of batches": ([(3, *ROWS), (3, 24, 16)], F.matmul),
    "linear": ([ROWS, (16, 24)], F.linear),
    "conv2d": ([IMAGE, KERNEL], lambda x, w: F.conv2d(x, w, None, 1, 1)),
    "conv2d, strided": ([IMAGE, KERNEL], lambda x, w: F.conv2d(x, w, None, 2, 0)),
    "conv2d, grouped": (
        [IMAGE, (2, 16, 8, 3, 3)],
        lambda x, w: F.conv2d(x, w, None, 1, 1, groups=2),
    ),
    "conv2d, by points": (
        [(2, 32, 16, 16), (32, 32, 3, 3)],
        lambda x, w: F.conv2d(x, w, None, 1, 1),
    ),
    "conv2d, depthwise": (
        [IMAGE, (16, 1, 1, 3, 3)],
        lambda x, w: F.conv2d(x, w, None, 1, 1, groups=16),
    ),
}
LIBRARY = {  # what oneDNN has in float32, at sizes that it is called for
    "avg_pool2d": ([IMAGE], lambda x: F.avg_pool2d(x, 2)),
}


def ones(shapes, dtype="float32"):
    return [tessera.Tensor(np.ones(shape), dtype=dtype) for shape in shapes]


@pytest.mark.parametrize("name", LIBRARY)
def test_the_library_computes_what_it_has(name):
    shapes, call = LIBRARY[name]
    operands = ones(shapes)
    counts = difference(lambda: call(*operands))
    assert counts["results_of_libraries"] == 1 and counts["results_of_loops"] == 0, counts


def counts_of_gradients(shapes, call):
    operands = ones(shapes)
    with GradManager().attach(operands) as manager:
        loss = (call(*operands) ** 2).sum()
        return difference(lambda: manager.backward(loss))


@pytest.mark.parametrize("name", LIBRARY)
def test_the_library_computes_its_gradients(name):
    counts = counts_of_gradients(*LIBRARY[name])
    origins = counts["results_of_libraries"], counts["results_of_loops"]
    assert origins[0] >= len(LIBRARY[name][0]) and not origins[1], counts


@pytest.mark.parametrize("name", PRODUCTS)
def test_no_library_computes_products_and_their_gradients(name):
    shapes, call = PRODUCTS[name]
    operands = ones(shapes)
    forward = difference(lambda: call(*operands))
    assert forward["results_of_loops"] == 1 and not forward["results_of_libraries"], forward
    backward = counts_of_gradients(shapes, call)
    assert backward["results_of_loops"] >= 2 and not backward["results_of_libraries"], backward


LOOPS = {  # few products, those by a vector, no kernel of the library, the allow-list
    "few products": ([(4, 6), (6, 2)], F.matmul, "float32"),
    "matmul of a vector": ([(64, 64), (64,)], F.matmul, "float32"),
    "float64 products": ([ROWS, (24, 16)], F.matmul, "float64"),
    "float64 convolution": ([IMAGE, KERNEL], F.conv2d, "float64"),
    "sort": ([ROWS], lambda x: F.argsort(x), "float32"),
}


@pytest.mark.parametrize("name", LOOPS)
def test_our_own_loops_are_no_library(name):
    shapes, call, dtype = LOOPS[name]
    operands = ones(shapes, dtype)
    counts = difference(lambda: call(*operands))
    assert counts["results_of_loops"] >= 1 and counts["results_of_libraries"] == 0, counts


def test_a_program_of_a_library_and_of_loops_counts_as_both():
    operands = ones([IMAGE, (7, 14)])
    call = jit.trace(lambda x, y: F.matmul(F.avg_pool2d(x, 2), y))
    call(*operands), call(*operands)
    counts = difference(lambda: call(*operands))
    assert counts["results_of_libraries"] == counts["results_of_loops"] == counts["results"], counts


def test_where_results_come_from():
    (x,) = ones([(4, 6)])
    assert difference(lambda: x + x)["results_of_kernels"] == 1
    (image,) = ones([IMAGE])
    assert difference(lambda: F.max_pool2d(image, 2))["results_of_kernels"] == 1
    view = difference(lambda: x[1:3])
    assert (view["views"], view["results"], view["misses"]) == (1, 1, 0)
    assert difference(lambda: tessera.tensor([1.0]))["host_values"] == 1
    strided = x.transpose(1, 0)
    reshaped = difference(lambda: strided.reshape(24))
    assert (reshaped["copies"], reshaped["views"]) == (1, 1)
