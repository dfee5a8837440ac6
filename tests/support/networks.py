"""What several tests run: a small network that has one of everything, and a function."""

import tessera
import tessera.functional as F  # noqa: N812
from tessera import module as M  # noqa: N812

from tests.support.helper import floats


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


def windows(w):
    """Channels of channels: the number of its elements is an expression of more than 256 parts."""
    twice = F.conv2d(F.conv2d(w, w, None, 1, 1), w, None, 1, 1)
    return twice[::-2, 6:2:-1]


def scaled_windows(w):
    """A branch whose body has that number."""
    v = windows(w)
    return F.cond(v.max() > 0.5, lambda: v * v.size, lambda: v * 2)
