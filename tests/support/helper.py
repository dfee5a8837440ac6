"""One way to check a function: shape, dtype and values, eager, traced, dumped and loaded, in every
size.
"""

import contextlib
import os
import subprocess
import sys
import tempfile

import numpy as np
import tessera
from tessera import jit

TOLERANCE = {
    "float16": 2e-3,
    "bfloat16": 2e-2,
    "float32": 2e-6,
    "float64": 1e-12,
}


@contextlib.contextmanager
def default_device(device):
    """New tensors are on `device`."""
    before = tessera.get_default_device()
    tessera.set_default_device(device)
    try:
        yield
    finally:
        tessera.set_default_device(before)


@contextlib.contextmanager
def num_threads(count):
    """Programs run on `count` threads."""
    before = tessera.config.get_num_threads()
    tessera.config.set_num_threads(count)
    try:
        yield
    finally:
        tessera.config.set_num_threads(before)


def as_list(value):
    """The tensors of a result."""
    return list(value) if isinstance(value, (tuple, list)) else [value]


def flat(value):
    """The tensors of a result of tuples and lists, None left out."""
    if isinstance(value, (tuple, list)):
        return [leaf for each in value for leaf in flat(each)]
    return [] if value is None else [value]


def bits(value):
    """Shape, dtype and bytes of each tensor or array; every NaN is the same."""
    rows = []
    for each in as_list(value):
        array = each.numpy() if isinstance(each, tessera.Tensor) else np.asarray(each)
        if array.dtype.kind in "fc" or array.dtype.name.startswith(("bfloat", "float8")):
            array = np.where(np.isnan(array), np.asarray(np.nan, array.dtype), array)
        rows.append((array.shape, array.dtype.name, array.tobytes()))
    return rows


def same_bits(a, b):
    """Both have the same shapes, dtypes and bits."""
    return bits(a) == bits(b)


def programs(traced):
    """How many programs the signatures of a trace have."""
    variants = [each for kept in traced._variants.values() for each in kept]
    return len({id(each.program) for each in variants if each.program is not None})


def gradient_programs(traced):
    """How many programs the gradients of a trace have."""
    variants = [each for kept in traced._variants.values() for each in kept]
    gradients = [each.gradient for each in variants if each.gradient is not None]
    halves = [half for each in gradients for half in each._halves.values()]
    return len({id(half.program) for half in halves if half.program is not None})


def assert_close(got, expected, rtol=None, atol=None):
    """Values of a tensor against an oracle's; limits by the tensor's dtype."""
    array = got.numpy() if isinstance(got, tessera.Tensor) else np.asarray(got)
    limit = TOLERANCE.get(array.dtype.name, 0)
    expected = np.asarray(expected)
    assert array.shape == expected.shape
    wide = np.float64 if limit else expected.dtype
    np.testing.assert_allclose(
        array.astype(wide),
        expected.astype(wide),
        rtol=limit * 10 if rtol is None else rtol,
        atol=limit if atol is None else atol,
    )


def assert_same_everywhere(function, *arrays, dynamic=True):
    """Eager, traced and loaded give the same bits, also where the first axis of every input is
    free.
    """
    tensors = [tessera.Tensor(a, dtype=a.dtype.name) for a in arrays]
    eager = as_list(function(*tensors))
    traced = jit.trace(lambda *args: tuple(as_list(function(*args))), capture_as_const=True)
    assert same_bits(traced(*tensors), eager), "recorded call"
    assert same_bits(traced(*tensors), eager), "compiled call"
    assert same_bits(loaded(traced, len(arrays))(*tensors), eager), "loaded program"
    if dynamic and arrays and all(a.ndim for a in arrays):
        check_free_axis(function, traced, arrays)
    return eager


def check_free_axis(function, traced, arrays):
    """The program dumped with a free first axis equals eager at other sizes."""
    sizes = {a.shape[0] for a in arrays}
    if len(sizes) != 1 or sizes & {0, 1}:
        return
    program = loaded(traced, len(arrays), free=jit.Dim("n", 0, 64))
    for size in (1, sizes.pop() + 3):
        tensors = [
            tessera.Tensor(np.resize(a, (size, *a.shape[1:])), dtype=a.dtype.name) for a in arrays
        ]
        assert same_bits(program(*tensors), function(*tensors)), f"{size} rows of a free axis"


def loaded(traced, count, free=None):
    """The function after dump and load."""
    names = [f"x{i}" for i in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "f.tess")
        dims = {name: {0: free} for name in names} if free else None
        traced.dump(path, arg_names=names, dims=dims, targets=[])
        return jit.load(path)


def check(function, *arrays, oracle, rtol=None, atol=None, dtype=None, dynamic=True):
    """`function` against `oracle` (of the same arrays in float64), and in every mode."""
    wide = [a.astype(np.float64) if a.dtype.kind == "f" else a for a in arrays]
    expected = as_list(oracle(*wide))
    eager = assert_same_everywhere(function, *arrays, dynamic=dynamic)
    assert len(eager) == len(expected)
    for got, value in zip(eager, expected, strict=True):
        assert dtype is None or got.dtype == dtype
        assert_close(got, value, rtol, atol)
    return eager


def floats(*shape, seed=0, low=-2.0, high=2.0, dtype=np.float32):
    """Random numbers of [low, high)."""
    return np.random.RandomState(seed).uniform(low, high, shape).astype(dtype)


def numeric_gradient(function, arrays, number, step=1e-6):
    """Gradient of the number `function(*arrays)` in arrays[number], by central differences in
    float64.
    """
    arrays = [a.astype(np.float64) if a.dtype.kind == "f" else a.copy() for a in arrays]
    target, result = arrays[number], np.zeros(arrays[number].shape)
    for index in np.ndindex(target.shape):
        middle, values = target[index], []
        for sign in (1, -1):
            target[index] = middle + sign * step
            values.append(function(*arrays))
        target[index] = middle
        result[index] = (values[0] - values[1]) / (2 * step)
    return result


def difference(function):
    """By how much `function` changes each counter of cache_stats()."""
    before = tessera.cache_stats()
    function()
    tessera.sync()
    after = tessera.cache_stats()
    return {name: after[name] - before[name] for name in after}


def run_without(package, code):
    """What a process wrote that ran `code` and could not import `package`."""
    code = f"import sys; sys.modules[{package!r}] = None\n{code}"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done
