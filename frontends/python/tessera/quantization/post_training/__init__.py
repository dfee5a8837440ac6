"""Quantization after training: a float model and samples become a model of integers."""

from .config import PostTrainingConfig
from .conversion import converted
from .dynamic import DynamicLinear
from .report import LayerReport, QuantizationReport

__all__ = [
    "DynamicLinear",
    "LayerReport",
    "PostTrainingConfig",
    "QuantizationReport",
    "quantize_model",
]


def quantize_model(model, samples, config=None):
    """A quantized model of a trained float one, and a report; the float one stays as it is.

    The model is traced, batch norms are folded into the layers before them, and values are observed
    on the samples. Convolutions and linear layers, each with the addition and the activation behind
    it, become calls of `module.quantized` and `functional.quantized`. Between them values stay
    integers where they only move: through reshape, flatten, transpose, subscripts, max_pool2d and
    concat. Everything else is float32, with steps to integers and back around it; that gives the
    numbers of `functional.quantized` for elementwise functions, means and pools, too.

    Args:
        model: Module or TracedModule; control flow of its own must not depend on values. Or a
            Network without loops and state, or a model that `tessera.onnx.load` gave
        samples: iterable of inputs as they are in use, a few hundred in all: each a tensor, a tuple
            of arguments or a dict of arguments by name
        config: PostTrainingConfig; None: its defaults

    Returns:
        (a TracedModule in inference mode, a QuantizationReport)

    Raises:
        TypeError: model must be one of these, samples an iterable of inputs, config a
            PostTrainingConfig
        ValueError: there must be samples, and finite values of each layer; keep_float must name
            layers
        NotImplementedError: a Network must have no loops and no state

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> from tessera.quantization import quantize_model
    >>> net = M.Sequential(M.Conv2d(1, 4, 3), M.BatchNorm2d(4), M.ReLU()).eval()
    >>> quantized, report = quantize_model(net, [ts.random.normal(size=(2, 1, 8, 8))])
    >>> print(quantized.graph)
    Sequential.Graph (self, inp) {
            %3:     inp_1 = inp.astype(dtype('int8'), )
            %4:     _0 = getattr(self, "0") -> (ConvRelu2d)
            %5:     _2_out = _0(inp_1, )
            %6:     _2_out_1 = _2_out.astype('float32', )
            return _2_out_1
    }
    >>> [(each.name, each.kind) for each in report.layers]
    [('0', 'conv2d + relu')]
    """
    config = PostTrainingConfig() if config is None else config
    if not isinstance(config, PostTrainingConfig):
        raise TypeError(f"quantize_model: config must be a PostTrainingConfig, got {config!r}")
    return converted(model, samples, config)
