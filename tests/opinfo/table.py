"""All rows, by family: a family is a module with ROWS, a recorded file and a test."""

import importlib

FAMILIES = ("elementwise", "activations", "reductions", "movement", "indexing", "linalg", "fourier",
            "layers", "losses")  # fmt: skip


def rows(family):
    """The rows of a family, by the names of PyTorch's OpInfos: name, a dot, the variant."""
    return importlib.import_module(f"tests.opinfo.{family}").ROWS


def all_rows():
    """The rows of every family."""
    return {name: row for family in FAMILIES for name, row in rows(family).items()}
