"""Contexts around calls: whether gradients are recorded, and the precision of operators."""

import contextlib
from dataclasses import dataclass

from ..amp import autocast
from ..autodiff import no_grad

KINDS = {"no_grad": no_grad, "autocast": autocast}


@dataclass(frozen=True)
class Mode:
    """One context: the name of its class and its arguments."""

    name: str
    arguments: tuple = ()

    def __str__(self):
        return f"{self.name}({', '.join(map(repr, self.arguments))})"

    def context(self):
        """A new object of the class."""
        return KINDS[self.name](*self.arguments)


def mode_of(context):
    """The Mode of a context."""
    if isinstance(context, autocast):
        dtypes = str(context.low_prec_dtype), str(context.high_prec_dtype)
        return Mode("autocast", (context.enabled, *dtypes))
    return Mode("no_grad")


@contextlib.contextmanager
def entered(modes):
    """All contexts of `modes`, the outermost first."""
    with contextlib.ExitStack() as stack:
        for mode in modes:
            stack.enter_context(mode.context())
        yield


ENTERING = frozenset(kind.__enter__ for kind in KINDS.values())
LEAVING = frozenset(kind.__exit__ for kind in KINDS.values())
