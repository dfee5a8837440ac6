"""The fitted numbers of vector math: what writes and compares them; those that are committed."""

import pathlib
import shutil

import pytest

from tools.commands import polynomials

CHECKOUT = pathlib.Path()
RECORDS = """\
number kHalf 0x1p-1
row| kHalf | 1 / 2 | 0 | 0 | -5300 | rounded
numbers kLine [|-0x1.8p0, 0x1p1|]
row| kLine | p(x) for f x | -0.5 | 1.00000 | -2345 | fpminimax
words kWords [|1, 18446744073709551615|]
row| kWords | 2 / pi | 0 | 0 | -12799 | rounded down
"""


@pytest.fixture
def checkout(tmp_path):
    """A root with one script, and a stand-in for Sollya that prints the script's text."""
    scripts = tmp_path / polynomials.SCRIPTS
    scripts.mkdir(parents=True)
    (scripts / polynomials.PROCEDURES).write_text("no records")
    (scripts / "Half.sollya").write_text(RECORDS)
    marks = "before\n<!-- table -->\n<!-- end of the table -->\nafter\n"
    (tmp_path / polynomials.README).write_text(marks)
    sollya = tmp_path / "sollya"
    sollya.write_text('#!/bin/sh\ncat "$1"\ngrep -q fails "$1" && exit 3\nexit 0\n')
    sollya.chmod(0o755)
    return tmp_path


def run(root, *arguments):
    return polynomials.main(arguments, root, root / "sollya")


def test_numbers_and_errors_are_written(checkout):
    assert run(checkout) == 0
    header = (checkout / polynomials.HEADER).read_text()
    assert "// Half.sollya\n/// kHalf: 1 / 2 (rounded).\n" in header
    assert "inline constexpr double kHalf = 0x1p-1;" in header
    assert "inline constexpr double kLine[] = {-0x1.8p0, 0x1p1};" in header
    assert "uint64_t kWords[] = {0x0000000000000001, 0xffffffffffffffff};" in header
    readme = (checkout / polynomials.README).read_text()
    assert readme.startswith("before\n<!-- table -->\n| constants |")
    assert "| `kHalf` | 1 / 2 |  | 2^-53.00 | rounded |\n" in readme
    assert "| `kLine` | p(x) for f x | [-0.5, 1] | 2^-23.45 | fpminimax |\n" in readme
    assert readme.endswith("<!-- end of the table -->\nafter\n")


@pytest.mark.parametrize(
    "name, old, new",
    [
        (polynomials.HEADER, "kHalf = 0x1p-1", "kHalf = 0x1.0000000000001p-1"),
        (polynomials.README, "2^-23.45", "2^-23.46"),
    ],
)
def test_the_check_names_what_differs_and_writes_nothing(checkout, capsys, name, old, new):
    assert run(checkout) == 0
    assert run(checkout, "--check") == 0
    file = checkout / name
    changed = file.read_text().replace(old, new)
    file.write_text(changed)
    capsys.readouterr()
    assert run(checkout, "--check") == 1
    message = capsys.readouterr().out
    assert message.startswith(f"polynomials: {name} must hold what the scripts give, got\n")
    assert new in message and old in message
    assert file.read_text() == changed


@pytest.mark.parametrize(
    "records, message",
    [
        ("Warning: syntax error.", "every line must be a record, got 'Warning: syntax error.'"),
        ("number kHalf one", "every line must be a record, got 'number kHalf one'"),
        ("row| kHalf | 1 / 2", "every line must be a record, got 'row| kHalf | 1 / 2'"),
        ("fails", "sollya must succeed, got status 3: fails"),
        ("number kHalf 0x1p-1", "each constant must have a row, got none of kHalf"),
    ],
)
def test_a_script_that_went_wrong_is_refused(checkout, capsys, records, message):
    (checkout / polynomials.SCRIPTS / "Half.sollya").write_text(records)
    assert run(checkout) == 1
    printed = capsys.readouterr().out
    assert printed.startswith("polynomials: ") and message in printed
    assert not (checkout / polynomials.HEADER).exists()


def test_a_table_needs_its_marks(checkout, capsys):
    (checkout / polynomials.README).write_text("no table\n")
    assert run(checkout) == 1
    assert "README.md must have the table's two marks, got none" in capsys.readouterr().out


def test_fitted_numbers_in_the_code_are_found(checkout, capsys):
    code = "V p = x * 0.16666666666666666 + 1.98756915e-4 + 0x1.5555p-2 * 0x1.55555p-2 + 1.0 / 120;"
    (checkout / polynomials.HEADER.parent / "VectorMathHalf.cpp").write_text(code)
    assert run(checkout) == 1
    found = "0.16666666666666666, 1.98756915, 0x1.55555, 1.0 / 120\n"
    what = "VectorMathHalf.cpp must take fitted numbers from VectorMathConstants.h"
    assert capsys.readouterr().out == f"polynomials: {what}, got {found}"


def test_no_fitted_number_stands_in_our_code():
    assert list((CHECKOUT / polynomials.HEADER).parent.glob("VectorMath*.cpp"))
    assert list(polynomials.literals(CHECKOUT)) == []


@pytest.fixture(scope="module")
def given_by_sollya():
    if shutil.which("sollya") is None:
        pytest.skip("sollya must be installed, got none: `tools/dev polynomials` installs it")
    return polynomials.generated(CHECKOUT)


def test_our_numbers_and_errors_are_those_that_sollya_gives(given_by_sollya):
    assert list(polynomials.differences(given_by_sollya, CHECKOUT)) == []


def test_the_last_bit_of_our_numbers_is_compared(given_by_sollya, tmp_path):
    for name in given_by_sollya:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(CHECKOUT / name, tmp_path / name)
    header = tmp_path / polynomials.HEADER
    header.write_text(header.read_text().replace("0x1.ffffffff4debp-1", "0x1.ffffffff4deb1p-1"))
    (message,) = polynomials.differences(given_by_sollya, tmp_path)
    assert "0x1.ffffffff4deb1p-1" in message
