"""A small model, traced, and its file."""

import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera import module as M  # noqa: N812

from tests.support.helper import floats


class Model(M.Module):
    """Two layers, with a value that has a name between them."""

    def __init__(self):
        super().__init__()
        tessera.seed(3)
        self.first, self.second = M.Linear(6, 4), M.Linear(4, 3)

    def forward(self, x):
        hidden = F.relu(self.first(x))
        hidden.name = "hidden"
        return F.relu(F.relu(self.second(hidden)) - 1)


def tensor(*shape, seed=0):
    """Of float32."""
    return tessera.Tensor(floats(*shape, seed=seed))


def traced(function, *arguments, **keywords):
    """The function, traced once with these arguments."""
    made = jit.trace(function, capture_as_const=True)
    made(*arguments, **keywords)
    return made


def model():
    """The model, traced once."""
    return traced(Model().eval().__call__, tensor(2, 6))
