"""A hundred random programs: every mode gives the bits of the eager run."""

import contextlib
import os
import warnings
from dataclasses import replace

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import device, jit

from tests import quick
from tests.random import draw as drawing
from tests.random import forms, minimise, one, worker
from tests.random.draw import draw
from tests.random.float64 import beyond, float64
from tests.random.networks import network
from tests.random.observe import SkippedError
from tests.random.program import Input, Program, Statement

FIRST = int(os.environ.get("TESS_RANDOM_SEED", "0"))


@pytest.mark.parametrize("seed", quick.few(range(FIRST, FIRST + 100), 10))
def test_program(seed):
    warnings.simplefilter("ignore")
    row = worker.run("random", seed)
    for mode, shown in row["findings"].items():
        program, smaller = minimise.minimised(draw(seed), mode, seconds=30)
        print(minimise.source(program, mode, smaller or shown))
    assert not row["findings"], f"seed {seed}"


def test_a_difference_is_found_and_made_small():
    """A program that counts its calls does something else at each: the traced mode must see it."""
    program = draw(1)
    spoiled = replace(program, statements=(
        *program.statements,
        Statement("w = F.relu(a0) + float(np.random.RandomState().rand())", ("w",), ("a0",)),
    ), results=("w", *program.results))  # fmt: skip
    smaller, shown = minimise.minimised(spoiled, "traced", seconds=60)
    assert "traced" in shown
    assert len(smaller.statements) < len(program.statements)


def one_line(text, dtype):
    line = Statement(f"v0 = {text}", ("v0",), ("a0",))
    return Program(0, (Input("a0", "argument", (300,), dtype),), (line,), ("v0",))


def test_an_error_of_an_earlier_mode_is_no_finding():
    """Refused at a size: one result was read, and the other one still has its error."""
    index = tessera.tensor(np.array([0, 9]))
    function = jit.trace(lambda x: (x[index], x[index] + 1))
    with pytest.raises(IndexError):
        [function(tessera.tensor([1.0]))[0].numpy() for _ in range(3)]
    assert not one.difference(one_line("F.relu(a0)", "float32"), "traced")


def test_an_index_that_fewer_rows_leave_out_is_no_finding_where_nothing_reads_its_change():
    lines = (
        Statement("v0 = F.relu(a0)", ("v0",), ("a0",)),
        Statement("a0[np.array([-52]), np.array([-1])] += 0.25", ("a0",), ("a0",), writes=True),
    )
    rows = Input("a0", "argument", (64, 3), "float32", free=True)
    assert not network(Program(0, (rows,), lines, ("v0",)))


def test_a_wrong_number_is_found_beside_float64():
    spoil = " * (1 + 1e-4 * ('32' in a0.dtype.name))"
    for text in ("F.sigmoid(a0)", "F.softmax(a0, -1)", "(a0 - a0.mean()) / F.std(a0)"):
        assert not float64(one_line(text, "float32"))
        assert float64(one_line(f"({text}){spoil}", "float32")), text


@pytest.mark.parametrize(
    "text",
    [
        "a0[: 300 - ('32' in a0.dtype.name)]",
        "a0 * (float('inf') if '32' in a0.dtype.name else 1)",
        "a0 * (float('nan') if '32' in a0.dtype.name else 1)",
    ],
)
def test_a_wrong_shape_or_infinity_is_found_beside_float64(text):
    """Which noise on the inputs of the narrow program does not excuse, since they stay."""
    assert float64(one_line(text, "float32"))


def test_what_may_overflow_may_be_infinite_beside_float64():
    got = np.array([np.inf, np.nan], "float32")
    for want, moved, is_found in (
        (3.3e38, 1.1, False),
        (3.3e38, 1 + 1e-9, True),
        (1e30, 1.1, True),
    ):
        wide = np.full(2, want)
        assert bool(beyond(got, wide, [wide * moved], want, "float32")) == is_found, (want, moved)


def test_a_wrong_integer_is_found_beside_float64():
    assert float64(one_line("(a0 > 3 * ('64' in a0.dtype.name))", "float32"))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_what_rounding_turns_over_is_no_finding(dtype):
    for text in ("F.floor(a0 * 100)", "a0 * 3 > a0 + a0 + a0", "F.argsort(a0)[1]"):
        assert not float64(one_line(text, dtype)), text


def test_a_gradient_that_cancels_within_a_line_is_no_finding():
    """Of two numbers that are normalised, which do not depend on what is normalised but for eps."""
    line = Statement("v0 = F.layer_norm(a0, (2,), False) * 0.7", ("v0",), ("a0",))
    inputs = (Input("a0", "argument", (768, 2), "float32"),)
    assert not float64(Program(0, inputs, (line,), ("v0",), loss="v0"))


def test_what_cancels_within_a_line_is_no_finding():
    near = "F.reshape(F.sort(a0)[0] * 0.05 + 4, (150, 2))"  # a mean is rounded in units of 4
    assert not float64(one_line(f"F.layer_norm({near}, (2,), False)", "float32"))
    spoil = " * (1 + 1e-2 * ('32' in a0.dtype.name))"
    assert float64(
        one_line(f"F.layer_norm(F.reshape(a0, (30, 10)), (10,), False){spoil}", "float32")
    )


def test_a_statement_that_memory_does_not_hold_is_not_drawn():
    assert draw(9100743).statements


@pytest.mark.parametrize("seed", [9400081, 9400234])
def test_the_inputs_of_the_largest_sizes_are_small(seed):
    """Four axes of these sizes have 10^11 elements."""
    device.reset_max_memory_stats()
    before = device.get_allocated_memory()
    program = draw(seed)
    assert program.statements
    assert max(drawing.count_of(each.shape) for each in program.inputs) <= 1 << 18
    assert device.get_max_allocated_memory() - before <= 1 << 26


def test_inputs_without_elements_have_few_rows():
    """Five axes of these sizes hold 17 million empty matrices, which take NumPy minutes."""
    drawer = drawing.Drawer(4270003896)
    drawer.sizes = [0, 257]
    shapes = [drawer.new_shape() for _ in range(300)]
    assert any(0 in shape for shape in shapes)
    assert max(drawing.count_of(size or 1 for size in shape) for shape in shapes) <= 1 << 13
    program = draw(4270003896)
    assert max(drawing.extent_of(each.shape) for each in program.inputs) <= 1 << 18


def test_all_values_of_a_program_have_a_bound(monkeypatch):
    whole = drawing.Drawer(8)
    whole.draw()
    bound = whole.held() // 2
    monkeypatch.setattr(drawing, "_MOST_BYTES", bound)
    smaller = drawing.Drawer(8)
    assert smaller.draw().statements
    assert smaller.held() <= bound


def test_a_statement_that_takes_too_much_is_refused():
    """Its value would not be kept; what it takes until then has a bound, too."""
    drawer = drawing.Drawer(3)
    a = drawer.new_input((1 << 15, 1), "float32", -1.0, 1.0)
    before = device.get_allocated_memory()
    device.reset_max_memory_stats()
    with drawing.limited_memory():
        assert not drawer.add(f"F.matmul({a}, F.swapaxes({a}, 0, 1))", 1)
    assert device.get_max_allocated_memory() - before <= 1 << 30


@pytest.mark.parametrize("text", ["a0 * 0.5 == a0[0]", "apply(B.NotEqual(), a0, a0[0])[0]"])
def test_equality_of_rounded_numbers_is_not_judged(text):
    with pytest.raises(SkippedError, match="asks whether rounded numbers are equal"):
        float64(one_line(text, "float16"))
    assert not float64(one_line("apply(B.LessEqual(), a0, a0[0])[0]", "float32"))


def test_a_gradient_of_what_is_nearly_flat_is_no_finding():
    """1 - out^2 where out is 1 but for some units."""
    line = Statement("v0 = F.tanh(a0 * 0.01 + 5.5)", ("v0",), ("a0",))
    inputs = (Input("a0", "argument", (300,), "float32"),)
    assert not float64(Program(0, inputs, (line,), ("v0",), loss="v0"))


def test_a_gradient_that_is_zero_but_for_rounding_is_no_finding():
    """Of a bias that all scores of an attention have, beside gradients that are not zero."""
    line = Statement("v0 = F.softmax(a0 * 3 + a1, -1)[:1] + a0[:1]", ("v0",), ("a0", "a1"))
    inputs = (Input("a0", "argument", (300,), "float32"), Input("a1", "argument", (), "float32"))
    assert not float64(Program(0, inputs, (line,), ("v0",), loss="v0"))


def test_numbers_that_no_float32_is_near_are_no_finding():
    """A product below the least one, and its gradient."""
    line = Statement("v0 = F.prod(a0)", ("v0",), ("a0",))
    inputs = (Input("a0", "argument", (17, 17), "float32", -1.0, 2.0),)
    assert not float64(Program(0, inputs, (line,), ("v0",), loss="v0"))


def test_what_eager_refuses_with_the_random_numbers_of_a_file_is_no_finding():
    """After two calls the third draws what fits nothing."""
    draws = Statement("v0 = ts.random.uniform(0, 1, (3,))", ("v0",), (), stochastic=True)
    line = Statement("v1 = a0[[], v0 > 0.5]", ("v1",), ("a0", "v0"))
    inputs = (Input("a0", "argument", (4, 3), "float32"),)
    for seed in range(20):
        with contextlib.suppress(SkippedError):
            assert not one.difference(Program(seed, inputs, (draws, line), ("v1",)), "loaded")


def test_a_program_that_only_changes_its_arguments_returns_one():
    """A file's program must return a tensor."""
    drawer = drawing.Drawer(0)
    drawer.statements = [Statement("a0[0] = 1", ("a0",), ("a0",), writes=True)]
    assert drawer.results() == ("a0",)


def test_an_axis_of_size_0_hides_no_others_that_are_larger_than_memory():
    drawer = drawing.Drawer(0)
    drawer.known["a9"] = F.zeros((0, 1 << 16, 1 << 16))
    drawer.order.append("a9")
    names = {forms.beside(drawer, "a9") for _ in range(100)}
    assert all(np.prod(drawer.known[name].shape) < 1 << 20 for name in names)
