"""Settings of quantization after training."""

from collections.abc import Collection
from dataclasses import dataclass

from ...module.quantized.weight_only import check_bits

METHODS = ("min_max", "percentile", "entropy", "mse")
DTYPES = ("qint8", "quint8")
MODES = ("static", "dynamic", "weight_only")


@dataclass(frozen=True)
class PostTrainingConfig:
    """How `quantize_model` chooses integers.

    A range of activations is all that was seen ("min_max"); all but the share of numbers beyond
    `percentile`; the one that changes the distribution least by the Kullback-Leibler divergence
    ("entropy": S. Migacz, 8-bit inference with TensorRT, GTC 2017); or the one with the least mean
    squared error ("mse").

    Args:
        mode: "static": integers from layer to layer; "dynamic": linear layers alone, whose
            activations get the scale of their own largest number at each call; "weight_only":
            weights of linear layers and tables of embeddings, beside activations of floats
        method: "min_max", "percentile", "entropy" or "mse"
        percentile: float above 50, at most 100: of the numbers, in percent
        per_channel: whether weights have a scale for each channel of the result; else one
        activation_dtype: "qint8", without a zero point, or "quint8", with one
        keep_float: names of layers that stay float32; that of a module stands for all within
        equalize: whether ranges of channels are moved between neighbouring convolutions or linear
            layers (M. Nagel et al., arXiv:1906.04721, section 4.1)
        correct_bias: whether biases take back the mean error of their layer's sums on the samples
            (the same paper, section 4.2)
        bits: 8 or 4, those of a weight in the mode "weight_only"
        group: how many neighbours along a row of such a weight share a scale: a power of 2 from 8
            to 256, or 0 for the whole row

    Raises:
        ValueError: mode, method, percentile, activation_dtype, bits and group must be among these
            values; other modes than "weight_only" have 8 bits and no group
        TypeError: keep_float must be a list, tuple or set of names

    >>> from tessera.quantization import PostTrainingConfig
    >>> PostTrainingConfig(method="entropy").activation_dtype
    'qint8'
    """

    mode: str = "static"
    method: str = "min_max"
    percentile: float = 99.99
    per_channel: bool = True
    activation_dtype: str = "qint8"
    keep_float: Collection[str] = ()
    equalize: bool = False
    correct_bias: bool = False
    bits: int = 8
    group: int = 0

    def __post_init__(self):
        for name, known in (("mode", MODES), ("method", METHODS), ("activation_dtype", DTYPES)):
            value = getattr(self, name)
            if value not in known:
                raise ValueError(
                    f"PostTrainingConfig: {name} must be one of {', '.join(known)}, got {value!r}"
                )
        if not 50 < self.percentile <= 100:
            raise ValueError(
                f"PostTrainingConfig: percentile must be above 50 and at most 100, got "
                f"{self.percentile!r}"
            )
        check_bits("PostTrainingConfig", self.bits, self.group)
        if self.mode != "weight_only" and (self.bits, self.group) != (8, 0):
            raise ValueError(
                f"PostTrainingConfig: bits and group must be 8 and 0 in the mode {self.mode!r}, "
                f"got {self.bits} and {self.group}"
            )
        names = self.keep_float
        is_listed = isinstance(names, (list, tuple, set, frozenset))
        if not is_listed or not all(isinstance(each, str) for each in names):
            raise TypeError(
                f"PostTrainingConfig: keep_float must be a list, tuple or set of names, got "
                f"{names!r}"
            )
        object.__setattr__(self, "keep_float", tuple(names))
