"""What a module is made of, as a table."""

from dataclasses import dataclass

from .._tree import flatten
from ..jit.estimate import valueless
from ..jit.recording import record
from ..tensor import Tensor

_TITLES = ("name", "module", "parameters", "bytes", "result", "bytes")
_NUMBERS = ("parameters", "bytes")


@dataclass(frozen=True)
class Layer:
    """One row: a module's own parameters, and the result of its last call."""

    name: str  # the path from the root
    module: str  # the class
    parameters: int  # elements; a shared parameter counts where it is met first
    parameter_bytes: int
    results: tuple  # shapes
    result_bytes: int


@dataclass(frozen=True)
class Summary:
    """A module and all below in the order of their definition; `str` is the table.

    Operations are not counted, as no operator's record says how many it takes;
    utils.module_stats counts those of the layers it knows.
    """

    layers: tuple

    @property
    def parameters(self):
        """Elements of all parameters."""
        return sum(layer.parameters for layer in self.layers)

    @property
    def parameter_bytes(self):
        """Bytes of all parameters."""
        return sum(layer.parameter_bytes for layer in self.layers)

    def __str__(self):
        has_results = any(layer.results for layer in self.layers)
        rows = [_TITLES]
        for each in self.layers:
            shapes = ", ".join(map(str, each.results))
            of_result = str(each.result_bytes) if each.results else ""
            rows.append((each.name, each.module, str(each.parameters), str(each.parameter_bytes),
                         shapes, of_result))  # fmt: skip
        rows.append(("total", "", str(self.parameters), str(self.parameter_bytes), "", ""))
        columns = range(6 if has_results else 4)
        widths = [max(len(row[i]) for row in rows) for i in columns]
        return "\n".join(_line(row, widths) for row in rows)


def _line(row, widths):
    cells = (
        cell.rjust(width) if title in _NUMBERS else cell.ljust(width)
        for title, cell, width in zip(_TITLES, row, widths, strict=False)  # without results fewer
    )
    return "  ".join(cells).rstrip()


def summarize(module, inputs, kwargs):
    """See Module.summary."""
    results = _results_of_call(module, inputs, kwargs) if inputs or kwargs else {}
    seen, layers = set(), []
    for name, each in _defined("", module, set()):
        own = [item for item in each.parameters(recursive=False) if id(item) not in seen]
        seen.update(map(id, own))
        tensors = results.get(id(each), [])
        layers.append(Layer(
            name, type(each).__name__, sum(item.size for item in own), sum(map(_bytes, own)),
            tuple(tuple(item.shape) for item in tensors), sum(map(_bytes, tensors)),
        ))  # fmt: skip
    return Summary(tuple(layers))


def _bytes(tensor):
    return tensor.size * tensor.dtype.itemsize


def _defined(name, module, seen):
    seen.add(id(module))
    yield name, module
    for key, child in module._members(order=list):
        if not isinstance(child, Tensor) and id(child) not in seen:
            yield from _defined(f"{name}.{key}" if name else key, child, seen)


def _results_of_call(module, inputs, kwargs):
    """The tensors that each module gave, by id; they have shapes and dtypes only."""
    results, hooks = {}, []

    def _note(each, _, outputs):
        results[id(each)] = [leaf for leaf in flatten(outputs)[0] if isinstance(leaf, Tensor)]

    args, named = valueless(inputs, kwargs)
    tensors = [leaf for leaf in flatten((args, named))[0] if isinstance(leaf, Tensor)]
    try:
        hooks += [each.register_forward_hook(_note) for each in module.modules()]
        record(module, tensors, args, named, run=False)
    finally:
        for hook in hooks:
            hook.remove()
    return results
