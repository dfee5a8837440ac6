"""Random programs as data: inputs, statements, results; their source; one run of them.

A program is the body of a function of some arguments. Its captured tensors are constants and
parameters. Every statement is a line of Python that defines or changes variables.
"""

import functools
import re
import zlib
from dataclasses import dataclass, field

import numpy as np
import tessera

from tests.records import samples

HEADER = """\
import numpy as np
import tessera as ts
import tessera.functional as F
import tessera.module as M
import tessera.optimizer as O
from tessera import array_api as xp
from tessera import distributions as D
from tessera import jit
from tessera.amp import autocast
from tessera.autodiff import GradManager, checkpoint, grad, jvp, vmap
from tessera.core import apply
from tessera.core.ops import builtin as B
from tests.random import brought
"""


# What a call raises that cannot be: one mode refuses it where the others do.
REFUSALS = (ValueError, TypeError, IndexError, OverflowError, NotImplementedError, RuntimeError)


@functools.lru_cache(maxsize=64)  # each mode asks for them anew
def _numbers(name, shape, dtype, low, high):
    """Random numbers by name."""
    random = np.random.RandomState(zlib.crc32(name.encode()))
    array = samples.random_array(random, shape, dtype, low, high)
    array.setflags(write=False)
    return array


@dataclass(frozen=True)
class Input:
    """A tensor that the function does not make: an argument, a constant or a parameter."""

    name: str
    kind: str
    shape: tuple
    dtype: str
    low: float = -2.0
    high: float = 2.0
    free: bool = False  # its first axis is the program's free dimension

    @property
    def has_gradient(self):
        """The function takes its gradient, where it takes any."""
        return self.kind != "constant" and self.dtype == "float32"

    def array(self, seed, size=None):
        """Its numbers for a seed; `size`: of the free dimension."""
        shape = (size, *self.shape[1:]) if self.free and size is not None else self.shape
        return _numbers(f"{seed} {self.name}", tuple(shape), self.dtype, self.low, self.high)

    def tensor(self, seed, size=None):
        """A new tensor of these numbers."""
        kind = tessera.Parameter if self.kind == "parameter" else tessera.Tensor
        return kind(self.array(seed, size), dtype=self.dtype)


@dataclass(frozen=True)
class Statement:
    """One line; `targets` are defined or changed by it, `uses` are read."""

    text: str
    targets: tuple
    uses: tuple
    writes: bool = False  # changes memory in place
    stochastic: bool = False
    outside: str = ""  # the other library that runs it, too: outside.py

    @property
    def writes_unnamed(self):
        """It changes a view that no variable holds: such a view is a copy then."""
        return self.writes and self.text.startswith(f"{self.targets[0]}.")


@dataclass(frozen=True)
class Program:
    """What a seed drew."""

    seed: int
    inputs: tuple
    statements: tuple
    results: tuple
    loss: str = ""  # the gradient of its sum is taken within the function
    optimizer: str = ""  # "SGD(%s, lr=0.1)": steps within the function
    updates: tuple = field(default=())  # parameters that it steps

    def of_kind(self, *kinds):
        """The inputs of these kinds."""
        return [each for each in self.inputs if each.kind in kinds]

    @property
    def differentiated(self):
        """The inputs whose gradients are results."""
        if not self.loss:
            return []
        if self.optimizer:
            return [*self.updates]
        return [each.name for each in self.inputs if each.has_gradient]

    @property
    def stochastic(self):
        """It draws numbers of its own."""
        return any(each.stochastic for each in self.statements)

    @property
    def has_free(self):
        """An argument's first axis is free."""
        return any(each.free for each in self.inputs)

    def body(self):
        """The lines of the function."""
        names = ", ".join(self.differentiated)
        lines, indent = [], ""
        if self.loss:
            lines += [f"gm = GradManager().attach([{names}])", "with gm:"]
            indent = "    "
        lines += [indent + each.text for each in self.statements]
        results = list(self.results)
        if self.loss:
            lines.append(f"    gm.backward(F.sum({self.loss}))")
        if self.optimizer:
            lines += ["opt.step()"]
        if self.loss:
            grads = [f"g_{name}" for name in self.differentiated]
            for name, grad in zip(self.differentiated, grads, strict=True):
                lines.append(f"{grad}, {name}.grad = {name}.grad, None")
            results += grads
        return [*lines, f"return ({''.join(f'{name}, ' for name in results)})"]

    def function_source(self):
        """The definition of the function alone."""
        arguments = ", ".join(each.name for each in self.of_kind("argument"))
        return f"def f({arguments}):\n" + "".join(f"    {line}\n" for line in self.body())

    def instance(self, seed=0):
        """A function over new captured tensors: (function, captured tensors by name)."""
        captured = {each.name: each.tensor(seed) for each in self.of_kind("constant", "parameter")}
        names = dict(captured)
        exec(HEADER, names)
        if self.optimizer:
            listed = [captured[name] for name in self.updates]
            names["opt"] = eval(f"O.{self.optimizer % 'listed'}", {**names, "listed": listed})
        exec(self.function_source(), names)
        return names["f"], captured

    def arguments(self, seed, size=None):
        """New argument tensors for a seed."""
        return [each.tensor(seed, size) for each in self.of_kind("argument")]


def used_names(text, known):
    """The names of `known` that a line reads, as words."""
    return tuple(name for name in re.findall(r"[A-Za-z_]\w*", text) if name in known)
