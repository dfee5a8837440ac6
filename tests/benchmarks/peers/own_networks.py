"""Networks in Tessera: those of frontends/examples, and small ones."""

import sys
from pathlib import Path

import numpy as np
import tessera
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
from tessera import jit
from tessera.module.quantized import WeightOnlyLinear
from tessera.utils.module_utils import set_expand_structure

from .network import WEIGHT_FORMS, weight

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "frontends" / "examples"))

from mobilenet import MobileNetV2  # noqa: E402
from networks import EncoderLayer, training  # noqa: E402, F401
from resnet import resnet18, resnet50  # noqa: E402

LOSSES = {"cross_entropy": F.cross_entropy, "square": F.square_loss}


class Lstm(M.Module):
    """The outputs of one layer."""

    def __init__(self, width):
        super().__init__()
        self.layer = M.LSTM(width, width)

    def forward(self, x):
        """float[L, N, width], as the result is."""
        return self.layer(x)[0]

    def set_weights(self):
        """The layer has its four weights in one tensor."""
        width = self.layer.hidden_size
        shapes = {f"weight_{each}_l0": (4 * width, width) for each in ("ih", "hh")}
        shapes |= {f"bias_{each}_l0": (4 * width,) for each in ("ih", "hh")}
        parts = [weight(name, shape).reshape(-1) for name, shape in shapes.items()]
        flat = self.layer._flatten_weights
        flat[...] = tessera.tensor(np.concatenate(parts).reshape(flat.shape))


class Matmul(M.Module):
    """A product of two arguments."""

    def forward(self, x, y):
        """float[M, K] and float[K, N]."""
        return F.matmul(x, y)


class Block(M.Module):
    """A decoder's layer, for one position after the ones whose keys and values are given."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = M.LayerNorm(width), M.LayerNorm(width)
        self.qkv, self.out = M.Linear(width, 3 * width), M.Linear(width, width)
        self.up, self.down = M.Linear(width, 4 * width), M.Linear(4 * width, width)

    def forward(self, x, keys, values):
        """float[N, 1, width], and float[N, heads, L, width / heads] twice."""
        count, _, width = x.shape
        qkv = self.qkv(self.norm1(x)).reshape(count, 1, 3, self.heads, width // self.heads)
        query, key, value = (qkv[:, :, i].transpose(0, 2, 1, 3) for i in range(3))
        mixed = F.nn.scaled_dot_product_attention(
            query, F.concat([keys, key], 2), F.concat([values, value], 2)
        )
        x = x + self.out(mixed.transpose(0, 2, 1, 3).reshape(count, 1, width))
        return x + self.down(F.gelu(self.up(self.norm2(x)))), key, value


class Decoder(M.Module):
    """A step of GPT: logits of the next word, and what its keys and values are."""

    def __init__(self, layers, width, heads, words):
        super().__init__()
        self.token = M.Embedding(words, width)
        self.blocks = M.ModuleList([Block(width, heads) for _ in range(layers)])
        self.norm, self.head = M.LayerNorm(width), M.Linear(width, words, bias=False)

    def forward(self, token, keys, values):
        """int[N], and float[layers, N, heads, L, width / heads] twice."""
        x, made = F.expand_dims(self.token(token), 1), []
        for number, block in enumerate(self.blocks):
            x, *new = block(x, keys[number], values[number])
            made.append(new)
        new_keys, new_values = (F.stack(list(each)) for each in zip(*made, strict=True))
        return self.head(self.norm(x))[:, 0], new_keys, new_values


def mlp(*sizes):
    """Linear layers with ReLU between them."""
    pairs = zip(sizes, sizes[1:], strict=False)
    layers = [layer for pair in pairs for layer in (M.Linear(*pair), M.ReLU())]
    return M.Sequential(*layers[:-1])


BUILDERS = {
    "resnet": lambda depth: {18: resnet18, 50: resnet50}[depth](),
    "mobilenet": MobileNetV2,
    "encoder": lambda layers: M.Sequential(*(EncoderLayer() for _ in range(layers))),
    "decoder": Decoder,
    "lstm": Lstm,
    "matmul": Matmul,
    "linear": lambda width: M.Linear(width, width),
    "convolution": lambda channels, groups: M.Conv2d(
        channels, channels, 3, padding=1, groups=groups
    ),
    "mlp": mlp,
}


def with_integer_weights(model, **form):
    """Replaces all linear layers of the model."""
    for name, layer in list(model.named_modules()):
        if type(layer) is M.Linear:
            made = WeightOnlyLinear.from_float_module(layer, **form)
            set_expand_structure(model, name, made)


def build(network):
    """The module of a Network, with its weights."""
    model = BUILDERS[network.kind](*network.options)
    if isinstance(model, Lstm):
        model.set_weights()
    else:
        state = model.state_dict()
        model.load_state_dict({name: weight(name, each.shape) for name, each in state.items()})
    if network.weights:
        with_integer_weights(model, **WEIGHT_FORMS[network.weights])
    return model if network.dtype == "float32" else model.to(dtype=network.dtype)


def tensors(network, inputs):
    """Arrays as tensors of the Network's dtype."""
    made = [tessera.tensor(each) for each in inputs]
    if network.dtype == "float32":
        return made
    return [t.astype(network.dtype) if t.dtype.kind == "f" else t for t in made]


def traced(network):
    """The trace of a Network for inference, with its weights as constants."""
    model = build(network).eval()
    return jit.trace(capture_as_const=True)(lambda *inputs: model(*inputs))
