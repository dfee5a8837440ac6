"""Records of saved modules, changed on purpose."""

import io
import warnings

import numpy as np
import tessera as ts
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import tessera.traced_module as tm
from tessera import _core
from tessera.traced_module.traced_module import load_records

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def saved(module):
    """The bytes of a file."""
    file = io.BytesIO()
    ts.save(module, file)
    return file.getvalue()


def again(module):
    """The module of its file."""
    return ts.load(io.BytesIO(saved(module)))


def records(module):
    """[(kind, fields)] of a module, and its arrays."""
    data, arrays = module._records()
    return list(_core.RecordReader(data)), [value for _, value in arrays]


def written(rows):
    """The bytes of records."""
    writer = _core.RecordWriter()
    for kind, fields in rows:
        writer.add(kind, fields)
    return writer.bytes()


def changed(module, change):
    """The module of records that `change(rows)` has changed, or of those that it returns."""
    rows, arrays = records(module)
    found = change(rows)
    return load_records(written(rows if found is None else found), arrays)


def of_kind(rows, kind):
    """The fields of all records of the kind."""
    return [fields for each, fields in rows if each == kind]


class Inner(M.Module):
    """A module below."""

    def forward(self, x):
        return F.exp(x) * 2


class Net(M.Module):
    """Has every kind of record."""

    def __init__(self):
        super().__init__()
        self.inner, self.linear, self.items = Inner(), M.Linear(3, 3), [ts.Parameter([1.0])]
        self.seen = ts.tensor([0.0])

    def forward(self, x, scale=2.0):
        y = self.linear(self.inner(x)) + ts.tensor([1.0, 2.0, 3.0])
        self.seen = y.sum()
        y = F.cond(y.sum() > 0, lambda z: z * 2 + x, lambda z: z - self.items[0], y)
        return {"y": F.reshape(y, (y.shape[0] * 3,)), "more": [x[..., 1], slice(1), 1 << 70]}


def net_of_every_record():
    """A module whose file has every kind of record."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tm.trace_module(Net(), ts.tensor(X))
