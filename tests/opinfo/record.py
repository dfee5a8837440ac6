"""Records PyTorch's OpInfo samples, their results and gradients: recorded/FAMILY.npz.

usage: tools/dev record [family ...]      PyTorch is needed here, and nowhere else in this folder.
"""

import collections
import sys
import warnings
from pathlib import Path

import numpy as np
import tessera
import torch
from torch.testing._internal import common_methods_invocations

from tests.opinfo import arguments, pools, table
from tests.opinfo.rows import UnlikeError
from tests.opinfo.samples import (
    few,
    name_of,
    numpy_of,
    results_of,
    rounded,
    short,
    small,
    stands_for,
    start,
)

# A kind of samples: the dtype that they are drawn in, and those that they run in, the widest first.
KINDS = {
    "float": ("float32", ("float64", "float32", "float16", "bfloat16")),
    "int": ("int32", ("int64", "int32")),
    "long": ("int64", ("int64",)),
    "bool": ("bool", ("bool",)),
    "complex": ("complex64", ("complex128", "complex64")),
}
IGNORED = ("device", "layout", "memory_format", "pin_memory", "requires_grad")


def given_of(sample, drawn, add):
    """Arguments and keywords as JSON, or None; `add(array)` is the number of an array."""

    def leaf(value):
        if isinstance(value, torch.dtype):
            return {"dtype": short(value)}
        if not isinstance(value, torch.Tensor):
            return None
        own = short(value.dtype)
        array = numpy_of(value)
        array = rounded(array) if own == drawn and array.dtype.kind in "fc" else array
        is_strided = value.numel() > 1 and not value.is_contiguous()
        flags = "g" * value.requires_grad + "s" * is_strided
        return {"tensor": [add(array), arguments.OF_RUN if own == drawn else own, flags]}

    kwargs = {name: each for name, each in sample.kwargs.items() if name not in IGNORED}
    try:
        args = arguments.encode([sample.input, *sample.args], leaf)
        return {"args": args, "kwargs": arguments.encode(kwargs, leaf)}
    except TypeError:
        return None  # a memory format or a generator: nothing that has a counterpart


class Recorder:
    """Calls of one family, and the arrays of them."""

    def __init__(self, family):
        """Nothing yet."""
        self.writer, self.rows = pools.Writer(), table.rows(family)
        self.arrays, self.calls, self.unlike = {}, {}, {}

    def _add(self, array):
        number = self.writer.add(array)
        self.arrays[number] = array
        return number

    def record(self, info):
        """All samples of an OpInfo."""
        name = name_of(info)
        self.unlike[name] = collections.Counter()
        found = [call for kind in KINDS for call in self._samples(info, name, kind)]
        self.calls[name] = found

    def _samples(self, info, name, kind):
        drawn, runs = KINDS[kind]
        if getattr(torch, drawn) not in info.dtypes:
            return
        if kind == "long" and torch.int32 in info.dtypes:
            return  # those of int32 run in int64, too, and tell indices from elements
        runs = [each for each in runs if getattr(torch, each) in info.dtypes]
        alike = [
            each for each in small(info, getattr(torch, drawn)) if self._alike(name, each, drawn)
        ]
        for sample in few(alike):
            given = given_of(sample, drawn, self._add)
            if recorded := list(self._runs(info, self.rows[name], sample, given, runs)):
                yield {"given": given, "runs": recorded}

    def _alike(self, name, sample, drawn):
        """Whether the row takes the arguments; what it has no counterpart of is counted."""
        arrays = []
        given = given_of(sample, drawn, lambda array: arrays.append(array) or len(arrays) - 1)

        def make(row):
            own = drawn if row[1] == arguments.OF_RUN else row[1]
            return tessera.Tensor(arrays[row[0]], dtype=own)

        if given is None:
            return False
        args, kwargs = (arguments.decode(given[each], make) for each in ("args", "kwargs"))
        try:
            self.rows[name].call(*args, **kwargs)
        except UnlikeError as error:
            self.unlike[name][str(error)] += 1
            return False
        except Exception:  # noqa: BLE001  # the test says what is wrong
            return True
        return True

    def _is_exact(self, given, dtype):
        """Whether every float dtype that is narrow has the numbers: float16 has no large ones."""
        if dtype not in ("float16", "bfloat16"):
            return True
        found = []
        (
            arguments.decode(given["args"], found.append),
            arguments.decode(given["kwargs"], found.append),
        )
        arrays = [self.arrays[row[0]] for row in found if row[1] == arguments.OF_RUN]
        return all(pools.is_exact(each, dtype) for each in arrays)

    def _runs(self, info, row, sample, given, runs):
        wide = None
        for dtype in runs:
            if not self._is_exact(given, dtype):
                continue
            try:
                got = self._run(info, row, sample, given, dtype)
            except (RuntimeError, NotImplementedError, IndexError, TypeError, ValueError):
                continue
            if any(short(each.dtype) == "complex32" for each in got[0]):
                continue  # a dtype that neither NumPy nor Tessera has
            wide = wide or got
            yield self._row(dtype, got, wide, row)

    def _run(self, info, row, sample, given, dtype):
        inputs = []

        def make(entry):
            number, own, flags = entry
            own = getattr(torch, dtype if own == arguments.OF_RUN else own)
            tensor = torch.from_numpy(np.array(self.arrays[number])).to(own)
            if "g" in flags and (own.is_floating_point or own.is_complex):
                inputs.append(tensor.requires_grad_())
            return tensor

        args, kwargs = (
            arguments.decode(given[each], make, lambda name: getattr(torch, name))
            for each in ("args", "kwargs")
        )
        kwargs |= {name: each for name, each in sample.kwargs.items() if name in IGNORED}
        results = results_of(info.op(*args, **kwargs))
        results = [results[i] for i in row.picks] if row.picks else results
        ends = [i for i, each in enumerate(results) if each.requires_grad] if inputs else []
        starts = [start(results[i], i) for i in ends]
        try:
            grads = torch.autograd.grad([results[i] for i in ends], inputs, starts,
                                        allow_unused=True) if ends else []  # fmt: skip
        except (RuntimeError, NotImplementedError):
            ends, grads = [], []
        return results, ends, grads

    def _row(self, dtype, got, wide, row):
        results, ends, grads = got
        same = len(wide[0]) == len(results)
        rows = [
            self._tensor(each, wide[0][i] if same else each, row.terms)
            for i, each in enumerate(results)
        ]
        pairs = [(each, wide[2][i] if ends == wide[1] else each) for i, each in enumerate(grads)]
        terms = row.gradient_terms
        gradients = [
            None if each is None else self._tensor(each, each if of is None else of, terms)
            for each, of in pairs
        ]
        return [dtype, rows, ends, gradients]

    def _tensor(self, tensor, wide, terms):
        """What the wide run gave, unless that is not the meaning of the narrow one."""
        own, dtype = numpy_of(tensor), short(tensor.dtype)
        if tensor.shape == wide.shape and stands_for(own, numpy_of(wide), dtype, terms):
            own = numpy_of(wide)
        flat = own.reshape(-1)
        return [dtype, list(tensor.shape), self._add(flat[arguments.kept(flat.size)])]


def main(families):
    """Writes the files of the families."""
    warnings.simplefilter("ignore")
    infos = {name_of(each): each for each in common_methods_invocations.op_db}
    for family in families or table.FAMILIES:
        recorder = Recorder(family)
        for name in table.rows(family):
            recorder.record(infos[name])
        document = {"torch": torch.__version__, "infos": sorted(infos), "calls": recorder.calls,
                    "unlike": recorder.unlike}  # fmt: skip
        path = Path(__file__).parent / "recorded" / f"{family}.npz"
        path.parent.mkdir(exist_ok=True)
        recorder.writer.save(path, document)
        count = sum(len(s["runs"]) for each in recorder.calls.values() for s in each)
        size = path.stat().st_size >> 10
        print(f"{family}: {len(recorder.calls)} OpInfos, {count} calls, {size} KiB")


if __name__ == "__main__":
    main(sys.argv[1:])
