"""EasyQuant: scales by which the layers of a network change their results least."""

import numpy as np

from .. import functional as F  # noqa: N812
from .._tree import flatten, unflatten
from ..autodiff.modes import no_grad
from ..logger import get_logger
from ..tensor import Tensor
from .observer import PassiveObserver
from .switches import disable_fake_quant, enable_fake_quant, hook_qat_module


def apply_easy_quant(module, data, start=0.8, stop=1.2, num=40):
    """Searches scales of PassiveObservers, those of all weights and then those of all activations.

    The scale of a layer becomes the one, of `num` between `start` and `stop` times the scale that
    was set first, at which the layer's results with fake-quantization are most like those without:
    the cosine between them, in the mean over the samples, is largest (D. Wu et al.,
    arXiv:2006.16669). Layers before it have fake-quantization with the scales found for them.

    Args:
        module: Module, a network with `passive_qconfig`, in inference mode
        data: float[N, *D], a batch that it is called with
        start: float above 0
        stop: float
        num: int, at least 1

    Returns:
        Module, the network

    Raises:
        ValueError: observers must be PassiveObservers; start and num must be above 0, and stop at
            least start

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> from tessera.quantization import apply_easy_quant, passive_qconfig, quantize_qat
    >>> from tessera.quantization import reset_qconfig
    >>> net = quantize_qat(M.Sequential(M.QuantStub(), M.Linear(4, 2)))
    >>> data = ts.functional.ones((3, 4))
    >>> _ = net(data)
    >>> net = apply_easy_quant(reset_qconfig(net, passive_qconfig), data, num=5)
    >>> observer = net[1].weight_observer
    >>> 0.79 < (observer.scale / observer.orig_scale).item() < 1.21
    True
    """
    if not (0 < start <= stop and num >= 1):
        raise ValueError(
            f"apply_easy_quant: start must be above 0 and at most stop, and num at least 1, got "
            f"{start}, {stop} and {num}"
        )
    shares = np.linspace(start, stop, num)
    with no_grad():
        both = F.concat([data, data])  # what goes on without fake-quantization, and with it
        for name in ("weight_observer", "act_observer"):
            handles = hook_qat_module(module, _Search(name, data.shape[0], shares))
            try:
                module(both)
            finally:
                for handle in handles:
                    handle.remove()
    return module


class _Search:
    """Forward hook of QAT modules that are called with a batch twice: the results of the first half
    are without fake-quantization, those of the second with it, once the scale was searched.
    """

    def __init__(self, name, size, shares):
        self._name, self._size, self._shares = name, size, shares
        self._done, self._is_busy = set(), False

    def __call__(self, module, inputs, outputs):
        if self._is_busy:  # a module within the one that is searched
            return None
        self._is_busy = True
        try:
            return self._results(module, inputs)
        finally:
            self._is_busy = False

    def _results(self, module, inputs):
        leaves, form = flatten(inputs)
        first = unflatten(form, [self._half(leaf, 0) for leaf in leaves])
        second = unflatten(form, [self._half(leaf, self._size) for leaf in leaves])
        disable_fake_quant(module)
        wanted = module.forward(*first)
        enable_fake_quant(module)
        observer = getattr(module, self._name)
        if observer is not None and id(module) not in self._done:
            self._done.add(id(module))
            self._search(module, observer, wanted, second)
        found = module.forward(*second)
        result = F.concat([wanted, found])
        result.qparams.update(found.qparams)
        return result

    def _half(self, leaf, start):
        if not isinstance(leaf, Tensor) or tuple(leaf.shape[:1]) != (2 * self._size,):
            return leaf  # no batch
        half = leaf[start : start + self._size]
        half.qparams.update(leaf.qparams)
        return half

    def _search(self, module, observer, wanted, inputs):
        if not isinstance(observer, PassiveObserver):
            raise ValueError(
                f"apply_easy_quant: {self._name} must be a PassiveObserver (reset_qconfig with "
                f"passive_qconfig), got {type(observer).__name__}"
            )
        best, best_scale = -np.inf, observer.scale.numpy()
        base = best_scale if observer.orig_scale is None else observer.orig_scale
        for share in self._shares:
            observer.scale = np.float32(base * share)
            likeness = _cosine(wanted, module.forward(*inputs))
            if likeness > best:
                best, best_scale = likeness, observer.scale.numpy()
        observer.scale = best_scale
        if best == -np.inf:
            get_logger(__name__).warning("apply_easy_quant: results of 0 show no better scale")


def _cosine(first, second):
    """Mean over the samples of the cosine between both; NaN where one is 0."""
    first, second = (each.reshape(each.shape[0], -1) for each in (first, second))
    lengths = F.sqrt((first * first).sum(1) * (second * second).sum(1))
    return ((first * second).sum(1) / lengths).mean().item()
