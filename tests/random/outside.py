"""The mode of other libraries: each line that one of them runs too, on what Tessera has so far.

array-api-strict, NumPy and SciPy get the same numbers in float64, once more with noise on them and
in their own dtype where a number is too far away: what these move, rounding may move.
"""

import re
from types import SimpleNamespace

import array_api_strict
import numpy as np
import tessera

from tests.random.keys import NUMPY
from tests.random.laws import LAWS
from tests.random.observe import CALLS, SkippedError
from tests.random.program import HEADER, REFUSALS

_NOISES = (1, -1, 2, -2, 3, 4, 5, 6)
_UNITS = 8.0
_FACTOR = 4.0
_TERMS = 16.0  # an entropy is made of so many, each as large as its logarithm of gamma
_WIDE = {name: "float64" for name in ("bfloat16", "float16", "float32")} | {
    "complex64": "complex128"
}
# Lines whose results have the rounding of the largest numbers that they are made of.
_MIXING = re.compile(r"linalg|fft|matmul|dot|cumulative|sum|prod|mean|var|std|diff")
# Those whose rounding grows with all that they add, which may cancel: equal elements round alike.
_SUMS = re.compile(r"\bxp\.(cumulative_)?sum\(")
# Singular values alone: LAPACK's ?LASQ2 takes for 0 what couples two of them by less than 100
# roundings of the largest.
_VALUES = re.compile(r"svdvals|matrix_norm\(.*ord=(2|'nuc')")
_DEFLATED = 50.0  # eps
_EPS = {"bfloat16": 2.0**-7, "float16": 2.0**-10, "float32": 2.0**-23, "float64": 2.0**-52}
# What numbers below the normal ones are multiples of.
_LEAST = {"bfloat16": 2.0**-133, "float16": 2.0**-24, "float32": 2.0**-149, "float64": 2.0**-1074}


def outside(program):
    """The first line whose result is not that of the other library."""
    told = list(lines_of(program))
    if all(found is None for _, found in told):
        raise SkippedError("no other library runs any line of it")
    return next((f"outside: {each.text}: {found}" for each, found in told if found), "")


def lines_of(program):
    """(statement, what differs) for each line of another library; None: that one refuses it."""
    names = {each.name: each.tensor(CALLS[0]) for each in program.inputs}
    exec(HEADER, names)
    tessera.seed(program.seed)
    for each in program.statements:
        # An index of a record's call may be beyond the end where other data was not, which is said
        # by the call or when its result is read.
        try:
            before = _read(names, each.uses) if each.outside else {}
        except IndexError:
            return
        try:
            exec(each.text, names)
        except REFUSALS:
            if not each.outside or (each.outside == "numpy" and _does_not_fit(each, before)):
                return
            raise
        if not each.outside:
            continue
        if any(tessera.dtype.is_quantize(names[name].dtype) for name in each.uses):
            yield each, None  # arrays of other libraries have what is stored only
            continue
        got = [names[name].numpy() for name in each.targets]
        try:
            yield each, LIBRARIES[each.outside](each, before, got)
        except (*REFUSALS, ArithmeticError):  # the standard leaves such a call open
            yield each, None


def _read(names, wanted):
    return {name: names[name].numpy().copy() for name in wanted}


def _run(statement, names):
    """What the line defines or changes, by a library whose names these are."""
    with np.errstate(all="ignore"):
        exec(statement.text, names)
    made = [names[name] for name in statement.targets]
    return [np.asarray(getattr(each, "_array", each)) for each in made]


def _keys(statement, before, got):
    """NumPy's bits: nothing but copies, halves and sums of two."""
    return _exactly(_run(statement, {**before, "np": np, "ts": NUMPY}), got)


def _does_not_fit(statement, before):
    """Whether NumPy refuses the key, too: as many elements of a mask are true as the data says."""
    try:
        _keys(statement, before, ())
    except IndexError:
        return True
    except ValueError:  # it has a result where Tessera has none
        return False
    raise AssertionError(f"{statement.text} must have a result")


def _exactly(want, got):
    """Where `got` has other numbers than `want`."""
    for ours, theirs in zip(got, want, strict=True):
        if ours.shape != theirs.shape:
            return f"shape {list(ours.shape)} instead of {list(theirs.shape)}"
        same = (ours == theirs.astype(ours.dtype)) | ((ours != ours) & (theirs != theirs))
        if not np.all(same):
            return f"{np.count_nonzero(~same)} elements"
    return ""


def _strict(statement, before, got):
    text = re.sub(r"\bxp\.(float32|complex64)\b", lambda m: f"xp.{_WIDE[m[1]]}", statement.text)
    line = SimpleNamespace(text=text, targets=statement.targets)

    def run(arrays, disturb=None):
        tensors = {name: array_api_strict.asarray(array) for name, array in arrays.items()}
        return _run(line, {**tensors, "xp": _Disturbed(array_api_strict, disturb)})

    if "nextafter" in text:  # of a wider dtype it is another number
        return _exactly(run(before), got)
    size = float(bool(_MIXING.search(text)))
    if _SUMS.search(text):
        size = max([size, *map(_lost_in_sum, before.values())])
    return compared(run, before, got, size, _DEFLATED / _UNITS if _VALUES.search(text) else 1.0)


def _scipy(statement, before, got):
    size = _TERMS * max([1.0, *map(_largest, before.values())])  # of what cancels in the line

    def run(arrays, _=None):
        return _run(statement, {**arrays, "D": LAWS, "np": np})

    return compared(run, before, got, size)


LIBRARIES = {"numpy": _keys, "array-api-strict": _strict, "scipy": _scipy}


def compared(run, before, got, rounding=0.0, scale=1.0):
    """Where `got` is not what `run` gives for the arrays `before`, and noise does not excuse it.
    `scale`: of the rounding, as that of the algorithm is known to be larger.
    """
    wide = {
        name: array.astype(_WIDE.get(array.dtype.name, array.dtype))
        for name, array in before.items()
    }
    eps = max([_EPS.get(_part(array), 0.0) for array in (*before.values(), *got)])
    want = run(wide)
    terms = scale
    if eps == _EPS["float64"]:  # the other library sums in no wider dtype
        terms *= max([1, *(array.size for array in before.values())]) ** 0.5
    lost = [max(rounding, _largest(each)) * terms * eps if rounding else 0.0 for each in want]
    pairs = list(zip(got, want, lost, strict=True))
    if not any(_beyond(*pair, [], eps).any() for pair in pairs):
        return ""
    moved = _moved(run, before, wide, eps)
    for index, (ours, theirs, rounding) in enumerate(pairs):
        others = [each[index] for each in moved]
        if any(each.shape != theirs.shape for each in others):
            continue  # a size that noise decides
        if ours.shape != theirs.shape:
            return f"shape {list(ours.shape)} instead of {list(theirs.shape)}"
        wrong = _beyond(ours, theirs, rounding, others, eps)
        if wrong.any():
            first = tuple(np.argwhere(wrong)[0])
            place = [int(n) for n in first]
            return (f"{np.count_nonzero(wrong)} of {wrong.size} elements, element {place} is "
                    f"{ours[first]!r} instead of {theirs[first]!r}")  # fmt: skip
    return ""


def _moved(run, before, wide, eps):
    """Results for noisy numbers, and for those of the own dtype: what rounding moves."""
    results = []
    for noise in _NOISES:
        noisy = {name: _noisy(array, eps, noise, name) for name, array in wide.items()}
        results.append(run(noisy, lambda array, noise=noise: _of_a_matrix(array, eps, noise)))
    if not any(array.dtype.name in ("bfloat16", "float16") for array in before.values()):
        results.append(run(before))
    return results


def _part(array):
    """The dtype of a number's parts."""
    return {"complex64": "float32", "complex128": "float64"}.get(array.dtype.name, array.dtype.name)


def _noisy(array, eps, noise, name):
    """The numbers with some units in the last place more or less, in both parts."""
    if array.dtype.kind not in "fc":
        return array
    random = np.random.RandomState(abs(noise) * 1000 + len(name))
    factor = 1 + np.sign(noise) * _UNITS * eps * random.choice((-1.0, -0.6, 0.6, 1.0), array.shape)
    return array * factor


def _of_a_matrix(array, eps, noise):
    """A matrix with units in the last place of its largest element: what its factors stand for.

    N. J. Higham: Accuracy and Stability of Numerical Algorithms, theorem 9.3.
    """
    if array.ndim < 2 or array.dtype.kind not in "fc":
        return array
    random = np.random.RandomState(abs(noise))
    return array + eps * _largest(array) * random.choice((-1.0, 1.0), array.shape)


class _Disturbed:
    """A library whose linear algebra gets its matrices through `disturb`, if there is one.

    NumPy computes it in float64, so that it would show none of its rounding.
    """

    def __init__(self, library, disturb, changes=False):
        self._library, self._disturb, self._changes = library, disturb, changes

    def __getattr__(self, name):
        found = getattr(self._library, name)
        if name == "linalg":
            return _Disturbed(found, self._disturb, True)
        if not (self._changes and self._disturb and callable(found)):
            return found
        return lambda *args, **options: found(*map(self._changed, args), **options)

    def _changed(self, value):
        if not isinstance(value, type(array_api_strict.zeros(()))):
            return value
        return array_api_strict.asarray(self._disturb(np.asarray(value._array)))


def _largest(array):
    """The size of the largest finite number, times the root of what a matrix sums."""
    if array.dtype.kind not in "fc":
        return 0.0
    size = np.abs(array).max(initial=0.0, where=np.isfinite(array))
    return size * max(array.shape[-2:], default=1) ** 0.5


def _lost_in_sum(array):
    """What the rounding of its sum is a unit of, where 16 lanes add a part of it each.

    N. J. Higham: Accuracy and Stability of Numerical Algorithms, (4.4), for each lane.
    """
    if array.dtype.kind not in "fc":
        return 0.0
    total = np.abs(array).sum(dtype="float64", initial=0.0, where=np.isfinite(array))
    return total * max(1.0, array.size / 16 / 2 / _UNITS)


def _beyond(got, want, rounding, moved, eps):
    """The elements that are farther away than noise moves them and a result is rounded."""
    if got.shape != want.shape:
        return np.ones(1, bool)
    if got.dtype.kind in "biu":
        wrong = got != want.astype(got.dtype)
        return np.asarray(wrong & np.all([each == want for each in moved], axis=0))
    with np.errstate(all="ignore"):
        near = want.astype(got.dtype).astype(want.dtype)  # which may overflow
        least, got = _LEAST.get(_part(got), 0.0), got.astype(want.dtype)
        spread = np.max([np.abs(each - want) for each in moved], axis=0, initial=0.0)
        limit = _FACTOR * spread + _UNITS * (eps * np.abs(near) + rounding + least)
        same = (got == near) | (np.isnan(got) & np.isnan(near))
        if got.dtype.kind == "c":  # libraries divide by 0 or infinity in ways of their own
            same |= ~np.isfinite(got) & ~np.isfinite(near)
        wrong = ~same & ~(np.abs(got - near) <= limit) & ~np.isnan(spread)
    return np.asarray(wrong)
