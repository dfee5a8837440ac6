"""Networks in JAX: functions of weights that have Tessera's names, with channels last."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .network import weight


class Weights:
    """Weights by name, made when a function first asks for them, and new statistics."""

    def __init__(self, known, is_training):
        self.known, self.is_training, self.statistics = known, is_training, {}

    def __call__(self, name, *shape, axes=None):
        """The weight of this name, stored with its axes in this order."""
        if name not in self.known:
            made = weight(name, shape)
            self.known[name] = np.ascontiguousarray(made.transpose(axes)) if axes else made
        return self.known[name]


def _within(name, last):
    return f"{name}.{last}" if name else last


def conv(w, name, x, outputs, size, stride=1, groups=1):
    """A convolution without bias."""
    shape, border = (outputs, x.shape[-1] // groups, size, size), (size // 2, size // 2)
    kernel = w(_within(name, "weight"), *shape, axes=(2, 3, 1, 0))
    return lax.conv_general_dilated(
        x, kernel, (stride, stride), (border, border), feature_group_count=groups,
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
    )  # fmt: skip


def norm(w, name, x):
    """Batch normalisation, whose statistics change in training."""
    size = x.shape[-1]
    scale, bias, mean, var = (
        w(f"{name}.{each}", size) for each in ("weight", "bias", "running_mean", "running_var")
    )
    if w.is_training:
        count = x.size // size
        batch = jnp.mean(x, (0, 1, 2)), jnp.var(x, (0, 1, 2))
        w.statistics[f"{name}.running_mean"] = 0.9 * mean + 0.1 * batch[0]
        w.statistics[f"{name}.running_var"] = 0.9 * var + 0.1 * batch[1] * count / (count - 1)
        mean, var = batch
    return (x - mean) * (lax.rsqrt(var + 1e-5) * scale) + bias


def linear(w, name, x, outputs, has_bias=True):
    """A product with the weight's rows."""
    y = x @ w(_within(name, "weight"), outputs, x.shape[-1], axes=(1, 0))
    return y + w(_within(name, "bias"), outputs) if has_bias else y


def layer_norm(x, scale, bias):
    """Over the last axis."""
    mean, var = jnp.mean(x, -1, keepdims=True), jnp.var(x, -1, keepdims=True)
    return (x - mean) * lax.rsqrt(var + 1e-5) * scale + bias


def residual(w, name, x, channels, stride, is_bottleneck):
    """ResNet's block."""
    outputs = channels * (4 if is_bottleneck else 1)
    sizes = [(1, 1), (3, stride), (1, 1)] if is_bottleneck else [(3, stride), (3, 1)]
    y = x
    for number, (size, step) in enumerate(sizes, 1):
        width = outputs if number == len(sizes) else channels
        y = norm(w, f"{name}.bn{number}", conv(w, f"{name}.conv{number}", y, width, size, step))
        y = y if number == len(sizes) else jax.nn.relu(y)
    if x.shape[-1] != outputs or stride != 1:
        x = conv(w, f"{name}.downsample.0", x, outputs, 1, stride)
        x = norm(w, f"{name}.downsample.1", x)
    return jax.nn.relu(y + x)


def resnet(w, depth, x):
    """ResNet-18 or ResNet-50."""
    x = jax.nn.relu(norm(w, "bn1", conv(w, "conv1", x, 64, 7, 2)))
    border = ((0, 0), (1, 1), (1, 1), (0, 0))
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), border)
    for stage, count in enumerate({18: (2, 2, 2, 2), 50: (3, 4, 6, 3)}[depth]):
        for number in range(count):
            stride = 2 if stage and not number else 1
            x = residual(w, f"layer{stage + 1}.{number}", x, 64 << stage, stride, depth >= 50)
    return linear(w, "fc", jnp.mean(x, (1, 2)), 1000)


MOBILENET = (
    (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
    (6, 320, 1, 1),
)  # fmt: skip


def mobilenet(w, x):
    """MobileNetV2."""

    def layer(name, number, x, outputs, size, stride=1, groups=1):
        y = conv(w, f"{name}.{number}", x, outputs, size, stride, groups)
        return norm(w, f"{name}.{number + 1}", y)

    x, number = jax.nn.relu6(layer("features", 0, x, 32, 3, 2)), 3
    for expansion, outputs, count, stride in MOBILENET:
        for block in range(count):
            name, y, at = f"features.{number}.conv", x, 0
            if expansion != 1:
                y, at = jax.nn.relu6(layer(name, 0, y, x.shape[-1] * expansion, 1)), 3
            step, hidden = 1 if block else stride, y.shape[-1]
            y = jax.nn.relu6(layer(name, at, y, hidden, 3, step, hidden))
            y = layer(name, at + 3, y, outputs, 1)
            x = x + y if step == 1 and x.shape[-1] == outputs else y
            number += 1
    x = jax.nn.relu6(layer("features", number, x, 1280, 1))
    return linear(w, "classifier.1", jnp.mean(x, (1, 2)), 1000)


def _heads(x, heads):
    """float[N, L, 3 * width] -> queries, keys and values, float[N, L, heads, width / heads]."""
    count, length, width = x.shape
    parts = x.reshape(count, length, 3, heads, width // 3 // heads)
    return parts[:, :, 0], parts[:, :, 1], parts[:, :, 2]


def encoder(w, layers, x):
    """Layers of attention and two linear ones."""
    width = x.shape[-1]
    for number in range(layers):
        query, key, value = _heads(linear(w, f"{number}.qkv", x, 3 * width), 8)
        mixed = jax.nn.dot_product_attention(query, key, value).reshape(x.shape)
        scales = [w(f"{number}.scales.{i}", width) for i in range(2)]
        biases = [w(f"{number}.biases.{i}", width) for i in range(2)]
        x = layer_norm(x + linear(w, f"{number}.out", mixed, width), scales[0], biases[0])
        hidden = jax.nn.relu(linear(w, f"{number}.up", x, 4 * width))
        x = layer_norm(x + linear(w, f"{number}.down", hidden, width), scales[1], biases[1])
    return x


def _named_norm(w, name, x):
    return layer_norm(x, w(f"{name}.weight", x.shape[-1]), w(f"{name}.bias", x.shape[-1]))


def decoder(w, layers, width, heads, words, token, keys, values):
    """A step of GPT."""
    x, made = jnp.asarray(w("token.weight", words, width))[token][:, None], []
    for number in range(layers):
        name = f"blocks.{number}"
        qkv = linear(w, f"{name}.qkv", _named_norm(w, f"{name}.norm1", x), 3 * width)
        query, *new = (each.transpose(0, 2, 1, 3) for each in _heads(qkv, heads))
        key, value = (
            jnp.concatenate([old[number], each], 2)
            for old, each in zip((keys, values), new, strict=True)
        )
        scores = query @ key.swapaxes(-1, -2) / (width // heads) ** 0.5
        mixed = (jax.nn.softmax(scores) @ value).transpose(0, 2, 1, 3).reshape(x.shape)
        x = x + linear(w, f"{name}.out", mixed, width)
        y = linear(w, f"{name}.up", _named_norm(w, f"{name}.norm2", x), 4 * width)
        x = x + linear(w, f"{name}.down", jax.nn.gelu(y, approximate=False), width)
        made.append(new)
    logits = linear(w, "head", _named_norm(w, "norm", x), words, has_bias=False)[:, 0]
    return logits, *(jnp.stack(each) for each in zip(*made, strict=True))


def lstm(w, width, x):
    """The outputs of one layer."""
    first, second = (w(f"weight_{each}_l0", 4 * width, width, axes=(1, 0)) for each in ("ih", "hh"))
    bias = w("bias_ih_l0", 4 * width) + w("bias_hh_l0", 4 * width)
    parts = x @ first + bias

    def step(state, part):
        h, c = state
        i, f, g, o = jnp.split(part + h @ second, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zeros = jnp.zeros((x.shape[1], width), x.dtype)
    return lax.scan(step, (zeros, zeros), parts)[1]


def convolution(w, channels, groups, x):
    """3 x 3 with bias."""
    return conv(w, "", x, channels, 3, groups=groups) + w("bias", channels)


def mlp(w, *sizes_and_input):
    """Linear layers with ReLU between them."""
    *sizes, x = sizes_and_input
    for number, size in enumerate(sizes[1:]):
        x = linear(w, str(2 * number), jax.nn.relu(x) if number else x, size)
    return x


FUNCTIONS = {
    "resnet": resnet,
    "mobilenet": mobilenet,
    "encoder": encoder,
    "decoder": decoder,
    "lstm": lstm,
    "matmul": lambda _, x, y: x @ y,
    "linear": lambda w, width, x: linear(w, "", x, width),
    "convolution": convolution,
    "mlp": mlp,
}


def build(network, inputs, is_training):
    """A function of weights and inputs that gives outputs and new statistics; the weights."""
    function = FUNCTIONS[network.kind]

    def run(known, *inputs):
        weights = Weights(known, is_training)
        outputs = function(weights, *network.options, *inputs)
        return outputs, weights.statistics

    known = {}
    jax.eval_shape(functools.partial(run, known), *inputs)
    return run, {n: jnp.asarray(each, network.dtype) for n, each in known.items()}
