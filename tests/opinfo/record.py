"""Records PyTorch's OpInfo samples, their results and gradients: recorded/FAMILY.npz.

usage: tools/dev record [family ...]      PyTorch is needed here, and nowhere else in this folder.
"""

import collections
import sys
import warnings
from pathlib import Path

import numpy as np
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
    stands_for,
    start,
)

# A kind of samples: the dtype that they are drawn in, and those that they run in, the widest first.
KINDS = {
    "float": ("float32", ("float64", "float32", "float16", "bfloat16")),
    "int": ("int32", ("int64", "int32")),
    "bool": ("bool", ("bool",)),
    "complex": ("complex64", ("complex128", "complex64")),
}
_IGNORED = ("device", "layout", "memory_format", "pin_memory", "requires_grad")


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
        runs = [each for each in runs if getattr(torch, each) in info.dtypes]
        for sample in few(info, getattr(torch, drawn)):
            given = self._given(sample, drawn, kind)
            if given is None or not self._alike(name, given, drawn):
                continue
            if recorded := list(self._runs(info, self.rows[name], sample, given, runs)):
                yield {"given": given, "runs": recorded}

    def _given(self, sample, drawn, kind):
        def leaf(value):
            if isinstance(value, torch.dtype):
                return {"dtype": short(value)}
            if not isinstance(value, torch.Tensor):
                return None
            own = short(value.dtype)
            is_of_run = own == drawn
            array = numpy_of(value)
            array = rounded(array) if is_of_run and kind in ("float", "complex") else array
            is_strided = value.numel() > 1 and not value.is_contiguous()
            flags = "g" * value.requires_grad + "s" * is_strided
            return {"tensor": [self._add(array), arguments.OF_RUN if is_of_run else own, flags]}

        kwargs = {name: each for name, each in sample.kwargs.items() if name not in _IGNORED}
        try:
            args = arguments.encode([sample.input, *sample.args], leaf)
            return {"args": args, "kwargs": arguments.encode(kwargs, leaf)}
        except TypeError:
            return None  # a memory format or a generator: nothing that has a counterpart

    def _alike(self, name, given, drawn):
        """Whether the row takes the arguments; what it has no counterpart of is counted."""
        import tessera

        def make(row):
            own = drawn if row[1] == arguments.OF_RUN else row[1]
            return tessera.Tensor(self.arrays[row[0]], dtype=own)

        args, kwargs = (arguments.decode(given[each], make) for each in ("args", "kwargs"))
        try:
            self.rows[name].call(*args, **kwargs)
        except UnlikeError as error:
            self.unlike[name][str(error)] += 1
            return False
        except Exception:  # noqa: BLE001  # the test says what is wrong
            return True
        return True

    def _runs(self, info, row, sample, given, runs):
        wide = None
        for dtype in runs:
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
        kwargs |= {name: each for name, each in sample.kwargs.items() if name in _IGNORED}
        results = results_of(info.op(*args, **kwargs))
        results = [results[i] for i in row.picks] if row.picks else results
        ends = [i for i, each in enumerate(results) if each.requires_grad] if inputs else []
        if not row.differentiable:
            ends = []
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
