"""Layers whose weights alone are integers, beside activations that are floats or become int8."""

import numpy as np

from ... import functional as F  # noqa: N812
from ...functional.generated import check_choice
from ...tensor import Parameter, Tensor
from ..embedding import Embedding
from ..fused import LinearRelu
from ..linear import Linear
from ..module import Module

BITS, GROUPS = (4, 8), (0, 8, 16, 32, 64, 128, 256)
_ACTIVATIONS = ("float", "int8")


def check_bits(name, bits, group):
    """ValueError unless weights may have so many bits, and scales groups of that size."""
    if bits not in BITS:
        raise ValueError(f"{name}: bits must be 4 or 8, got {bits!r}")
    if group not in GROUPS:
        raise ValueError(f"{name}: group must be one of {list(GROUPS)}, got {group!r}")


class _WeightOnly(Module):
    """A weight of `rows` channels of `depth` numbers, and its scales; both are buffers."""

    def _add_weight(self, rows, depth, bits, group):
        check_bits(type(self).__name__, bits, group)
        self.bits, self.group = bits, group
        self.weight = Tensor(np.zeros((rows, depth if bits == 8 else -(-depth // 2)), np.int8))
        self.scale = Tensor(np.ones((rows, -(-depth // group)) if group else rows, np.float32))

    @staticmethod
    def _check_kind(layer, kind):
        if not isinstance(layer, kind):
            raise TypeError(f"from_float_module: layer must be of {kind.__name__}, got {layer!r}")

    def _set_weight(self, weight):
        """Quantizes a weight, float[rows, depth]."""
        floats = weight.detach().astype("float32").numpy()
        if not np.isfinite(floats).all():
            raise ValueError(f"{type(self).__name__}: weight must be finite, got inf or nan")
        rows, depth = floats.shape
        group = self.group or max(depth, 1)
        whole = np.zeros((rows, -(-depth // group), group), np.float32)
        whole.reshape(rows, -1)[:, :depth] = floats
        largest = np.abs(whole).max(-1, initial=0.0)
        ends = np.float32(127 if self.bits == 8 else 7)
        scale = np.where(largest == 0, np.float32(1), largest / ends)
        scale = np.maximum(scale, np.finfo(np.float32).tiny)
        numbers = F.quantize(Tensor(whole), Tensor(scale[..., None]), 0, "int8").numpy()
        numbers = numbers.reshape(rows, -1)[:, :depth]
        numbers = _packed(numbers) if self.bits == 4 else numbers
        self.weight = Tensor(numbers, device=weight.device)
        self.scale = Tensor(scale if self.group else scale.reshape(rows), device=weight.device)

    def _module_info_string(self):
        return f"bits={self.bits}, group={self.group}"


def _packed(numbers):
    """int8[rows, ceil(depth / 2)]: two numbers of 4 bits in a byte, the first in its lower half."""
    whole = np.pad(numbers, ((0, 0), (0, numbers.shape[1] % 2)))
    return (whole[:, ::2] & 15 | whole[:, 1::2] << 4).astype(np.int8)


class WeightOnlyLinear(_WeightOnly):
    """Linear by a weight of integers: float[*B, I] to float[*B, O], of the dtype of x.

    The weight is int8[O, I], or of 4 bits, two in a byte, int8[O, ceil(I / 2)]; the scale is
    float32[O], or float32[O, ceil(I / group)] for groups of neighbours along I. Both are buffers,
    and zeros and ones until a state or `from_float_module` brings others. See
    `functional.quantized.weight_only_linear`, which `activations="int8"` has quantize each row of
    x, too. With `nonlinear_mode` "relu" ReLU follows.

    Raises:
        ValueError: bits must be 4 or 8; group must be 0 or a power of 2 from 8 to 256;
            nonlinear_mode must be "identity" or "relu"; activations must be "float" or "int8"

    >>> from tessera.module.quantized import WeightOnlyLinear
    >>> WeightOnlyLinear(64, 2, bits=4, group=32)
    WeightOnlyLinear(in_features=64, out_features=2, bias=True, bits=4, group=32)
    """

    activations = "float"

    def __init__(self, in_features, out_features, bias=True, bits=8, group=0,
                 nonlinear_mode="identity", activations="float", **kwargs):  # fmt: skip
        super().__init__(**kwargs)
        check_choice("WeightOnlyLinear", "nonlinear_mode", nonlinear_mode, ["identity", "relu"])
        check_choice("WeightOnlyLinear", "activations", activations, _ACTIVATIONS)
        self.nonlinear_mode = nonlinear_mode
        self.in_features, self.out_features = in_features, out_features
        self.activations = activations
        self._add_weight(out_features, in_features, bits, group)
        self.bias = Parameter(np.zeros(out_features, np.float32)) if bias else None

    @classmethod
    def from_float_module(cls, layer, bits=8, group=0, activations="float"):
        """Makes the layer of a Linear or a LinearRelu, with which it shares nothing.

        A scale is the largest absolute value of its numbers over 127, or over 7 of 4 bits; numbers
        are rounded to multiples of it, halves away from 0.

        TypeError: the layer must be a Linear. ValueError: bits, group and activations must be as
        for the class; the weight must be finite.

        >>> import tessera.module as M
        >>> from tessera.module.quantized import WeightOnlyLinear
        >>> WeightOnlyLinear.from_float_module(M.Linear(64, 2), group=32)
        WeightOnlyLinear(in_features=64, out_features=2, bias=True, bits=8, group=32)
        """
        cls._check_kind(layer, Linear)
        mode = "relu" if isinstance(layer, LinearRelu) else "identity"
        sizes = layer.in_features, layer.out_features
        made = cls(*sizes, False, bits, group, mode, activations, name=layer.name)
        made._set_weight(layer.weight)
        if layer.bias is not None:
            bias = layer.bias.detach()
            made.bias = Parameter(bias.numpy(), dtype=bias.dtype, device=bias.device)
        made.training = layer.training
        return made

    def forward(self, x):
        """See the class."""
        bias = None if self.bias is None else self.bias.astype(x.dtype)
        y = F.quantized.weight_only_linear(
            x, self.weight, self.scale, bias, self.bits, self.group, self.activations
        )
        return F.relu(y) if self.nonlinear_mode == "relu" else y

    def _module_info_string(self):
        sizes = f"in_features={self.in_features}, out_features={self.out_features}"
        text = f"{sizes}, bias={self.bias is not None}, {super()._module_info_string()}"
        return text if self.activations == "float" else f"{text}, activations={self.activations}"


class WeightOnlyEmbedding(_WeightOnly):
    """A table of `num_embeddings` rows of `embedding_dim` integers, read by index.

    Called with int[*D] it gives float[*D, embedding_dim] of `dtype`: numbers times scales in
    float32, rounded once. Weight and scale are those of a WeightOnlyLinear with rows as channels.

    Raises:
        ValueError: bits must be 4 or 8; group must be 0 or a power of 2 from 8 to 256; dtype must
            be "float32", "float16" or "bfloat16"

    >>> from tessera.module.quantized import WeightOnlyEmbedding
    >>> WeightOnlyEmbedding(10, 64, group=32)
    WeightOnlyEmbedding(num_embeddings=10, embedding_dim=64, bits=8, group=32)
    """

    def __init__(self, num_embeddings, embedding_dim, bits=8, group=0, dtype="float32", **kwargs):
        super().__init__(**kwargs)
        check_choice("WeightOnlyEmbedding", "dtype", dtype, ["float32", "float16", "bfloat16"])
        self.num_embeddings, self.embedding_dim, self.dtype = num_embeddings, embedding_dim, dtype
        self._add_weight(num_embeddings, embedding_dim, bits, group)

    @classmethod
    def from_float_module(cls, layer, bits=8, group=0, dtype="float32"):
        """Makes the table of an Embedding, as `WeightOnlyLinear.from_float_module` makes a layer.

        TypeError: the layer must be an Embedding. ValueError: bits, group and dtype must be as for
        the class; the weight must be finite.

        >>> import tessera.module as M
        >>> from tessera.module.quantized import WeightOnlyEmbedding
        >>> WeightOnlyEmbedding.from_float_module(M.Embedding(10, 64), bits=4)
        WeightOnlyEmbedding(num_embeddings=10, embedding_dim=64, bits=4, group=0)
        """
        cls._check_kind(layer, Embedding)
        sizes = layer.num_embeddings, layer.embedding_dim
        made = cls(*sizes, bits, group, dtype, name=layer.name)
        made._set_weight(layer.weight)
        made.training = layer.training
        return made

    def forward(self, inp):
        """See the class."""
        numbers, scale = self.weight[inp], self.scale[inp]
        if self.bits == 4:
            halves = [numbers << 4 >> 4, numbers >> 4]
            numbers = F.flatten(F.stack(halves, -1), -2)[..., : self.embedding_dim]
        scale = F.expand_dims(scale, -1)
        if self.group:
            scale = F.flatten(F.repeat(scale, self.group, -1), -2)[..., : self.embedding_dim]
        return (numbers.astype("float32") * scale).astype(self.dtype)

    def _module_info_string(self):
        sizes = f"num_embeddings={self.num_embeddings}, embedding_dim={self.embedding_dim}"
        return f"{sizes}, {super()._module_info_string()}"
