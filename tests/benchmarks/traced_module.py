"""Costs of calls of traced modules, beside those of the modules, in the peer column."""

import tessera
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
from harness import Row, interleaved, synced

PARTS, LINES = 10, 10
MOST_PER_EXPRESSION = 1000  # ns


class Adds(M.Module):
    """Adds a tensor of one element, LINES times."""

    def forward(self, x, y):
        for _ in range(LINES):
            x = x + y
        return x


class Calls(M.Module):
    """Calls functions of the package, in turns, and a closed module at the end."""

    def __init__(self):
        super().__init__()
        self.relu = M.ReLU()

    def forward(self, x, y):
        for _ in range((LINES - 1) // 3):
            x = F.relu(F.exp(x).reshape(x.shape))
        return self.relu(x)


class Whole(M.Module):
    """Modules within a module, PARTS of them."""

    def __init__(self, kind):
        super().__init__()
        self.parts = [kind() for _ in range(PARTS)]

    def forward(self, x, y):
        for part in self.parts:
            x = part(x, y)
        return x


def cost(name, kind):
    """A call of the module and of its trace, and what each expression adds."""
    module, x, y = Whole(kind), tessera.Tensor([1.0]), tessera.Tensor([-1e-3])
    traced = tessera.traced_module.trace_module(module, x, y)  # which older packages lack
    count = PARTS * LINES
    own, both = interleaved(synced(lambda: module(x, y)), synced(lambda: traced(x, y)))
    added = max((both - own) / count * 1e9, 1.0)  # less than nothing is noise
    return [
        Row(
            f"traced module of {count} {name} (PyTorch column: the module)",
            both * 1e6,
            "us",
            own * 1e6,
        ),
        Row(f"an expression of a trace, {name}", added, "ns", target=MOST_PER_EXPRESSION),
    ]


BENCHMARKS = {
    "traced_module_adds": lambda: cost("adds", Adds),
    "traced_module_calls": lambda: cost("calls", Calls),
}
