"""The mode that a program is drawn for: the rare ones say nothing about most programs."""

from dataclasses import dataclass

import numpy as np

_ALL_DTYPES = ("float32",) * 7 + ("float16", "bfloat16", "float64")


@dataclass(frozen=True)
class Focus:
    """What a program must be, and must not have, for its mode to say something."""

    share: float = 0.0  # of all seeds
    dtypes: tuple = _ALL_DTYPES  # to draw from
    writes: bool = True  # changes in place are allowed
    loss: bool = True  # a gradient within the function is allowed
    state: bool = True  # random numbers and optimizers are allowed
    free: bool = False  # an argument's first axis must be free, and the program fit any size
    sized: bool = False  # an argument's first axis is the program's free dimension
    alike: bool = False  # two inputs of one shape and dtype must be there
    outside: bool = False  # most lines are those that other libraries run, too


ANY = Focus()
BY_MODE = {
    "free": Focus(0.14, state=False, free=True, sized=True),
    "resized": Focus(0.1, sized=True),
    "aliased": Focus(0.11, alike=True),
    "gradient_outside": Focus(0.12, dtypes=("float32",), writes=False, loss=False),
    "sim_gradient": Focus(0.05, dtypes=("float32",), writes=False, loss=False),
    "two_threads": Focus(0.1, writes=False, state=False),
    "donated": Focus(0.08, writes=False),
    "nodes": Focus(0.05, writes=False, loss=False, state=False, sized=True),
    "onnx": Focus(0.05, state=False),
    "outside": Focus(0.1, dtypes=("float32", "float32", "float64"), outside=True),
    "tess_run": Focus(0.05, dtypes=tuple(d for d in _ALL_DTYPES if d != "bfloat16"), state=False),
    "traced_module": Focus(0.04, loss=False),
}


def mode_of(seed):
    """The mode that the seed's program is drawn for; empty for any program."""
    place = np.random.RandomState(seed ^ 0xF0C5).rand()
    for mode, focus in BY_MODE.items():
        place -= focus.share
        if place < 0:
            return mode
    return ""


def of(seed):
    """What the seed's program must be."""
    return BY_MODE.get(mode_of(seed), ANY)
