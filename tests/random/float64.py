"""The mode that knows what is right: the same program in float64, and what rounding may change.

The bound is the program's own. It runs again in float64 with noise of some units in the last place
of its dtype on all inputs and on what each statement gives: what such noise changes, rounding may
change, and nothing is said about it. A comparison, a sort or a conversion that noise turns over
moves its results by much, or gives other integers, and so says nothing of itself. Where a number is
still too far away, the narrow program runs with noise on its inputs: what cancels within a line,
float64 keeps for any input, and only other roundings show how little is left.
"""

import re
import zlib
from dataclasses import dataclass, replace

import numpy as np
import tessera
from tessera import jit

from tests.random import brought
from tests.random.observe import CALLS, SkippedError, skipping_refusals
from tests.random.program import REFUSALS, Input, Statement
from tests.support.helper import as_list

# Unit in the last place at 1, the least positive number, the largest number.
_FORMATS = {
    "bfloat16": (2.0**-7, 2.0**-133, 3.3e38),
    "float16": (2.0**-10, 2.0**-24, 65504.0),
    "float32": (2.0**-23, 2.0**-149, 3.4e38),
}
# Noise in units: a kernel rounds several times (a sum of n terms about sqrt(n) times), noise once.
_UNITS = 8
# Lines that take apart what nearly cancels, and by how much they enlarge what it lost, in units of
# the largest number that they read. 1 + erf(x) is 0 for small x but for the rounding of erf, and so
# is 1 - z of a gate; a mean is rounded before it is taken away, then all is divided by a deviation
# of at least sqrt(1e-5). A running logarithm is rounded for each element, and what that lost stays:
# about sqrt(n) of n. A position in an image of 1 000 pixels is rounded before its fraction weighs
# its neighbours. Eigenvectors lose the rounding of the whole matrix (LAPACK Users' Guide, 4.7). The
# loss of a probability near 1 is a logarithm of 1 - p, of which little is left.
_CANCELLING = {
    re.compile("logcumsumexp|resize|interpolate|warp|remap|roi", re.IGNORECASE): 64.0,
    re.compile("gelu|gru|eigh|BCELoss", re.IGNORECASE): 1.0,
    re.compile("(layer|group|instance|batch)_?norm", re.IGNORECASE): 1e-5**-0.5,
}
# Functions whose gradient is made of their rounded result, as 1 - out^2: where they are nearly flat
# it is small, and has the rounding of numbers of size 1 times the gradient that it passes on.
_FLATTENING = re.compile(
    "tanh|sigmoid|silu|mish|softmax|attention|softplus|erf|gelu", re.IGNORECASE
)
# Whether numbers are equal: rounding makes some so by chance, and no noise does.
_EQUALITY = re.compile(r"\b(Not)?Equal\b|\b(not_)?equal\b|[=!]=")
_WITHOUT_NOISE = re.compile(
    "complex|polar|float8|intb|quant|ts.dtype.q|tqt|lsq|integer_|simulated", re.IGNORECASE
)
# Distributions make other numbers in each dtype.
_DRAWING = re.compile(r"\bD\.(?!Bernoulli|Categorical)\w+\(.*sample\(")
# Each noise and its opposite: what one of them does not turn over, the other one does.
_NOISES = (1, -1, 2, -2)
# What is found must hold under these, too: numbers of which two cancel may have got alike noise.
_MORE_NOISES = tuple(range(3, 13))
_MOST = 1 << 24  # numbers in the results of a program that is judged
# The largest of four spreads is below the largest error of a million elements: normal, 2 against 5.
_FACTOR = 4


@dataclass(frozen=True)
class Wide(Input):
    """The numbers of an input, as float64, with a noise; 0 for none."""

    narrow: str = "float32"
    noise: int = 0

    @property
    def has_gradient(self):
        """As that of the narrow one."""
        return self.kind != "constant" and self.narrow == "float32"

    def array(self, seed, size=None):
        """The narrow numbers."""
        exact = Input.array(replace(self, dtype=self.narrow), seed, size).astype(np.float64)
        return noisy(exact, self.narrow, self.noise, self.name)


@dataclass(frozen=True)
class Noisy(Input):
    """The numbers of an input, in its own dtype, with a noise."""

    noise: int = 0

    def array(self, seed, size=None):
        """The numbers with noise, rounded again."""
        exact = Input.array(self, seed, size)
        wide = noisy(exact.astype(np.float64), self.dtype, self.noise, self.name)
        return wide.astype(exact.dtype)


def noisy(array, dtype, noise, name, size=0.0):
    """The numbers with noise, and with that of a float32 of `size`; what overflows is infinite."""
    unit, least, largest = _FORMATS[dtype]
    lost = _FORMATS["float32"][0] * size
    random = np.random.RandomState(zlib.crc32(f"{abs(noise)} {name}".encode()))
    signed = np.sign(noise) * random.choice((-1.0, -0.6, 0.6, 1.0), array.shape)
    moved = array + signed * _UNITS * (unit * np.abs(array) + lost + least)
    return np.where(np.abs(moved) > largest, np.copysign(np.inf, moved), moved)


def shake(value, dtype, noise, name, lost=0.0, read=()):
    """Puts noise on a float64 tensor, in its memory, so that views of it see the noise: also as
    large as for `lost` times the numbers of the tensors `read`."""
    if value.dtype.name != "float64":
        return
    array = value.numpy()
    factor = noisy(np.ones(value.shape), dtype, noise, name)
    moved = noisy(array, dtype, noise, name, lost * _largest(read))
    with np.errstate(invalid="ignore"):  # of what is infinite already
        rest = np.nan_to_num(moved - array * factor, posinf=np.inf, neginf=-np.inf)
    try:
        value[...] = value * tessera.Tensor(factor) + tessera.Tensor(rest)
    except REFUSALS:  # a view with one element in several places
        return


def _largest(tensors):
    """The size of the largest of them."""
    return max(
        (_size(each.numpy()) for each in tensors if each.dtype.name == "float64"), default=0.0
    )


def widened(program, dtype, noise):
    """The program in float64, with a noise on its inputs and on what its statements give."""
    inputs = tuple(
        Wide(**{**vars(each), "dtype": "float64", "narrow": each.dtype, "noise": noise})
        if each.dtype in _FORMATS
        else each
        for each in program.inputs
    )
    first = Statement("from tests.random.float64 import shake", (), ())
    return replace(
        program,
        inputs=inputs,
        statements=(first, *(_widened(each, dtype, noise) for each in program.statements)),
    )


def _widened(statement, dtype, noise):
    text = re.sub(r"(['\"])(b?float(16|32))\1", "'float64'", statement.text)
    text = brought.by_oracles(text.replace("xp.float32", "xp.float64"))
    lost = _lost(text)
    more = f", {lost!r}, [{', '.join(statement.uses)}]" if lost else ""
    shakes = [f"shake({name}, {dtype!r}, {noise}, {name!r}{more})" for name in statement.targets]
    return replace(statement, text="; ".join([text, *shakes] if noise else [text]))


def _lost(text):
    """By how much a line enlarges what cancelled in it."""
    return max((lost for line, lost in _CANCELLING.items() if line.search(text)), default=0.0)


def shaken(program, noise):
    """The program as it is, with a noise on its inputs."""
    inputs = tuple(
        Noisy(**vars(each), noise=noise) if each.dtype in _FORMATS else each
        for each in program.inputs
    )
    return replace(program, inputs=inputs)


def results(program, wrap=lambda function: function):
    """Arrays of one call and of the tensors around it afterwards, empty ones for None: the call is
    eager, or what `wrap` makes of the function.
    """
    function, captured = program.instance()
    tessera.seed(program.seed)
    values = as_list(wrap(function)(*program.arguments(CALLS[0])))
    tensors = (*values, *captured.values())
    return [np.zeros(0) if each is None else each.numpy() for each in tensors]


def narrowest(program):
    """The coarsest dtype in the program."""
    texts = " ".join([*(i.dtype for i in program.inputs), *(s.text for s in program.statements)])
    return next((name for name in _FORMATS if re.search(rf"\b{name}\b", texts)), "float32")


def float64(program):
    """The eager results beside those in float64."""
    return judged(program, results(program), "float64")


def fast(program):
    """Results of numerics="fast" that are others than those of eager, beside those in float64."""

    def wrap(function):
        return jit.trace(function, symbolic=True, capture_as_const=True, numerics="fast")

    with skipping_refusals():
        expected = results(program)
    got = results(program, wrap)
    if all(np.array_equal(*pair, equal_nan=True) for pair in zip(got, expected, strict=True)):
        return ""
    return judged(program, got, "fast")


def judged(program, got, what):
    """The first of the results `got` that rounding does not explain."""
    if not any(each.dtype in _FORMATS for each in program.inputs):
        raise SkippedError("nothing is narrower than float64")
    texts = [*(each.dtype for each in program.inputs), *(each.text for each in program.statements)]
    if any(_WITHOUT_NOISE.search(each) for each in texts):
        raise SkippedError("it has complex numbers or float8, on which no noise is put")
    if any(_DRAWING.search(each.text) for each in program.statements):
        raise SkippedError("it draws numbers, others in float64")
    if any(_EQUALITY.search(each.text) for each in program.statements):
        raise SkippedError("it asks whether rounded numbers are equal")
    if sum(each.size for each in got) > _MOST:
        raise SkippedError("many copies of so many numbers take gigabytes")
    dtype = narrowest(program)
    try:
        wide, *others = (results(widened(program, dtype, noise)) for noise in (0, *_NOISES))
    except REFUSALS as error:
        raise SkippedError(f"not in float64: {error}") from None
    sizes = _sizes(program, wide)
    if found := _first_beyond(got, wide, others, sizes, dtype):
        others += [results(widened(program, dtype, noise)) for noise in _MORE_NOISES]
        found = _first_beyond(got, wide, others, sizes, dtype)
    if found:
        own = [results(shaken(program, noise)) for noise in (*_NOISES, *_MORE_NOISES)]
        found = _first_beyond(got, wide, others, sizes, dtype, own)
    return found and f"{what}: {found}"


def _size(array):
    """The magnitude of the largest finite number."""
    return np.abs(array).max(initial=0.0, where=np.isfinite(array))


def _sizes(program, wide):
    """How large the terms of each result are: of a gradient, which is a sum within one line and
    may cancel where no noise shows it, as large as the largest gradient; behind a function that
    flattens or cancels, as large as the largest result, which tells what is multiplied with its
    own."""
    sizes = [_size(array) for array in wide]
    first = len(program.results)
    gradients = slice(first, first + len(program.differentiated))
    largest = max(sizes[gradients], default=0.0)
    if any(_FLATTENING.search(each.text) or _lost(each.text) for each in program.statements):
        largest = max(largest, 1.0, *sizes[:first])
    sizes[gradients] = [largest] * len(sizes[gradients])
    return sizes


def _first_beyond(got, wide, others, sizes, dtype, own=()):
    for index, (ours, want, size) in enumerate(zip(got, wide, sizes, strict=True)):
        moved, rounded = [each[index] for each in others], [each[index] for each in own]
        if found := beyond(ours, want, moved, size, dtype, rounded):
            return f"result {index}: {found}"
    return ""


def beyond(got, want, moved, size, dtype, rounded=()):
    """Where `got` is farther from `want` than noise moves either and numbers of `size` are rounded;
    empty for nowhere. `moved`, `rounded`: `want` and `got` with noise. What they may move above the
    largest number may be infinite, or a NaN of infinities."""
    decided = [(each, want) for each in moved] + [(each, got) for each in rounded]
    if any(each.shape != still.shape for each, still in decided):
        return ""  # a size that noise decides
    if got.shape != want.shape:
        return f"shape {list(got.shape)} instead of {list(want.shape)}"
    if want.dtype.kind != "f":
        wrong = (got != want) & np.all([each == want for each in moved], axis=0)
        return _told(wrong, got, want, np.zeros(want.shape))
    numbers = got.astype(np.float64)
    unit, least, largest = _FORMATS[dtype]
    with np.errstate(invalid="ignore", over="ignore"):
        spread = np.max([np.abs(each - want) for each in moved], axis=0)
        spread += np.max([_distance(each, numbers) for each in rounded], axis=0, initial=0.0)
        limit = _FACTOR * spread + _UNITS * (unit * size + least)
        overflows = ~np.isfinite(numbers) & (np.abs(want) + limit > largest)
        wrong = ~(np.abs(numbers - want) <= limit) & np.isfinite(limit) & ~overflows
    return _told(wrong, numbers, want, limit)


def _distance(narrow, numbers):
    """How far each narrow number is; an infinity or NaN that stays has not moved."""
    wide = narrow.astype(np.float64)
    stays = (wide == numbers) | (np.isnan(wide) & np.isnan(numbers))
    return np.where(stays, 0.0, np.abs(wide - numbers))


def _told(wrong, got, want, limit):
    places = np.argwhere(wrong)
    if not len(places):
        return ""
    first = tuple(places[0])
    return (
        f"{len(places)} of {want.size} elements, element {[int(n) for n in first]} is "
        f"{got[first]!r} instead of {want[first]!r} within {limit[first]!r}"
    )
