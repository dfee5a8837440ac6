"""Functions as files, networks of them, and what edited ones give when C++ runs them."""

import subprocess
from pathlib import Path

import numpy as np
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera import module as M  # noqa: N812
from tessera.utils.network import Network

from tests.support.helper import floats, same_bits

TESS_RUN = Path("tools/tess-run").absolute()  # of the runfiles, where tests start


class Model(M.Module):
    """A convolution, what follows it, and a head."""

    def __init__(self, head=None):
        super().__init__()
        tessera.seed(5)
        self.conv, self.bn = M.Conv2d(3, 4, 3), M.BatchNorm2d(4)
        self.fc = M.Linear(4 * 9, 5)
        self.head = head or F.softmax

    def features(self, x):
        """After the first layer."""
        return F.relu(self.bn(self.conv(x)))

    def forward(self, x):
        return self.head(self.fc(F.flatten(self.features(x), 1)))


def image(batch=2, seed=0):
    """An input of Model."""
    return tessera.Tensor(floats(batch, 3, 5, 5, seed=seed))


def dumped(path, function, *arguments, arg_names=("x",), output_names=("y",), **options):
    """The file `path` of the function, traced once."""
    traced = jit.trace(function, capture_as_const=True)
    traced(*arguments)
    options = {"targets": (), **options}
    traced.dump(path, arg_names=list(arg_names), output_names=list(output_names), **options)
    return path


def network_of(folder, function, *arguments, **options):
    """The network of the file of a function."""
    return Network.load(dumped(folder / "first.tess", function, *arguments, **options))


def run(network, folder, **inputs):
    """The outputs by name of the dumped network: loaded in Python and, with the same bits, by
    tess-run."""
    path = str(folder / "edited.tess")
    network.dump(path)
    program = jit.load(path)
    results = program(**inputs)
    results = results if isinstance(results, tuple) else (results,)
    by_name = dict(zip(program.outputs, results, strict=True))
    command = [TESS_RUN, path]
    for name, tensor in inputs.items():
        np.save(folder / f"{name}.npy", tensor.numpy())
        command += ["--input", f"{name}={folder / name}.npy"]
    for name in by_name:
        command += ["--output", f"{name}={folder / name}.out.npy"]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    for name, result in by_name.items():
        assert same_bits(np.load(folder / f"{name}.out.npy"), result), name
    return by_name


def traced_anew(function, *arguments):
    """What the edited function gives when it is traced and compiled."""
    traced = jit.trace(function, capture_as_const=True)
    traced(*arguments)
    return traced(*arguments)
