"""PyTorch's adapters: eager, and torch.compile."""

import torch
from torch.nn import functional

from . import torch_networks
from .adapter import Adapter
from .network import integer_layer, integer_matrix

LAYOUT = torch.channels_last  # of images, as PyTorch advises for convolutions
LOSSES = {"cross_entropy": functional.cross_entropy, "square": functional.mse_loss}


def _optimizer(network, model):
    if network.optimizer == "adam":
        return torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    return torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, fused=True)


def _tensors(network, inputs):
    """Inputs; targets are int64, as PyTorch wants classes."""
    tensors = [torch.from_numpy(each) for each in inputs]
    tensors = [t if t.is_floating_point() else t.long() for t in tensors]
    dtype = getattr(torch, network.dtype)
    tensors = [t.to(dtype) if t.is_floating_point() else t for t in tensors]
    return [t.to(memory_format=LAYOUT) if t.ndim == 4 else t for t in tensors]


class PyTorch(Adapter):
    """Operator by operator."""

    def threads(self, count):
        """See the base."""
        torch.set_num_threads(count)

    def version(self):
        """See the base."""
        return torch.__version__

    def for_inference(self, model):
        """The function that is called."""
        return model

    def for_training(self, model):
        """The function that is called."""
        return model

    def inference(self, network, inputs):
        """See the base."""
        model = torch_networks.build(network).eval().requires_grad_(False)
        tensors, function = _tensors(network, inputs), self.for_inference(model)

        def run():
            with torch.no_grad():
                return function(*tensors)

        return run

    def trainer(self, network):
        """A function of a batch, inputs and target, that trains a Network and gives the loss."""
        model = torch_networks.build(network).train()
        optimizer, loss = _optimizer(network, model), LOSSES[network.loss]
        function = self.for_training(lambda *batch: loss(model(*batch[:-1]), batch[-1]))

        def step(*batch):
            value = function(*batch)
            value.backward()
            optimizer.step()
            optimizer.zero_grad()
            return value

        return step

    def training_step(self, network, inputs):
        """See the base."""
        step, tensors = self.trainer(network), _tensors(network, inputs)
        return lambda: step(*tensors)

    def eager_step(self, network, inputs):
        """See the base."""
        return self.training_step(network, inputs)

    def integers(self, network, inputs):
        """See the base: a product or a linear layer, as PyTorch's own quantization of servers
        writes it.
        """
        if network.kind == "integer_matmul":
            x, matrix = map(torch.from_numpy, (inputs[0], integer_matrix(*network.options)))
            product = self.for_training(lambda x: torch._int_mm(x, matrix))
            return lambda: product(x)
        if network.kind != "linear":
            return None
        x = torch.from_numpy(inputs[0])
        *arrays, step = integer_layer(inputs[0])
        numbers, scale, bias = map(torch.from_numpy, arrays)

        def layer(x):
            rounded = torch.clamp(torch.round(x / step), -128, 127).to(torch.int8)
            return torch._int_mm(rounded, numbers) * scale + bias

        function = self.for_training(layer)
        return lambda: function(x)

    def weight_only(self, network, inputs):
        """See the base: by the products that PyTorch's own quantization of decoders calls."""
        return self.inference(network, inputs)

    def arrays(self, result):
        """See the base."""
        results = result if isinstance(result, (tuple, list)) else [result]
        return [each.detach().float().numpy() for each in results]


class CompiledPyTorch(PyTorch):
    """By torch.compile: what PyTorch's documentation advises, with weights as constants."""

    def for_inference(self, model):
        """See the base."""
        return torch.compile(model, options={"freezing": True})

    def for_training(self, model):
        """See the base."""
        return torch.compile(model)

    def eager_step(self, network, inputs):
        """See the base: it is compiled."""
