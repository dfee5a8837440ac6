"""Networks in PyTorch, with the names that Tessera's parameters have."""

import torch
from torch import nn
from torch.nn import functional

from .network import WEIGHT_FORMS, weight, weight_of_form

# PyTorch's names, and the shared ones: those of frontends/examples/networks.py for the encoder.
_SHARED = {
    "lstm": {"layer.": ""},
    "encoder": {
        "self_attn.in_proj_weight": "qkv.weight",
        "self_attn.in_proj_bias": "qkv.bias",
        "self_attn.out_proj": "out",
        "linear1": "up",
        "linear2": "down",
        "norm1.weight": "scales.0",
        "norm2.weight": "scales.1",
        "norm1.bias": "biases.0",
        "norm2.bias": "biases.1",
        "layers.": "",
    },
}
_ENCODER_WIDTH, _ENCODER_HEADS = 256, 8


def _conv_norm(inputs, outputs, size, stride=1, groups=1):
    conv = nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False)
    return [conv, nn.BatchNorm2d(outputs)]


class Residual(nn.Module):
    """ResNet's block: two 3 x 3 convolutions, or a 3 x 3 between two of 1 x 1."""

    def __init__(self, inputs, channels, stride, is_bottleneck):
        super().__init__()
        outputs = channels * (4 if is_bottleneck else 1)
        sizes = [(1, 1), (3, stride), (1, 1)] if is_bottleneck else [(3, stride), (3, 1)]
        widths = [inputs, *[channels] * (len(sizes) - 1), outputs]
        self.count = len(sizes)
        for number, (size, step) in enumerate(sizes):
            conv, norm = _conv_norm(widths[number], widths[number + 1], size, step)
            setattr(self, f"conv{number + 1}", conv)
            setattr(self, f"bn{number + 1}", norm)
        self.downsample = nn.Identity()
        if inputs != outputs or stride != 1:
            self.downsample = nn.Sequential(*_conv_norm(inputs, outputs, 1, stride))

    def forward(self, x):
        y = x
        for number in range(1, self.count + 1):
            y = getattr(self, f"bn{number}")(getattr(self, f"conv{number}")(y))
            if number < self.count:
                y = functional.relu(y)
        return functional.relu(y + self.downsample(x))


class ResNet(nn.Module):
    """Deep Residual Learning for Image Recognition, table 1."""

    def __init__(self, depth):
        super().__init__()
        self.conv1, self.bn1 = _conv_norm(3, 64, 7, 2)
        counts = {18: (2, 2, 2, 2), 50: (3, 4, 6, 3)}[depth]
        inputs, is_bottleneck = 64, depth >= 50
        for stage, count in enumerate(counts):
            blocks, channels = [], 64 << stage
            for number in range(count):
                stride = 2 if stage and not number else 1
                blocks.append(Residual(inputs, channels, stride, is_bottleneck))
                inputs = channels * (4 if is_bottleneck else 1)
            setattr(self, f"layer{stage + 1}", nn.Sequential(*blocks))
        self.fc = nn.Linear(inputs, 1000)

    def forward(self, x):
        x = functional.max_pool2d(functional.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(functional.adaptive_avg_pool2d(x, 1), 1))


class InvertedResidual(nn.Module):
    """MobileNetV2's block."""

    def __init__(self, inputs, outputs, stride, expansion):
        super().__init__()
        hidden = inputs * expansion
        layers = [*_conv_norm(inputs, hidden, 1), nn.ReLU6()] if expansion != 1 else []
        layers += [*_conv_norm(hidden, hidden, 3, stride, hidden), nn.ReLU6()]
        self.conv = nn.Sequential(*layers, *_conv_norm(hidden, outputs, 1))
        self.is_residual = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.conv(x) if self.is_residual else self.conv(x)


MOBILENET = (
    (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
    (6, 320, 1, 1),
)  # fmt: skip


class MobileNet(nn.Module):
    """MobileNetV2: Inverted Residuals and Linear Bottlenecks, table 2."""

    def __init__(self):
        super().__init__()
        layers, channels = [*_conv_norm(3, 32, 3, 2), nn.ReLU6()], 32
        for expansion, outputs, count, stride in MOBILENET:
            for number in range(count):
                step = 1 if number else stride
                layers.append(InvertedResidual(channels, outputs, step, expansion))
                channels = outputs
        self.features = nn.Sequential(*layers, *_conv_norm(channels, 1280, 1), nn.ReLU6())
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(1280, 1000))

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3)))


class Block(nn.Module):
    """A decoder's layer, for one position after others."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, keys, values):
        count, _, width = x.shape
        qkv = self.qkv(self.norm1(x)).view(count, 1, 3, self.heads, width // self.heads)
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(
            query, torch.cat([keys, key], 2), torch.cat([values, value], 2)
        )
        x = x + self.out(mixed.transpose(1, 2).reshape(count, 1, width))
        return x + self.down(functional.gelu(self.up(self.norm2(x)))), key, value


class Decoder(nn.Module):
    """A step of GPT."""

    def __init__(self, layers, width, heads, words):
        super().__init__()
        self.token = nn.Embedding(words, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, token, keys, values):
        x, new_keys, new_values = self.token(token).unsqueeze(1), [], []
        for number, block in enumerate(self.blocks):
            x, key, value = block(x, keys[number], values[number])
            new_keys.append(key)
            new_values.append(value)
        return self.head(self.norm(x))[:, 0], torch.stack(new_keys), torch.stack(new_values)


class Int8Linear(nn.Module):
    """A linear layer whose weight is int8 with a scale for each output channel."""

    def __init__(self, layer):
        super().__init__()
        numbers, scale = weight_of_form(layer.weight.detach().numpy(), 8)
        self.register_buffer("numbers", torch.from_numpy(numbers))
        self.register_buffer("scale", torch.from_numpy(scale))
        self.bias = layer.bias

    def forward(self, x):
        y = torch._weight_int8pack_mm(x.flatten(0, -2), self.numbers, self.scale)
        y = y.view(*x.shape[:-1], -1)
        return y if self.bias is None else y + self.bias


class Int4Linear(nn.Module):
    """A linear layer whose weight is of 4 bits with a scale for each group of a row."""

    def __init__(self, layer, group):
        super().__init__()
        numbers, scale = weight_of_form(layer.weight.detach().numpy(), 4, group)
        self.group, self.outputs = group, len(numbers)
        more = -self.outputs % 16  # rows come in blocks
        unsigned = functional.pad(torch.from_numpy(numbers).int() + 8, (0, 0, 0, more))
        packed = torch._convert_weight_to_int4pack_for_cpu(unsigned, 1)
        scale = functional.pad(torch.from_numpy(scale), (0, 0, 0, more)).T
        self.register_buffer("packed", packed)
        self.register_buffer("pairs", torch.stack([scale, torch.zeros_like(scale)], -1))
        self.bias = layer.bias

    def forward(self, x):
        rows = x.flatten(0, -2)
        y = torch._weight_int4pack_mm_for_cpu(rows, self.packed, self.group, self.pairs)
        y = y.view(*x.shape[:-1], -1)[..., : self.outputs]
        return y if self.bias is None else y + self.bias


def with_integer_weights(module, bits, group=0, **_):
    """Replaces all linear layers within a module."""
    for name, each in module.named_children():
        if type(each) is nn.Linear:
            made = Int8Linear(each) if bits == 8 else Int4Linear(each, group)
            setattr(module, name, made)
        else:
            with_integer_weights(each, bits, group)


class Lstm(nn.Module):
    """The outputs of one layer."""

    def __init__(self, width):
        super().__init__()
        self.layer = nn.LSTM(width, width)

    def forward(self, x):
        return self.layer(x)[0]


class Matmul(nn.Module):
    """A product of two arguments."""

    def forward(self, x, y):
        return x @ y


def encoder(layers):
    """Layers of attention and two linear ones."""
    layer = nn.TransformerEncoderLayer(
        _ENCODER_WIDTH, _ENCODER_HEADS, 4 * _ENCODER_WIDTH, 0.0, batch_first=True
    )
    return nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)


def mlp(*sizes):
    """Linear layers with ReLU between them."""
    pairs = zip(sizes, sizes[1:], strict=False)
    layers = [layer for pair in pairs for layer in (nn.Linear(*pair), nn.ReLU())]
    return nn.Sequential(*layers[:-1])


BUILDERS = {
    "resnet": ResNet,
    "mobilenet": MobileNet,
    "encoder": encoder,
    "decoder": Decoder,
    "lstm": Lstm,
    "matmul": Matmul,
    "linear": lambda width: nn.Linear(width, width),
    "convolution": lambda channels, groups: nn.Conv2d(
        channels, channels, 3, padding=1, groups=groups
    ),
    "mlp": mlp,
}


def _shared(kind, name):
    """The name that Tessera has for a parameter."""
    for theirs, ours in _SHARED.get(kind, {}).items():
        name = name.replace(theirs, ours)
    return name


def build(network):
    """The module of a Network, with its weights."""
    model = BUILDERS[network.kind](*network.options)
    with torch.no_grad():
        for name, value in model.state_dict().items():
            if value.is_floating_point():
                found = weight(_shared(network.kind, name), tuple(value.shape))
                value.copy_(torch.from_numpy(found))
    if network.weights:
        with_integer_weights(model, **WEIGHT_FORMS[network.weights])
    return model.to(dtype=getattr(torch, network.dtype), memory_format=torch.channels_last)
