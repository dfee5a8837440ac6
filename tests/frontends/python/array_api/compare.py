"""One call of the array API by Tessera and by array-api-strict, and what differs."""

import array_api_strict as strict
import numpy as np
import tessera
from tessera import array_api as xp

from tests.frontends.python.array_api.exceptions import EXEMPTIONS

# Units in the last place that a result may be away from NumPy's, which is rounded itself.
ULPS = {"float32": 12, "float64": 24}
# Of sums and of what is made of many numbers.
LOOSE = {"fft", "linalg", "matmul", "tensordot", "vecdot", "sum", "prod", "mean", "var", "std",
         "pow", "cumulative_sum", "cumulative_prod", "diff", "linspace"}  # fmt: skip


def function(namespace, name):
    for part in name.split("."):
        namespace = getattr(namespace, part)
    return namespace


def converted(value, array, dtype):
    """A value of a call with arrays and dtypes of a library."""
    if isinstance(value, np.ndarray):
        return array(value)
    if isinstance(value, np.dtype):
        return dtype(value)
    if isinstance(value, list):
        return [converted(each, array, dtype) for each in value]
    return value


def ours(call, wrap=lambda f: f):
    args = [converted(each, lambda a: xp.asarray(a, copy=True), lambda d: d) for each in call.args]
    kwargs = {k: converted(v, xp.asarray, lambda d: d) for k, v in call.kwargs.items()}
    return leaves(wrap(function(xp, call.name))(*args, **kwargs))


def theirs(call):
    def dtype(d):
        return getattr(strict, d.name)

    args = [converted(each, strict.asarray, dtype) for each in call.args]
    kwargs = {k: converted(v, strict.asarray, dtype) for k, v in call.kwargs.items()}
    with np.errstate(all="ignore"):
        return [as_numpy(each) for each in leaves(function(strict, call.name)(*args, **kwargs))]


def leaves(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def as_numpy(array):
    return np.asarray(array._array)


# Functions whose results have default dtypes where neither operands nor arguments decide.
DEFAULTED = {"arange", "cumulative_prod", "cumulative_sum", "eye", "fft.fftfreq", "fft.rfftfreq",
             "full", "linalg.trace", "linspace", "ones", "prod", "sum", "zeros"}  # fmt: skip
NARROW = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}


def default_dtype(dtype, call):
    """Tessera's default dtype in the place of array-api-strict's, which is of 64 bits."""
    given = any(isinstance(each, np.ndarray) and each.dtype == dtype for each in call.args)
    isdefault = call.name in DEFAULTED and "dtype" not in call.kwargs and not given
    return np.dtype(NARROW.get(dtype.name, dtype.name)) if isdefault else dtype


INDICES = {"argmax", "argmin", "argsort", "searchsorted", "nonzero", "count_nonzero",
           "linalg.matrix_rank"}  # fmt: skip


def expected_dtype(call, number, dtype):
    if call.name in INDICES or (call.name.startswith("unique_") and number > 0):
        return np.dtype("int32")
    return default_dtype(dtype, call)


def to_numpy(value):
    return value.numpy() if isinstance(value, tessera.Tensor) else np.asarray(value)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def of_columns(q):
    """The products of all columns, which say whether they are orthonormal."""
    return adjoint(q) @ q


def of_eigh(results):
    w, v = results
    return [w, (v * w[..., None, :]) @ adjoint(v), of_columns(v)]


def of_qr(results):
    q, r = results
    return [q @ r, of_columns(q), np.tril(r, -1)]


def of_svd(results):
    u, s, vh = results
    n = s.shape[-1]
    product = (u[..., :n] * s[..., None, :]) @ vh[..., :n, :]
    return [s, product, of_columns(u), of_columns(adjoint(vh))]


# What of factors does not depend on signs that nobody says.
FACTORS = {"linalg.eigh": of_eigh, "linalg.qr": of_qr, "linalg.svd": of_svd}


def difference(call, wrap=lambda f: f):
    """None, or what differs in a text."""
    want = theirs(call)
    try:
        got = ours(call, wrap)
    except Exception as error:  # noqa: BLE001  # told as a difference
        return f"{type(error).__name__}: {error}"
    if len(got) != len(want):
        return f"{len(got)} results, not {len(want)}"
    factors = FACTORS.get(call.name, lambda results: results)
    want, got = factors(want), factors([to_numpy(each) for each in got])
    for number, (array, other) in enumerate(zip(got, want, strict=True)):
        dtype = expected_dtype(call, number, other.dtype)
        if array.dtype != dtype or array.shape != other.shape:
            return f"{array.dtype}{array.shape}, not {dtype}{other.shape}"
        text = values_differ(call, array, other)
        if text:
            return text
    return None


USED = set()  # reasons for which something differed


def exempted(call, bad):
    """The elements that differ and may not."""
    for each in EXEMPTIONS:
        if call.name in each.names and np.any(bad):
            with np.errstate(all="ignore"):
                allowed = bad & each.elements(*call.args)
            if np.any(allowed):
                USED.add(each.why)
                bad = bad & ~allowed
    return bad


def values_differ(call, got, want):
    if got.dtype.kind not in "fc":
        bad = got != want.astype(got.dtype)
    else:
        bad = exempted(call, ~np.asarray(are_close(call, got, want)))
    if not np.any(bad):
        return None
    where = tuple(index[0] for index in np.nonzero(bad)) if got.ndim else ()
    inputs = [
        np.broadcast_to(a, got.shape)[where]
        for a in call.args
        if isinstance(a, np.ndarray) and np.broadcast_shapes(a.shape, got.shape) == got.shape
    ] if call.name in ELEMENTWISE else []  # fmt: skip
    return (
        f"{np.count_nonzero(bad)} differ, at {where} of {inputs}: {got[where]}, not {want[where]}"
    )


ELEMENTWISE = set()  # the test fills it


def are_close(call, got, want):
    if got.dtype.kind == "c":
        return are_close_complex(call, got, want)
    limit = limit_of(call, got.dtype)
    got64, want64 = got.astype("float64"), want.astype("float64")
    with np.errstate(all="ignore"):
        near = np.abs(got64 - want64) <= limit * np.maximum(np.abs(want64), np.abs(got64)) + tiny(
            got
        )
        near |= (got64 == want64) | (np.isnan(got64) & np.isnan(want64))
        if call.name in ELEMENTWISE:
            near &= (got64 != 0) | (want64 != 0) | (np.signbit(got64) == np.signbit(want64))
    if call.name.partition(".")[0] in LOOSE:
        near |= np.abs(got64 - want64) <= limit * np.max(
            np.abs(want64), initial=0, where=np.isfinite(want64)
        )
    return near


def tiny(array):
    return 2 * np.finfo(array.dtype).smallest_subnormal


def limit_of(call, dtype):
    part = np.zeros(0, dtype).real.dtype
    loose = 40 if call.name.partition(".")[0] in LOOSE else 1
    return ULPS[part.name] * np.finfo(part).eps * loose / 2


def are_close_complex(call, got, want):
    """Both parts where something is not finite, else the distance in the plane."""
    limit = limit_of(call, got.dtype)
    with np.errstate(all="ignore"):
        near = np.abs(got - want) <= limit * np.maximum(np.abs(want), np.abs(got)) + tiny(got.real)
        if call.name.partition(".")[0] in LOOSE:
            size = np.abs(want)
            near |= np.abs(got - want) <= limit * np.max(size, initial=0, where=np.isfinite(size))
    near &= np.isfinite(got) & np.isfinite(want)
    return near | (
        is_same_part(got.real, want.real, limit) & is_same_part(got.imag, want.imag, limit)
    )


def is_same_part(got, want, limit):
    with np.errstate(all="ignore"):
        near = np.abs(got - want) <= limit * np.maximum(np.abs(want), np.abs(got))
    return near | (got == want) | (np.isnan(got) & np.isnan(want))
