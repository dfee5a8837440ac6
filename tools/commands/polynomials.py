"""Writes the constants of compiler/lanes/VectorMath*.cpp and the table of their errors, as the
Sollya scripts of compiler/lanes/polynomials give them.

usage: polynomials.py [--check]
With `--check` nothing is written, and the status is 1 where the committed files differ.
"""

import argparse
import difflib
import pathlib
import re
import subprocess
import sys
from typing import NamedTuple

SCRIPTS = pathlib.Path("compiler/lanes/polynomials")
HEADER = pathlib.Path("compiler/lanes/VectorMathConstants.h")
README = SCRIPTS / "README.md"
PROCEDURES = "Records.sollya"
CLANG_FORMAT = "/usr/lib/llvm-22/bin/clang-format"

_TABLE = re.compile(r"(?<=<!-- table -->\n).*(?=<!-- end of the table -->)", re.DOTALL)
_LONG_LITERAL = re.compile(
    r"\b(?:\d+\.\d{10,}|\d\.\d{7,}(?=e)|0x\d\.[0-9a-f]{5,}(?=p)|\d\.\d / \d+)"
)
_TOP = """\
//===- VectorMathConstants.h - fitted numbers -------------------*- C++ -*-===//
//
// Written by `tools/dev polynomials` from compiler/lanes/polynomials/*.sollya: do not edit. An
// array that stands for p or q holds a polynomial's coefficients from the highest down.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>

namespace tess::compiler::vmath {
"""


class Constant(NamedTuple):
    """`values` as C++ writes them; a single number has no brackets."""

    name: str
    type: str
    values: list
    is_array: bool


class Row(NamedTuple):
    """A line of the table; the error is 2^(hundredths / 100), the interval empty or a text."""

    names: str
    formula: str
    interval: str
    hundredths: int
    source: str


def parse_constant(kind, name, text):
    values = text.strip("[|]").split(", ")
    if kind == "words":
        return Constant(name, "uint64_t", [f"0x{int(value):016x}" for value in values], True)
    for value in values:
        float.fromhex(value)
    return Constant(name, "double", values, kind == "numbers")


def parse_row(line):
    _, names, formula, low, high, hundredths, source = (part.strip() for part in line.split("|"))
    ends = (float(low), float(high))
    interval = "" if ends == (0, 0) else f"[{ends[0]:.4g}, {ends[1]:.4g}]"
    return Row(names, formula, interval, int(hundredths), source)


def parse_line(line):
    """A record; whatever else Sollya prints is an error of the script."""
    try:
        if line.startswith("row|"):
            return parse_row(line)
        kind, name, text = line.split(" ", 2)
        if kind in ("number", "numbers", "words"):
            return parse_constant(kind, name, text)
    except ValueError:
        pass
    raise ValueError(f"every line must be a record, got {line!r}")


def run_script(script, sollya="sollya"):
    """The records of one script, which Sollya runs in its folder."""
    done = subprocess.run(
        [sollya, script.name],
        cwd=script.parent,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        if done.returncode:
            raise ValueError(f"sollya must succeed, got status {done.returncode}: {done.stdout}")
        return [parse_line(line) for line in done.stdout.splitlines() if line]
    except ValueError as error:
        raise ValueError(f"polynomials: {script.name}: {error}") from None


def run_scripts(root, sollya="sollya"):
    """{script: records}, in the order of names."""
    scripts = sorted(path for path in (root / SCRIPTS).glob("*.sollya") if path.name != PROCEDURES)
    return {script.name: run_script(script, sollya) for script in scripts}


def row_of(constant, records):
    for row in records:
        if isinstance(row, Row) and constant.name in row.names.split():
            return row
    raise ValueError(f"polynomials: each constant must have a row, got none of {constant.name}")


def constant_lines(constant, row):
    values = ", ".join(constant.values)
    brackets, value = ("[]", f"{{{values}}}") if constant.is_array else ("", values)
    yield f"/// {row.names}: {row.formula} ({row.source})."
    yield f"inline constexpr {constant.type} {constant.name}{brackets} = {value};"


def header_text(by_script):
    lines = [_TOP]
    for script, records in by_script.items():
        lines.append(f"// {script}")
        for constant in records:
            if isinstance(constant, Constant):
                lines += constant_lines(constant, row_of(constant, records))
        lines.append("")
    lines.append("} // namespace tess::compiler::vmath")
    return "\n".join(lines) + "\n"


def formatted(text, root):
    command = [CLANG_FORMAT, f"--assume-filename={HEADER}"]
    done = subprocess.run(
        command, cwd=root, input=text, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout


def table_text(by_script):
    lines = ["| constants | formula | interval | largest relative error | source |"]
    lines.append("|---|---|---|---|---|")
    for row in (row for records in by_script.values() for row in records if isinstance(row, Row)):
        error = f"2^{row.hundredths / 100:.2f}"
        lines.append(f"| `{row.names}` | {row.formula} | {row.interval} | {error} | {row.source} |")
    return "\n".join(lines) + "\n"


def generated(root, sollya="sollya"):
    """{file: the text that it must have}."""
    by_script = run_scripts(root, sollya)
    readme = (root / README).read_text()
    if not _TABLE.search(readme):
        raise ValueError(f"polynomials: {README} must have the table's two marks, got none")
    return {
        HEADER: formatted(header_text(by_script), root),
        README: _TABLE.sub(lambda _: table_text(by_script), readme),
    }


def differences(texts, root):
    """One message a file that is other than it must be."""
    for name, text in texts.items():
        path = root / name
        committed = path.read_text() if path.exists() else ""
        sides = committed.splitlines(), text.splitlines()
        lines = difflib.unified_diff(*sides, "committed", "given by Sollya", n=0, lineterm="")
        if difference := "\n".join(lines):
            yield f"polynomials: {name} must hold what the scripts give, got\n{difference}"


def literals(root):
    """One message a source in which numbers stand that have digits like fitted ones."""
    for path in sorted((root / HEADER).parent.glob("VectorMath*.cpp")):
        if found := _LONG_LITERAL.findall(path.read_text()):
            what = f"{path.name} must take fitted numbers from {HEADER.name}"
            yield f"polynomials: {what}, got {', '.join(found)}"


def main(arguments, root=pathlib.Path(), sollya="sollya"):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(arguments)
    try:
        texts = generated(root, sollya)
    except ValueError as error:
        print(error)
        return 1
    messages = [*literals(root), *(differences(texts, root) if options.check else ())]
    print(*messages, sep="\n", end="\n" if messages else "")
    if not options.check:
        for name, text in texts.items():
            (root / name).write_text(text)
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], pathlib.Path(__file__).resolve().parents[2]))
