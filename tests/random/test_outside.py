"""What other libraries run, too: every form of a line, keys of all sorts, and what is found."""

import itertools

import numpy as np
import pytest
import tessera
from tessera import array_api

from tests import quick
from tests.random import forms, keys, laws, standard
from tests.random.draw import Drawer, limited_memory
from tests.random.outside import lines_of, outside
from tests.random.program import Input, Program, Statement

FORMS = {"array-api-strict": sum(standard.FAMILIES, []), "scipy": laws.COMPARED}
TRIES = 30  # of a form, until it ran: some are refused for a shape or a dtype
KEYS = 300 if quick.IS_ON else 3000


def compared(form, library, seed):
    """What differs in a drawn form; None where one of the libraries refuses it."""
    drawer = Drawer(seed)
    with limited_memory():
        drawer.add(forms.filled(drawer, form), 1, outside=library)
    program = Program(seed, tuple(drawer.inputs), tuple(drawer.statements), ())
    return next((found for _, found in lines_of(program)), None)


@pytest.mark.parametrize("part", quick.few(range(4)))
@pytest.mark.parametrize("library", FORMS)
def test_every_form_runs_in_both_libraries(library, part):
    for form in FORMS[library][part::4]:
        told = (compared(form, library, seed) for seed in range(TRIES))
        runs = list(itertools.islice((found for found in told if found is not None), 2))
        assert runs, form
        assert not any(runs), (form, runs)


def test_every_function_of_the_standard_is_drawn():
    lines = " ".join(FORMS["array-api-strict"])
    names = {*array_api.__all__} - {"fft", "linalg", *standard.LEFT_OUT}
    names |= {f"{part}.{name}" for part in ("fft", "linalg")
              for name in getattr(array_api, part).__all__}  # fmt: skip
    missing = {name for name in names if f"xp.{name}" not in lines}
    assert {name for name in missing if not isinstance(getattr(array_api, name), np.dtype)} == set()


def program_of(text, outside, dtype="float32"):
    line = Statement(f"v0 = {text}", ("v0",), ("a0",), outside=outside)
    return Program(0, (Input("a0", "argument", (300,), dtype),), (line,), ("v0",))


@pytest.mark.parametrize("size", [2049, 20001])
def test_a_sum_has_the_rounding_of_what_it_adds(size):
    """Every second element rounds alike, which noise that differs from one to the next does not."""
    lines = (
        Statement("a1 = xp.abs(a0 * 0.5)", ("a1",), ("a0",)),
        Statement("a1[::2] = -1.1", ("a1",), ("a1",)),
        Statement("v0 = xp.tanh(a1 * 0.5)", ("v0",), ("a1",)),
        Statement("v1 = xp.sum(v0)", ("v1",), ("v0",), outside="array-api-strict"),
    )
    numbers = Input("a0", "argument", (size,), "complex64")
    assert not outside(Program(0, (numbers,), lines, ("v1",)))


def test_singular_values_that_nearly_agree_have_the_rounding_of_lapack():
    product = "xp.matmul(a0, xp.matrix_transpose(a0))"
    text = f"xp.linalg.svdvals({product} * 0.0004 + xp.eye(3, dtype=a0.dtype))"
    line = Statement(f"v0 = {text}", ("v0",), ("a0",), outside="array-api-strict")
    matrices = Input("a0", "argument", (16, 16, 3, 3), "float32", -0.2, 0.2)
    assert not outside(Program(0, (matrices,), (line,), ("v0",)))


@pytest.mark.parametrize("text, library", [
    ("xp.exp(a0{})", "array-api-strict"), ("D.Normal(3.0, 1.0).log_prob(a0{})", "scipy"),
    ("a0[1:, None]{}", "numpy"), ("xp.sum(a0{})", "array-api-strict"),
    ("xp.linalg.inv(a0[:9, None] * a0[:9] + xp.eye(9, dtype=a0.dtype)){}", "array-api-strict"),
])  # fmt: skip
def test_a_wrong_number_is_found(text, library):
    spoil = " * (1 + 1e-4 * ('tessera' in type(a0).__module__))"
    assert not outside(program_of(text.format(" * 1"), library))
    assert outside(program_of(text.format(spoil), library))


def test_a_wrong_shape_integer_or_bit_is_found():
    ours = "int('tessera' in type(a0).__module__)"
    for text in (
        f"xp.argsort(a0)[{ours}:]",
        f"xp.argsort(a0) + {ours}",
        f"xp.less(a0 - {ours}, 0.0)",
    ):
        assert outside(program_of(text, "array-api-strict")), text


def test_what_noise_moves_is_no_finding():
    hard = "xp.linalg.inv(a0[:32, None] * a0[:32] * 1000 + xp.eye(32, dtype=a0.dtype))"
    for text in ("xp.floor(a0 * 100)", "xp.unique_values(xp.round(a0 * 1e6))", "xp.tan(a0 * 1e4)",
                 hard):  # fmt: skip
        assert not outside(program_of(text, "array-api-strict")), text


def test_a_step_of_numbers_below_the_normal_ones_is_no_finding():
    small = program_of("xp.divide(a0 * 1e-40, a0 + 3)", "array-api-strict", "complex64")
    assert not outside(small)


def written(x, key, value):
    """What the three uses of a key give; an error ends them."""
    names = {"a": x, "np": np, "ts": tessera if isinstance(x, tessera.Tensor) else keys.NUMPY}
    for line in ("b = np.array(a[{}])", "a[{}] = {}", "a[{}] += {}"):
        exec(line.format(key, value.format(a="a", key=key)), names)
    return [np.asarray(names[name]) for name in "ab"]


def test_keys_are_numpys():
    random, count = np.random.RandomState(1), 0
    for _ in range(KEYS):
        shape = tuple(random.choice([0, 1, 2, 3, 5], random.randint(1, 5)).tolist())
        array = random.uniform(-1, 1, shape).astype("f")
        key = keys.Key(random, shape, "a").text() or "..."
        value = keys.VALUES[random.randint(len(keys.VALUES))]
        try:
            want = written(array.copy(), key, value)
        except (IndexError, ValueError):
            continue
        got = written(tessera.Tensor(array), key, value)
        assert all(map(np.array_equal, got, want)), (shape, key, value)
        count += 1
    assert count > KEYS * 0.7


def test_an_ellipsis_without_axes_parts_arrays():
    array = np.arange(12.0, dtype="f").reshape(2, 2, 3)
    want = array[:, [0, 1, 1], ..., [1, 2, 0]]
    assert tessera.Tensor(array)[:, [0, 1, 1], ..., [1, 2, 0]].tolist() == want.tolist()
    value = np.arange(6.0, dtype="f").reshape(3, 2)
    made = tessera.Tensor(array)
    for x, y in ((array, value), (made, tessera.Tensor(value))):
        x[:, [0, 1, 1], ..., [1, 2, 0]] = y
        x[0, ..., [1, 0], 2] += 1
    assert made.tolist() == array.tolist()


def test_a_key_that_the_data_makes_unfit_is_no_finding():
    """A mask of no true element beside two indices: NumPy refuses it, too."""
    given = Input("a", "argument", (2, 3), "float32", -1.0, 1.0, False)
    line = Statement("b = a[[0, 1], (a.max((0,)) > 9)]", ("b",), ("a",), outside="numpy")
    assert list(lines_of(Program(1, (given,), (line,), ("b",)))) == []
