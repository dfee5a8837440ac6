"""Where Tessera differs from array-api-strict, and why; docs/reference/array_api.md has it, too."""

import inspect
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

EMPTY = inspect.Parameter.empty


class Exemption(NamedTuple):
    """Elements of some functions' results that may differ, by the operands."""

    why: str
    names: set
    elements: Callable


def is_complex(*operands):
    return any(np.asarray(each).dtype.kind == "c" for each in operands)


def is_odd(*operands):
    """Where an operand is not finite."""
    finite = np.isfinite(operands[0])
    for each in operands[1:]:
        finite = finite & np.isfinite(each)
    return ~finite


OPEN = "the standard leaves it open"
EXEMPTIONS = [
    Exemption(
        f"quotients of complex numbers that are not finite, or by 0: {OPEN}",
        {"divide"},
        lambda x, y: is_complex(x, y) & (is_odd(x, y) | (np.asarray(y) == 0)),
    ),
    Exemption(
        f"powers of complex numbers that are not finite, 0 or too large: {OPEN}",
        {"pow"},
        lambda x, y: is_complex(x, y) & (is_odd(x, y) | (np.asarray(x) == 0) | is_odd(x**y)),
    ),
    Exemption(
        f"which of two zeros is larger: {OPEN}",
        {"maximum", "minimum"},
        lambda x, y: (np.asarray(x) == 0) & (np.asarray(y) == 0),
    ),
    Exemption(
        f"the sign of an infinite complex number: {OPEN}",
        {"sign"},
        lambda x: is_complex(x) & np.isinf(x),
    ),
    Exemption(
        "expm1 of complex numbers that are not finite: as the standard says, which NumPy does not",
        {"expm1"},
        lambda x: is_complex(x) & is_odd(x),
    ),
    Exemption(
        "reciprocals of infinite complex numbers and of 0: as C11 has it, where NumPy gives NaN",
        {"reciprocal"},
        lambda x: is_complex(x) & (is_odd(x) | (np.asarray(x) == 0)),
    ),
    Exemption(
        "log1p of small complex numbers: NumPy adds 1 first, which loses digits",
        {"log1p"},
        lambda x: is_complex(x) & (np.abs(x) < 0.5),
    ),
]
# Parameters as 2024.12 has them, where array-api-strict follows a later version.
SIGNATURES = {
    "astype": [
        ("x", "POSITIONAL_ONLY", EMPTY),
        ("dtype", "POSITIONAL_ONLY", EMPTY),
        ("copy", "KEYWORD_ONLY", True),
        ("device", "KEYWORD_ONLY", None),
    ],
    "expand_dims": [("x", "POSITIONAL_ONLY", EMPTY), ("axis", "POSITIONAL_OR_KEYWORD", 0)],
    "from_dlpack": [
        ("x", "POSITIONAL_ONLY", EMPTY),
        ("device", "KEYWORD_ONLY", None),
        ("copy", "KEYWORD_ONLY", None),
    ],
}
