"""Every operator, by its record's samples: oracle, gradient, modes, free dimensions."""

import functools
import re

import numpy as np
import pytest
import scipy as sp
import scipy.special
import scipy.stats  # noqa: F401
import tessera
from tessera import _core, jit
from tessera.autodiff.modes import recording

from tests import quick
from tests.records import samples as S  # noqa: N812
from tests.records.oracles import oracle as tess_oracle
from tests.support.helper import loaded, same_bits

RECORDS = S.records()
STATES = {"batch_norm": ("new_mean", "new_var")}  # results that are never differentiated
KINKS = {"std": [()]}  # shapes at which the function has no derivative
SIZED_BY_ATTRIBUTE = ("broadcast_to", "reshape", "split")  # the sample fits one size only
LIMITS = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 2e-5, "float64": 1e-10,
          "complex64": 2e-5, "complex128": 1e-10}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def all_results_are_compiled():
    """At the end: every result came from a program that the compiler made, or is a view."""
    yield
    stats = tessera.cache_stats()
    origins = ("results_of_kernels", "results_of_libraries", "results_of_loops")
    compiled = sum(stats[origin] for origin in origins)
    assert compiled and compiled + stats["views"] >= stats["results"]  # a program may call both
    assert sized_programs() == set()


def sized_programs():
    """Operators of which a compiled program is for one shape: "name{...} (f32[2, ?]) ..."."""
    found = set()
    for text in _core.cached_classes():
        metas = text[text.rindex(" (") : text.rindex(")")]
        sizes = re.findall(r"\d+", " ".join(re.findall(r"\[(.*?)\]", metas)))
        if set(sizes) - {"1"}:
            found.add(text.split("{")[0].split(" ")[0])
    return found


def every(condition=lambda record: True):
    names = [name for name, record in RECORDS.items() if condition(record)]
    return pytest.mark.parametrize("name", names)


def label(sample, dtype):
    return f"{sample.shapes} {sample.attrs} {dtype}"


def every_case(cases, condition=lambda record: True):
    """A test for each (record, sample, dtype) of `cases(record)`: one failure hides no other."""
    found = [
        pytest.param(record, sample, dtype, id=f"{record.name} {label(sample, dtype)}")
        for record in filter(condition, RECORDS.values())
        for sample, dtype in cases(record)
    ]
    return pytest.mark.parametrize(("record", "sample", "dtype"), found)


def expected(record, sample, operands):
    """The oracle's results, on float64 where the operands are floats, complex128 where complex."""
    names = {"np": np, "sp": sp, "tess_oracle": tess_oracle}
    values = iter([
        array.astype(np.float64) if dtype in S.FLOATS else
        array.astype(np.complex128) if dtype in S.PARTS else array for array, dtype in operands
    ])  # fmt: skip
    present = S.groups(record, sample)
    for operand in record.operands:
        count = sum(each is operand for each in present)
        taken = [next(values) for _ in range(count)]
        names[operand.name] = taken if operand.arity == "variadic" else (taken or [None])[0]
    names.update({**defaults(record), **sample.attrs})
    names.update({k: oracle_value(v) for k, v in names.items() if k in record.attrs})
    result = eval(record.oracle, names)
    return list(result) if isinstance(result, (tuple, list)) else [result]


def oracle_value(value):
    """Attributes in NumPy's words."""
    if isinstance(value, str):
        return S.SHORT.get(value, value)
    return tuple(value) if isinstance(value, list) else value


@functools.cache
def _table():
    return {row["name"]: row for row in _core.op_table()}


def defaults(record):
    """Attributes that a sample leaves out."""
    attrs = _table()[record.name]["attrs"]
    return {
        each["name"]: each["default"] for each in attrs if each["has_default"] or each["optional"]
    }


def visible(record, results):
    shown = [not hidden for _, hidden, _ in _table()[record.name]["results"]]
    return [each for each, show in zip(results, shown, strict=False) if show] if len(shown) == len(
        results) else results  # fmt: skip


def check_close(got, want, where):
    want = np.asarray(want)
    array = got.numpy()
    assert array.shape == want.shape, where
    limit = LIMITS.get(got.dtype.name, 0)
    if not limit:
        want = want.astype(array.dtype)
        if got.dtype.name in S.FLOAT8:
            array, want = array.astype(np.float32), want.astype(np.float32)
        np.testing.assert_array_equal(array, want, err_msg=where)
        return
    with np.errstate(over="ignore"):
        scale = np.abs(want[np.isfinite(want)]).max(initial=1.0)
        wide = np.complex128 if got.dtype.name in S.PARTS else np.float64
        want = np.asarray(want, dtype=wide)
        np.testing.assert_allclose(
            array.astype(wide), want, rtol=limit, atol=limit * scale, err_msg=where
        )


def every_dtype(record):
    return [(s, dtype) for s in record.samples for dtype in S.tested_dtypes(record, s)]


@every_case(every_dtype, lambda record: record.oracle)
def test_oracle(record, sample, dtype):
    operands = S.arrays(record, sample, dtype)
    got = visible(record, S.call(record, sample, S.tensors(operands)))
    for result, want in zip(got, expected(record, sample, operands), strict=True):
        check_close(result, want, label(sample, dtype))


def cases(record):
    """Every sample in one dtype, and every dtype in one sample."""
    for sample in quick.few(record.samples):
        yield sample, S.primary(record, sample)
    sample = max(record.samples, key=lambda s: sum(map(np.prod, s.shapes)))
    for dtype in S.tested_dtypes(record, sample):
        if dtype != S.primary(record, sample):
            yield sample, dtype


@every_case(cases)
def test_eager_traced_and_loaded_are_the_same(record, sample, dtype):
    operands = S.tensors(S.arrays(record, sample, dtype))
    traced = jit.trace(lambda *args: tuple(S.call(record, sample, args)), capture_as_const=True)
    eager = S.call(record, sample, operands)
    assert same_bits(traced(*operands), eager)
    assert same_bits(traced(*operands), eager)
    assert same_bits(loaded(traced, len(operands))(*operands), eager)


def small_and_smooth(record):
    """What a difference of float64 can check: every element of the operands costs two calls."""
    return [
        (sample, "float64")
        for sample in record.samples
        if "float64" in S.dtypes_of(record, sample) and sample.shapes != KINKS.get(record.name)
        if sum(int(np.prod(shape)) for shape in sample.shapes) <= 400
    ]


@every_case(small_and_smooth, lambda record: record.has_gradient and not record.stochastic)
def test_gradient(record, sample, dtype):
    check_gradient(record, sample, S.arrays(record, sample, dtype, seed=3))


def weights_of(results):
    random = np.random.RandomState(5)
    return [
        tessera.Tensor(random.rand(*r.shape), dtype=r.dtype)
        for r in results
        if r.dtype == "float64"
    ]


def differentiable(record, results):
    names = [name for name, hidden, _ in _table()[record.name]["results"] if not hidden]
    shown = visible(record, results)
    if len(names) != len(shown):
        return shown
    skipped = STATES.get(record.name, ())
    return [each for name, each in zip(names, shown, strict=True) if name not in skipped]


def check_gradient(record, sample, operands):
    inputs = S.tensors(operands)
    with recording(inputs) as state:
        results = differentiable(record, S.call(record, sample, inputs))
        floats = [r for r in results if r.dtype == "float64"]
        weights = weights_of(floats)
        grads = state.backward(floats, weights)

    def value(arrays):
        pairs = [(a, d) for a, (_, d) in zip(arrays, operands, strict=True)]
        out = differentiable(record, S.call(record, sample, S.tensors(pairs)))
        out = [r.numpy() for r in out if r.dtype == "float64"]
        return sum(
            (o * w.numpy())[np.isfinite(o)].sum() for o, w in zip(out, weights, strict=True)
        )  # what is infinite has no slope

    for number, grad in enumerate(grads):
        if grad is not None and operands[number][1] == "float64":
            want = differences(value, [a for a, _ in operands], number)
            where = f"operand {number} of {label(sample, '')}"
            np.testing.assert_allclose(grad.numpy(), want, rtol=2e-5, atol=2e-6, err_msg=where)


def differences(value, arrays, number, step=1e-6):
    target = arrays[number] = np.array(arrays[number])
    result = np.zeros(target.shape)
    for index in np.ndindex(target.shape):
        middle = target[index]
        target[index] = middle + step
        above = value(arrays)
        target[index] = middle - step
        result[index] = (above - value(arrays)) / (2 * step)
        target[index] = middle
    return result


@every(lambda record: record.operands)
def test_free_dimensions(name):
    """A program whose first dimensions are free equals eager, at several sizes."""
    record = RECORDS[name]
    sample = next((s for s in record.samples if scalable(s)), None)
    if sample is None:
        pytest.skip("no sample whose operands share their first dimension")
    dtype, rows = S.primary(record, sample), sample.shapes[0][0]
    traced = jit.trace(lambda *args: tuple(S.call(record, sample, args)), capture_as_const=True)
    traced(*S.tensors(S.arrays(record, sample, dtype)))
    try:
        program = loaded(traced, len(sample.shapes), free=jit.Dim("n", 1, 64))
    except ValueError as error:
        pytest.skip(f"fixed by an attribute: {error}")
    for size in (rows, rows + 3):
        shapes = [(size, *shape[1:]) for shape in sample.shapes]
        larger = S.Sample(shapes, sample.attrs, sample.low, sample.high, sample.dtypes)
        operands = S.tensors(S.arrays(record, larger, dtype))
        if size == rows or name not in SIZED_BY_ATTRIBUTE:
            assert same_bits(program(*operands), S.call(record, larger, operands)), shapes


def scalable(sample):
    first = {shape[0] if shape else None for shape in sample.shapes}
    return bool(sample.shapes) and len(first) == 1 and first.pop() not in (None, 0, 1)
