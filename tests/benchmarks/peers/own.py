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

    def program(self, network, inputs):
        """See the base."""
        program = jit.load(onnx_files.program_of(network))
        return _synced(program, own_networks.tensors(network, inputs))

    def training_step(self, network, inputs):
        """See the base."""
        return self._step(network, inputs, jit.trace)

    def eager_step(self, network, inputs):
        """See the base."""
        return self._step(network, inputs, lambda step: step)

    def integers(self, network, inputs):
        """See the base: the file that other peers read, by what the reader knows of integers."""
        from tessera import onnx  # no part of what a process for floats loads

        return self._constant(onnx.load(onnx_files.integers_of(network)), network, inputs)

    def own_integers(self, network, inputs):
        """See the base: as servers have it, bytes with a zero point between layers."""
        from tessera.quantization import PostTrainingConfig, quantize_model

        model, samples = own_networks.build(network).eval(), own_networks.tensors(network, inputs)
        config = PostTrainingConfig(activation_dtype="quint8")
        quantized, _ = quantize_model(model, [tuple(samples)], config)
        return self._constant(quantized, network, inputs)

    def weight_only(self, network, inputs):
        """See the base."""
        return _synced(own_networks.traced(network), own_networks.tensors(network, inputs))

    def _constant(self, model, network, inputs):
        """A trace of the model, whose weights are constants."""
        traced = jit.trace(capture_as_const=True)(lambda *inputs: model(*inputs))
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
