"""`tessera.array_api` beside array-api-strict: names, signatures, and thousands of calls."""

import collections
import doctest
import importlib
import inspect
import itertools
import subprocess
import sys
import warnings

import array_api_strict as strict
import mpmath
import numpy as np
import pytest
import tessera
from tessera import array_api as xp
from tessera import jit

from tests.frontends.python.array_api import axes, calls, compare, fft, linear
from tests.frontends.python.array_api.compare import difference, function, ours
from tests.frontends.python.array_api.exceptions import EXEMPTIONS, SIGNATURES
from tests.support.helper import bits, default_device

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    strict.set_array_api_strict_flags(api_version="2024.12")

FAMILIES = [
    calls.unary,
    calls.binary,
    calls.mixed,
    calls.clips,
    calls.creations,
    calls.of_arrays,
    axes.reductions,
    axes.orders,
    axes.searches,
    linear.products,
    linear.of_matrices,
    fft.transforms,
]
CALLS = collections.defaultdict(list)
for _family in FAMILIES:
    for _call in _family():
        CALLS[_call.name].append(_call)
compare.ELEMENTWISE |= {*calls.UNARY, *calls.BINARY, "clip"}

# What is no function of the standard, or of a later version of it.
FOREIGN = {"ArrayAPIStrictFlags", "Device", "__version__", "broadcast_shapes", "isin",
           "get_array_api_strict_flags", "reset_array_api_strict_flags",
           "set_array_api_strict_flags"}  # fmt: skip
NAMES = set(strict.__all__) - FOREIGN - {"fft", "linalg"}
NAMES |= {f"linalg.{name}" for name in strict.linalg.__all__}
NAMES |= {f"fft.{name}" for name in strict.fft.__all__}
# Compared in test_array_api_object.py, or without operands to compare.
ELSEWHERE = {"__array_api_version__", "__array_namespace_info__", "asarray", "can_cast", "empty",
             "empty_like", "finfo", "from_dlpack", "iinfo", "isdtype", "result_type"}  # fmt: skip


def is_function(name):
    return inspect.isfunction(function(strict, name))


def test_every_name_is_there():
    assert {name for name in NAMES if not hasattr_deep(xp, name)} == set()
    assert xp.__array_api_version__ == "2024.12"
    alike = {f"linalg.{name}" for name in ("matmul", "matrix_transpose", "tensordot", "vecdot")}
    called = {name for name in NAMES if is_function(name)} - ELSEWHERE - alike
    assert called == set(CALLS) and sum(map(len, CALLS.values())) > 9000


def hasattr_deep(namespace, name):
    try:
        function(namespace, name)
    except AttributeError:
        return False
    return True


def parameters(value):
    rows = inspect.signature(value).parameters.values()
    return [(each.name, each.kind.name, each.default) for each in rows]


@pytest.mark.parametrize("name", sorted(filter(is_function, NAMES)))
def test_signatures(name):
    got, want = parameters(function(xp, name)), parameters(function(strict, name))
    assert got == SIGNATURES.get(name, want)


RUN = set()  # functions whose calls were compared


@pytest.mark.parametrize("name", sorted(CALLS))
def test_calls(name):
    found = []
    for call in CALLS[name]:
        if text := difference(call):
            dtypes = [getattr(each, "dtype", each) for each in call.args]
            found.append(f"{dtypes} {call.kwargs}: {text}")
    RUN.add(name)
    assert not found, f"{len(found)} of {len(CALLS[name])} differ:\n" + "\n".join(found[:8])


def sampled(name, count=3):
    """Calls of different dtypes, whose result has elements."""
    chosen = {}
    for call in CALLS[name]:
        key = tuple(each.dtype.kind for each in call.args if isinstance(each, np.ndarray))
        if all(each.size for each in call.args if isinstance(each, np.ndarray)):
            chosen.setdefault(key, call)
    return list(chosen.values())[:count]


def traced(call):
    def wrap(f):
        once = jit.trace(f)
        return lambda *args, **kwargs: [once(*args, **kwargs) for _ in range(2)][1]

    return wrap


def reads_a_value(call):
    """Whether the size of the result is a sum of elements, which a trace does not read."""
    return call.name == "repeat" and isinstance(call.args[1], np.ndarray)


def test_a_trace_repeats_by_no_tensor():
    once = jit.trace(lambda x, repeats: xp.repeat(x, repeats), symbolic=True)
    with pytest.raises(ValueError, match="trace: a traced function must not look at the value"):
        once(xp.asarray([1, 2]), xp.asarray([1, 3]))


@pytest.mark.parametrize("name", sorted(CALLS))
def test_traced_calls_give_the_same_bits(name):
    for call in itertools.filterfalse(reads_a_value, sampled(name)):
        assert bits(ours(call, traced(call))) == bits(ours(call)), call


@pytest.mark.parametrize("name", sorted(CALLS))
def test_calls_on_an_accelerator_give_the_same_bits(name):
    for call in sampled(name):
        eager = bits(ours(call))
        with default_device("sim0"):
            assert bits(ours(call)) == eager, call


def test_each_exception_is_one():
    if {*CALLS} != RUN:
        pytest.skip("needs the calls of all functions")
    assert {each.why for each in EXEMPTIONS} == compare.USED


INF, NAN = np.inf, np.nan
# Where NumPy is no oracle: the standard's own tables, of numbers with imaginary parts >= 0.
TABLES = {
    "expm1": {
        (0.0, 0.0): (0, 0), (1.0, INF): (NAN, NAN), (1.0, NAN): (NAN, NAN), (INF, 0.0): (INF, 0),
        (-INF, 2.0): (-1, 0), (INF, 2.0): (-INF, INF), (-INF, INF): (-1, 0),
        (INF, INF): (INF, NAN), (-INF, NAN): (-1, 0), (INF, NAN): (INF, NAN), (NAN, 0.0): (NAN, 0),
        (NAN, 1.0): (NAN, NAN), (NAN, NAN): (NAN, NAN),
    },
    "reciprocal": {
        (INF, 0.0): (0, 0), (-INF, INF): (0, 0), (INF, NAN): (0, 0), (NAN, INF): (0, 0),
        (1.0, INF): (0, 0), (NAN, 1.0): (NAN, NAN),
    },
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", TABLES)
def test_tables_of_the_standard(name, dtype):
    for (a, b), (c, d) in TABLES[name].items():
        got = function(xp, name)(xp.asarray(complex(a, b), dtype=getattr(xp, dtype))).item()
        np.testing.assert_array_equal([got.real, got.imag], [c, d], err_msg=f"{a} + {b} i")


def test_log1p_is_exact_near_0():
    z = np.array([1e-4j, 1e-5 + 1e-3j, -1e-9 + 1e-6j, 0.1 - 0.2j])
    got = xp.log1p(xp.asarray(z)).numpy()
    with mpmath.workdps(40):
        want = [complex(mpmath.log1p(mpmath.mpc(each))) for each in z]
    np.testing.assert_allclose(got, want, rtol=1e-15)
    np.testing.assert_allclose(got.real, np.real(want), rtol=1e-8)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_next_number_of_any_size(dtype):
    """Below the normal numbers too, where a half of the least one is 0."""
    facts, random = np.finfo(dtype), np.random.RandomState(0)
    edges = [0.0, -0.0, facts.smallest_subnormal, facts.smallest_normal, facts.max / 2]
    powers = np.linspace(np.log2(facts.smallest_normal), facts.maxexp - 2, 300)
    sizes = [*edges, *random.uniform(0.5, 1, 300) * 2**powers]
    x = np.array([*sizes, *np.negative(sizes)], dtype)
    for way in (1, -1, np.inf, -np.inf):
        towards = np.full_like(x, way)
        got = xp.nextafter(*(tessera.Tensor(each, dtype=dtype) for each in (x, towards)))
        np.testing.assert_array_equal(got.numpy(), np.nextafter(x, towards))


def test_nothing_is_imported_before_it_is_used():
    code = "import sys, tessera; assert 'tessera.array_api' not in sys.modules\n"
    code += "tessera.tensor(1.0).__array_namespace__(); assert 'tessera.array_api' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


@pytest.mark.parametrize("part", ["", "._creation", "._dtypes", "._info"])
def test_examples(part):
    module = importlib.import_module("tessera.array_api" + part)
    failed, count = doctest.testmod(module)
    assert count and not failed


def test_gradients_come_through():
    x = tessera.tensor([0.5, 1.5])
    with tessera.autodiff.GradManager().attach([x]) as manager:
        y = xp.sum(xp.log2(xp.exp(x)) * xp.hypot(x, 2.0))
        manager.backward(y)
    z = x.numpy().astype("float64")
    expected = (np.hypot(z, 2) + z * z / np.hypot(z, 2)) / np.log(2)
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-5)
