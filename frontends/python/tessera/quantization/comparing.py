"""Two models of one structure, layer by layer: the first layer whose results differ."""

from dataclasses import dataclass

import numpy as np

from .. import _core
from .._tree import flatten
from ..autodiff.modes import no_grad
from ..module.module import Module
from ..tensor import Tensor


@dataclass(frozen=True)
class LayerDifference:
    """The largest difference between the results of two layers called `name`: infinite where shapes
    differ or one result is not a number; `count` elements differ.
    """

    name: str
    largest: float
    count: int


@dataclass(frozen=True)
class LayerComparison:
    """Differences of all layers that both models call, in the order in which the first one's end.

    >>> from tessera.quantization import LayerComparison, LayerDifference
    >>> rows = LayerDifference("a", 0.0, 0), LayerDifference("b", 0.5, 2)
    >>> print(LayerComparison(rows).first)
    LayerDifference(name='b', largest=0.5, count=2)
    """

    layers: tuple[LayerDifference, ...]

    @property
    def first(self):
        """The first LayerDifference that is one; None: all results are equal."""
        return next((each for each in self.layers if each.count), None)

    def __str__(self):
        if self.first is None:
            return f"{len(self.layers)} layers, all equal"
        rows = [f"{each.name or 'the model'}: {each.count} elements differ by {each.largest:g} at "
                f"most" for each in self.layers if each.count]  # fmt: skip
        return "\n".join(rows)


def compare_layers(first, second, *inputs, **kwargs):
    """Calls two models with the same inputs and compares the results of their layers, which are
    found by their names: a QAT model in inference with the quantized one, for example.

    Quantized results are compared by the numbers that they stand for. The two must have layers of
    the same names; layers that only one has do not count.

    Args:
        first, second: Module
        inputs, kwargs: what both are called with

    Returns:
        LayerComparison

    Raises:
        TypeError: first and second must be modules
        ValueError: both must call layers of the same names

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> from tessera.quantization import compare_layers, quantize, quantize_qat
    >>> net = quantize_qat(M.Sequential(M.QuantStub(), M.Linear(4, 2), M.DequantStub()))
    >>> x = ts.random.normal(size=(3, 4))
    >>> _ = net(x)
    >>> print(compare_layers(net.eval(), quantize(net, inplace=False), x))
    4 layers, all equal
    """
    for model in (first, second):
        if not isinstance(model, Module):
            raise TypeError(f"compare_layers: models must be modules, got {type(model).__name__}")
    wanted, found = (_results(model, inputs, kwargs) for model in (first, second))
    names = [name for name in wanted if name in found]
    if not [name for name in names if name]:
        raise ValueError(
            f"compare_layers: both models must call layers of the same names, got "
            f"{sorted(wanted)} and {sorted(found)}"
        )
    return LayerComparison(tuple(_difference(name, wanted[name], found[name]) for name in names))


def _results(model, inputs, kwargs):
    """{name: arrays of the results of all calls} of the layers, in the order in which they end."""
    found, handles = {}, []
    try:
        for name, module in model.named_modules():
            handles.append(module.register_forward_hook(_Noting(found, name)))
        with no_grad():
            model(*inputs, **kwargs)
    finally:
        for handle in handles:
            handle.remove()
    return found


class _Noting:
    """Forward hook that notes the tensors of a result as arrays."""

    def __init__(self, found, name):
        self._found, self._name = found, name

    def __call__(self, module, inputs, outputs):
        arrays = [_numbers(leaf) for leaf in flatten(outputs)[0] if isinstance(leaf, Tensor)]
        self._found.setdefault(self._name, []).extend(arrays)


def _numbers(tensor):
    return (
        tensor if _core.quantization(tensor.dtype) is None else tensor.astype("float32")
    ).numpy()


def _difference(name, wanted, found):
    if [each.shape for each in wanted] != [each.shape for each in found]:
        return LayerDifference(name, np.inf, max(sum(map(np.size, wanted)), 1))
    largest, count = 0.0, 0
    for first, second in zip(wanted, found, strict=True):
        first, second = first.astype(np.float64), second.astype(np.float64)
        differs = (first != second) & ~(np.isnan(first) & np.isnan(second))
        if differs.any():
            count += int(differs.sum())
            sizes = np.abs(first - second)[differs]
            largest = max(largest, float(np.where(np.isnan(sizes), np.inf, sizes).max()))
    return LayerDifference(name, largest, count)
