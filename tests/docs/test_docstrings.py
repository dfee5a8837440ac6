"""Docstrings become reStructuredText in which nothing but backticks has a meaning."""

import inspect

import pytest

from docs.docstrings import render
from docs.names import first_sentence

CASES = {
    "stars and bars are text": ("x: number[*D], a|b, end_", r"x: number[\*D], a\|b, end\_"),
    "backticks are code": ("out is `|x|` of *x*", r"out is ``|x|`` of \*x\*"),
    "what is indented is code": (
        """
        As in

            class Net(Module):

                pass
        """,
        """
        As in

        ::

            class Net(Module):

                pass
        """,
    ),
    "items of a section": (
        """
        Args:
            x: float[*D], which may
                broadcast
            axis: int
        """,
        r"""
        **Args**

        * ``x``: float[\*D], which may broadcast
        * ``axis``: int
        """,
    ),
    "one item of several lines": (
        """
        Returns:
            the sum; it has the
            dtype of x
        """,
        """
        **Returns**

        * the sum; it has the dtype of x
        """,
    ),
    "a doctest after its text": (
        """
        Counts.
        >>> 1 + 1
        2
        """,
        """
        Counts.

        >>> 1 + 1
        2
        """,
    ),
    "a doctest in a section": (
        """
        Example:
            >>> f(*x)
            2
        """,
        """
        **Example**

        >>> f(*x)
        2
        """,
    ),
}


@pytest.mark.parametrize("what", CASES)
def test_docstring(what):
    text, wanted = (inspect.cleandoc(each) for each in CASES[what])
    rendered = [line.rstrip() for line in render(text.splitlines())]
    assert "\n".join(rendered).strip() == wanted


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("Sum of x. More.", "Sum of x."),
        ("Of [N, C], or\n    `format` others. More.", r"Of \[N, C\], or `format` others."),
        ("exp(x, *, inplace=False)\n\nExponential.\n\nx", "Exponential."),
        (None, ""),
    ],
)  # fmt: skip
def test_first_sentence_for_a_table(text, sentence):
    assert first_sentence(text) == sentence
