"""One class for each operator record, made when it is first asked for.

`builtin.Softmax(axis=-1)` is an operator with its attributes; `core.apply(op, x)` runs it.
MegEngine's families that are one class with a `mode` are here too: `Elemwise(mode="add")`,
`Reduce(mode="sum")`.
An operator can be copied and pickled; equal ones have equal hashes.
"""

from ... import _core
from .families import FAMILIES


def __getattr__(name):
    if name in FAMILIES:
        found = FAMILIES[name]
    else:
        if name not in _names():
            raise AttributeError(f"builtin: name must be that of an operator, got {name!r}")
        found = _core.op_class(name)
    globals()[name] = found
    return found


def _rebuild(name, attributes):
    return _core.op_class(name)(**attributes)


def _reduce(self, protocol=None):
    return _rebuild, (self.name, self.props())


_core.OpDef.__reduce_ex__ = _reduce


def _names():
    return [record["opdef"] for record in _core.op_table()]


def __dir__():
    return sorted({*_names(), *FAMILIES})
