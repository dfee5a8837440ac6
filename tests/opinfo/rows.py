"""One row of the table: how a call of PyTorch's is written with Tessera's functions."""

from collections.abc import Callable
from dataclasses import dataclass


class UnlikeError(Exception):
    """Tessera has nothing that means these arguments; the text says which."""


def refuse(condition, what):
    """The call is not recorded where the condition holds."""
    if condition:
        raise UnlikeError(what)


@dataclass(frozen=True)
class Row:
    """A function with the signature of PyTorch's, of Tessera's tensors, and how it is compared.

    `picks`: which of PyTorch's results it gives, None for all. `terms`: how many roundings of
    numbers as large as the largest one in the call it may be away, beside 4 units in the last place
    of its own: 0 for what is computed element by element, more for sums; the gradients' likewise.
    `roundings`: how often a half-precision result is rounded, once for each operator in the row.
    """

    call: Callable
    picks: tuple | None = None
    terms: float = 0
    gradient_terms: float = 16
    roundings: int = 1


def elementwise(calls):
    """Rows of functions of one element."""
    return {name: Row(call) for name, call in calls.items()}


def composed(calls, roundings=3, terms=4):
    """Rows of several functions of one element."""
    return {name: Row(call, terms=terms, roundings=roundings) for name, call in calls.items()}


def moving(calls):
    """Rows of functions that only place elements; gradients may add them."""
    return {name: Row(call, gradient_terms=4) for name, call in calls.items()}


def summing(calls, terms=16, **more):
    """Rows of functions that add up elements."""
    return {
        name: Row(call, terms=terms, gradient_terms=2 * terms, **more)
        for name, call in calls.items()
    }
