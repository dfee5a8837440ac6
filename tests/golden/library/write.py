"""Writes a library of operators of this version, and a program that calls them: README.md."""

import sys
from pathlib import Path

import numpy as np
import tessera as ts
import tessera.functional as F  # noqa: N812

from tests.golden.write import write_new, write_program


def inputs():
    """The operands of the program."""
    draw = np.random.default_rng(7)
    return {
        "x": ts.tensor(draw.standard_normal((4, 3), dtype="float32")),
        "numbers": ts.tensor(draw.integers(-5, 5, 6, "int32")),
    }


def program(x, numbers):
    """Every operator of the library, behind and before Tessera's own."""
    ops = ts.ops.brought
    scaled = ops.affine(x * 2, 0.5, 3, "minus")
    spread, squares = ops.spread(scaled, [2], is_negative=True)
    above, _ = ops.above(spread, F.zeros((), dtype="int64"))
    chosen = ops.chosen([numbers, numbers * 2], 1)
    counted = ops.counted(x, F.relu(chosen.astype("float32")))
    return {"spread": spread + 1, "squares": squares, "above": above, "counted": counted}


def main():
    """The files that the folder lacks; those that it has stay as they are."""
    folder, library = map(Path, sys.argv[1:])
    folder.mkdir(exist_ok=True)
    if not (folder / "brought.so").exists():
        write_new(folder / "brought.so", library.read_bytes())
    ts.load_library(folder / "brought.so")
    write_program(folder, "brought", program, inputs())


if __name__ == "__main__":
    main()
