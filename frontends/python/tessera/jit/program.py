"""Programs loaded from files, and the named dimensions of their inputs."""

import os
from dataclasses import dataclass

from .. import _core
from ..utils.progress import compiling


@dataclass(frozen=True)
class Dim:
    """A dimension that is free at run time: its name and inclusive bounds."""

    name: str
    min: int = 1
    max: int | None = None

    def __post_init__(self):
        if not self.name.isidentifier():
            raise ValueError(f"Dim: name must be an identifier, got {self.name!r}")
        if self.min < 0 or (self.max is not None and self.max < self.min):
            raise ValueError(f"Dim: bounds must be 0 <= min <= max, got {self.min} and {self.max}")


class Program:
    """A program from a `.tess` file: called with tensors, by position or by name.

    Tensors from outside that the function updated (random numbers' state, an optimizer's, a running
    mean) are the program's own: they start as they were when it was dumped, and each call goes on
    where the one before ended. Calls from several threads run one after the other. Another `load`
    of the file starts anew.
    """

    def __init__(self, program, path):
        self._program, self.path, self._names = program, path, program.inputs

    @property
    def inputs(self):
        """The names of the inputs."""
        return [*self._names]

    @property
    def outputs(self):
        """The names of the outputs."""
        return self._program.outputs

    @property
    def dims(self):
        """The named dimensions and their bounds."""
        return self._program.dims

    @property
    def bits_version(self):
        """The `bits_version` of the build that wrote the file: see `show_versions`; 0 before bits
        were counted."""
        return self._program.bits_version

    @property
    def planned_bytes(self):
        """Bytes that a run takes, by the memory plan."""
        return self._program.planned_bytes

    def state_dict(self):
        """What the program keeps between calls: copies by name; empty when it updates nothing."""
        return self._program.state()

    def load_state_dict(self, state_dict):
        """Takes over values by name; the others stay.

        ValueError: names, dtypes and shapes must be those of `state_dict()`. TypeError: values must
        be tensors.
        """
        self._program.set_state(dict(state_dict))

    def bind(self, *args, **kwargs):
        """The program bound to the shapes of these inputs, which are not read: for `estimate`."""
        self._program.bind(self._bind(args, kwargs))
        return self._program

    def bound(self):
        """The program at the sizes of its latest run, or at those of the file: for `explain`."""
        return self._program

    def graph_text(self):
        """The graph, for people."""
        return self._program.graph_text()

    def __call__(self, *args, **kwargs):
        results = self._program(*self._bind(args, kwargs))
        return results[0] if len(results) == 1 else tuple(results)

    def _bind(self, args, kwargs):
        names = self._names
        if len(args) == len(names) and not kwargs:
            return args
        given = dict(zip(names, args, strict=False))
        missing = [name for name in names if name not in given and name not in kwargs]
        unknown = [name for name in kwargs if name not in names or name in given]
        if missing or unknown or len(args) > len(names):
            got = [f"{len(args)} by position", *kwargs]
            raise TypeError(f"{os.path.basename(self.path)}: inputs must be {names}, got {got}")
        given.update(kwargs)
        return [given[name] for name in names]

    def _repr_html_(self):
        from ..utils.html import of_program  # for notebooks only

        return of_program(self)

    def __repr__(self):
        return f"Program({self.path!r}, inputs={self.inputs}, outputs={self.outputs})"


def load(path, allow_code=False):
    """The program in the file `path`, compiled from its graph.

    With `allow_code` the machine code in the file is run where it fits this machine: only for files
    that come from someone you would run a program of. Shapes and dtypes of its inputs are those of
    the traced function. FileNotFoundError: the file must exist. ValueError: it must be whole.

    >>> import tessera as ts
    >>> import tempfile
    >>> double = ts.jit.trace(lambda x: x * 2, capture_as_const=True)
    >>> _ = double(ts.tensor([1.0, 2.0]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = double.dump(f"{folder}/double.tess", arg_names=["x"])
    ...     program = ts.jit.load(f"{folder}/double.tess")
    >>> program(x=ts.tensor([3.0, 4.0])).tolist()
    [6.0, 8.0]
    """
    path = os.fspath(path)
    with compiling(f"compiling {os.path.basename(path)}"):
        program = _core.load_program(path, allow_code=allow_code)
    return Program(program, path)
