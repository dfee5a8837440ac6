"""Every record where its kernels are real: split over threads, by the library, at odd sizes and at
the edges; eager, traced and loaded, at 1, 2 and 3 threads.
"""

import warnings

import pytest
import tessera

from tests.random import minimise, modes, one, records
from tests.records import samples

RECORDS = {name: record for name, record in samples.records().items() if not record.stochastic}
with_bfloat16 = pytest.mark.skipif(
    "avx512bw" not in tessera._core.doctor()["features"],
    reason="oneDNN computes bfloat16 on processors with AVX-512 only",
)
# Without operands: what they give depends on their attributes alone. Vectors of cross have a size,
# random matrices are no positive definite ones, nms compares each box with all that are taken,
# match_size takes the one size that it names, and extent one number.
UNSCALED = ("arange", "cholesky", "cross", "extent", "eye", "full", "linspace", "match_size", "nms",
            "scalar_tensor")  # fmt: skip


@pytest.fixture(autouse=True)
def quiet():
    warnings.simplefilter("ignore")


def check(program, *names):
    """No difference in these modes; one that says nothing is no finding."""
    for mode in names:
        try:
            shown = one.difference(program, mode)
        except modes.SkippedError:
            continue
        assert not shown, minimise.source(program, mode, shown)


def gradients(record):
    """The mode of those that have one."""
    return ["gradient_outside"] if record.has_gradient else []


def dtype_of(record, wanted="float32"):
    if not record.operands:
        return wanted
    dtypes = record.operands[0].dtypes
    return wanted if wanted in dtypes else dtypes[0]


@pytest.mark.parametrize("name", [n for n in RECORDS if n not in UNSCALED])
@pytest.mark.parametrize("wanted", ["large", "odd"])
def test_sizes(name, wanted):
    record = RECORDS[name]
    programs = records.chosen(record, dtype_of(record), wanted, 1)
    assert programs, f"{name} must have a sample that can be {wanted}"
    for program in programs:
        check(program, "threads_1", "threads_2", "threads_3", *gradients(record))


@pytest.mark.parametrize("name", RECORDS)
def test_edges(name):
    record = RECORDS[name]
    for program in records.chosen(record, dtype_of(record), "edge", 4):
        check(program, "traced", "loaded", *gradients(record))


LIBRARY = ("matinv", "avg_pool2d", "avg_pool2d_backward")
# Kernels of ours, with the same bits by any threads and on any processor.
PRODUCTS = ("matmul", "linear", "attention", "attention_backward", "scaled_dot_product_attention",
            *(f"{name}{axes}d{suffix}" for axes in (1, 2, 3) for name, suffix in (
                ("conv", ""), ("conv", "_backward_data"), ("conv", "_backward_weight"),
                ("conv_transpose", "")
            )))  # fmt: skip


def counted(name, dtype):
    """A large program of the record, run eagerly, and the counters before and after."""
    (program,) = records.chosen(RECORDS[name], dtype, "large", 1)
    before = tessera.cache_stats()
    modes.eager(program)
    return program, before, tessera.cache_stats()


@pytest.mark.parametrize("name", LIBRARY)
@pytest.mark.parametrize("dtype", ["float32", pytest.param("bfloat16", marks=with_bfloat16)])
def test_library(name, dtype):
    program, before, after = counted(name, dtype)
    assert after["results_of_libraries"] > before["results_of_libraries"]
    assert after["primitive_fallbacks"] == before["primitive_fallbacks"]
    check(program, "threads_1", "threads_2", "threads_3")


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("dtype", ["float32", pytest.param("bfloat16", marks=with_bfloat16)])
def test_products(name, dtype):
    program, before, after = counted(name, dtype)
    assert after["results_of_libraries"] == before["results_of_libraries"]
    assert after["results_of_loops"] > before["results_of_loops"]
    check(program, "threads_1", "threads_2", "threads_3", "smaller_isa")
