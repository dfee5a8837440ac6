"""A small network that has one of everything, for several tests."""

import tessera
import tessera.functional as F  # noqa: N812
from tessera import module as M  # noqa: N812

from tests.python.helper import floats


def tensor(*shape, seed=0):
    """Random numbers of [-2, 2)."""
    return tessera.Tensor(floats(*shape, seed=seed))


class Net(M.Module):
    def __init__(self):
        super().__init__()
        tessera.seed(3)
        self.fc1, self.bn, self.fc2 = M.Linear(6, 8), M.BatchNorm1d(8), M.Linear(8, 3)
        self.drop = M.Dropout(0.2)

    def forward(self, x):
        return self.fc2(self.drop(F.relu(self.bn(self.fc1(x)))))
