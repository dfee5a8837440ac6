"""Tessera's adapter: traced functions, and eager ones."""

import tessera
from tessera import jit
from tessera.optimizer import SGD, Adam

from . import onnx_files, own_networks
from .adapter import Adapter

MAKERS = {
    "sgd": lambda parameters: SGD(parameters, lr=0.01, momentum=0.9),
    "adam": lambda parameters: Adam(parameters, lr=1e-3),
}


def _synced(function, tensors):
    """`function` of tensors, until its result is there."""

    def run():
        result = function(*tensors)
        tessera.sync()
        return result

    return run


class Tessera(Adapter):
    """This package."""

    def threads(self, count):
        """See the base."""
        tessera.config.set_num_threads(count)

    def version(self):
        """See the base."""
        return tessera.__version__

    def inference(self, network, inputs):
        """See the base."""
        return _synced(own_networks.traced(network), own_networks.tensors(network, inputs))

    def training_step(self, network, inputs):
        """See the base."""
        return self._step(network, inputs, jit.trace)

    def eager_step(self, network, inputs):
        """See the base."""
        return self._step(network, inputs, lambda step: step)

    def integers(self, network, inputs):
        """See the base: the file that other peers read, by what the reader knows of integers."""
        from tessera import onnx  # no part of what a process for floats loads

        model = onnx.load(onnx_files.integers_of(network))
        traced = jit.trace(lambda *inputs: model(*inputs))
        return _synced(traced, own_networks.tensors(network, inputs))

    def _step(self, network, inputs, wrap):
        model = own_networks.build(network).train()
        optimizer = MAKERS[network.optimizer](model.parameters())
        step = own_networks.training(model, own_networks.LOSSES[network.loss], optimizer)
        return _synced(wrap(step), own_networks.tensors(network, inputs))

    def arrays(self, result):
        """See the base."""
        results = result if isinstance(result, (tuple, list)) else [result]
        return [each.astype("float32").numpy() for each in results]
