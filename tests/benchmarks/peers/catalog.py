"""Networks by the names of their rows.

Multiply-adds are those of the literature, or counted by hand; a training step has three times as
many as inference.
"""

from .network import WEIGHT_FORMS, Input, Network

_CLASSES = 1000
_WIDTH, _LAYERS, _LENGTH = 256, 4, 128  # the encoder, of frontends/examples/networks.py
_DECODER = 12, 768, 12, 50257  # layers, width, heads and words: GPT-2's smallest
_CACHED = 512
_RESNET18, _RESNET50, _MOBILENET = 1.814e9, 4.089e9, 0.301e9  # of an image of 224 x 224


def _image(count, size=224):
    return Input((count, 3, size, size))


def _resnet18(count, size=224):
    return Network("resnet", (18,), (_image(count, size),),
                   multiply_adds=_RESNET18 * count * (size / 224) ** 2)  # fmt: skip


def _encoder(loss=""):
    shape = (4, _LENGTH, _WIDTH)
    each = 12 * _WIDTH**2 + 2 * _LENGTH * _WIDTH  # of a position and layer
    inputs = (Input(shape),) * (2 if loss else 1)
    return Network("encoder", (_LAYERS,), inputs, loss,
                   multiply_adds=each * 4 * _LENGTH * _LAYERS * (3 if loss else 1))  # fmt: skip


def _decoder(dtype):
    layers, width, heads, words = _DECODER
    cache = Input((layers, 1, heads, _CACHED, width // heads))
    weights = layers * 12 * width**2 + words * width
    read = (weights + 2 * layers * _CACHED * width) * (4 if dtype == "float32" else 2)
    return Network("decoder", _DECODER, (Input((1,), words), cache, cache), dtype=dtype,
                   multiply_adds=weights, bytes_read=read)  # fmt: skip


def _decoder_of(form):
    """With float32 beside weights of integers: what a token reads are weights, scales and cache."""
    layers, width, heads, words = _DECODER
    cache = Input((layers, 1, heads, _CACHED, width // heads))
    numbers, rows = layers * 12 * width**2 + words * width, layers * 9 * width + words
    bits, group = (WEIGHT_FORMS[form].get(name) for name in ("bits", "group"))
    scales = numbers // group if group else rows
    read = numbers * bits // 8 + 4 * (scales + 2 * layers * _CACHED * width)
    return Network("decoder", _DECODER, (Input((1,), words), cache, cache), weights=form,
                   multiply_adds=numbers, bytes_read=read)  # fmt: skip


def _lstm(loss=""):
    shape, each = (100, 16, 256), 8 * 256**2
    return Network("lstm", (256,), (Input(shape),) * (2 if loss else 1), loss,
                   multiply_adds=100 * 16 * each * (3 if loss else 1))  # fmt: skip


def _matmul(rows, columns=1024, dtype="float32"):
    return Network("matmul", (), (Input((rows, 1024)), Input((1024, columns))), dtype=dtype,
                   multiply_adds=rows * 1024 * columns)  # fmt: skip


def _convolution(count, groups=1):
    each = 9 * 64 * 64 // groups
    return Network("convolution", (64, groups), (Input((count, 64, 56, 56)),),
                   multiply_adds=count * 56 * 56 * each)  # fmt: skip


def _mlp(sizes, count):
    each = sum(first * second for first, second in zip(sizes, sizes[1:], strict=False))
    return Network("mlp", sizes, (Input((count, sizes[0])), Input((count,), sizes[-1])),
                   "cross_entropy", "adam", multiply_adds=3 * count * each)  # fmt: skip


INFERENCE = {
    "ResNet-18 inference b1": _resnet18(1),
    "ResNet-18 inference b8": _resnet18(8),
    "ResNet-50 inference b1": Network("resnet", (50,), (_image(1),), multiply_adds=_RESNET50),
    "MobileNetV2 inference b1": Network("mobilenet", (), (_image(1),), multiply_adds=_MOBILENET),
    "Transformer encoder inference": _encoder(),
    "GPT decode float32": _decoder("float32"),
    "GPT decode bfloat16": _decoder("bfloat16"),
    "LSTM inference": _lstm(),
    "matmul 1024 x 1024 x 1024 float32": _matmul(1024),
    "matmul 1024 x 1024 x 1024 bfloat16": _matmul(1024, dtype="bfloat16"),
    "matmul 4096 x 1024 x 1024 float32": _matmul(4096),
    "matmul 4096 x 1024 x 1024 bfloat16": _matmul(4096, dtype="bfloat16"),
    "matmul 1 x 1024 x 1024 float32": _matmul(1),
    "convolution 3 x 3 b1": _convolution(1),
    "convolution 3 x 3 b8": _convolution(8),
    "depthwise 3 x 3 b1": _convolution(1, 64),
    "depthwise 3 x 3 b8": _convolution(8, 64),
}

TRAINING = {
    "ResNet-18 training b8": Network(
        "resnet",
        (18,),
        (_image(8, 64), Input((8,), _CLASSES)),
        "cross_entropy",
        multiply_adds=3 * 8 * _RESNET18 * (64 / 224) ** 2,
    ),
    "Transformer encoder training": _encoder("square"),
    "LSTM training": _lstm("square"),
    "MLP training": _mlp((784, 1024, 1024, 10), 128),
}

EAGER = {"eager small MLP training": _mlp((64, 128, 128, 10), 32)}

INTEGERS = {
    "matmul 1024 x 1024 x 1024 uint8 by int8": Network(
        "integer_matmul", (1024,), (Input((1024, 1024), dtype="uint8"),), multiply_adds=1024**3
    ),
    "linear layer 1024 x 1024 x 1024 int8": Network(
        "linear", (1024,), (Input((1024, 1024)),), multiply_adds=1024**3
    ),
    "convolution 3 x 3 b1 int8": _convolution(1),
    "ResNet-18 inference b1 int8": _resnet18(1),
    "ResNet-18 inference b8 int8": _resnet18(8),
    "MobileNetV2 inference b1 int8": Network(
        "mobilenet", (), (_image(1),), multiply_adds=_MOBILENET
    ),
}

OWN_INTEGERS = {
    f"{name} by quantize_model": INTEGERS[name]
    for name in ("ResNet-18 inference b1 int8", "ResNet-18 inference b8 int8",
                 "MobileNetV2 inference b1 int8")
}  # fmt: skip

WEIGHT_ONLY = {
    "GPT decode int8 by float32": _decoder_of("int8"),
    "GPT decode int4 by float32": _decoder_of("int4"),
    "GPT decode int4 by int8": _decoder_of("int4 by int8"),
}
