"""Modules and optimizers whose checkpoints are recorded, in names that both packages know."""

IMAGE, ROWS, SEQUENCE = ("normal", 2, 4, 6, 6), ("normal", 3, 4), ("normal", 5, 2, 3)

# Name of the case: (the module, what it is called with).
MODULES = {
    "lstm": ("LSTM(3, 4)", SEQUENCE),
    "lstm_layers": ("LSTM(3, 4, num_layers=2, bidirectional=True)", SEQUENCE),
    "lstm_without_bias": ("LSTM(3, 4, bias=False)", SEQUENCE),
    "rnn": ("RNN(3, 4)", SEQUENCE),
    "rnn_layers": (
        "RNN(3, 4, num_layers=2, bidirectional=True, nonlinearity='relu', batch_first=True)",
        SEQUENCE,
    ),
    "lstm_cell": ("LSTMCell(3, 4)", ("normal", 2, 3)),
    "rnn_cell": ("RNNCell(3, 4, nonlinearity='relu')", ("normal", 2, 3)),
    "rnn_cell_without_bias": ("RNNCell(3, 4, bias=False)", ("normal", 2, 3)),
    "linear": ("Linear(4, 5)", ROWS),
    "linear_relu": ("LinearRelu(4, 5)", ROWS),
    "linear_bn": ("LinearBn1d(4, 5)", ROWS),
    "linear_bn_relu": ("LinearBnRelu1d(4, 5)", ROWS),
    "batch_matmul": ("BatchMatMulActivation(2, 3, 4, nonlinear_mode='relu')", ("normal", 2, 3, 4)),
    "embedding": ("Embedding(7, 3)", ("indices", 7, 2, 4)),
    "conv1d": ("Conv1d(3, 4, 3, stride=2, padding=1)", ("normal", 2, 3, 9)),
    "conv2d": ("Conv2d(4, 6, 3, padding=1, groups=2)", IMAGE),
    "conv2d_reflect": ("Conv2d(4, 6, 3, padding=1, padding_mode='reflect')", IMAGE),
    "conv2d_replicate": ("Conv2d(4, 6, 3, padding=1, padding_mode='replicate')", IMAGE),
    "conv3d": ("Conv3d(2, 3, 3, padding=1)", ("normal", 1, 2, 4, 4, 4)),
    "conv_transpose2d": ("ConvTranspose2d(4, 6, 3, 2, 1, groups=2)", IMAGE),
    "conv_transpose2d_output": ("ConvTranspose2d(4, 6, 3, 2, 1, output_padding=1)", IMAGE),
    "conv_transpose3d": ("ConvTranspose3d(2, 3, 3, 2)", ("normal", 1, 2, 3, 3, 3)),
    "local_conv2d": ("LocalConv2d(4, 6, 6, 6, 3)", IMAGE),
    "deformable_conv2d": (
        "DeformableConv2d(4, 6, 3, padding=1)",
        ("normal", 1, 4, 5, 5),
        ("normal", 1, 18, 5, 5),
        ("positive", 1, 9, 5, 5),
    ),
    "region_restricted_conv": (
        "RegionRestrictedConv(4, 4, 3, 4, padding=1)",
        ("normal", 1, 4, 6, 6),
        ("indices", 3, 1, 6, 6),
        ("indices", 3, 1, 6, 6),
    ),
    "conv_bn": ("ConvBn2d(4, 6, 3)", IMAGE),
    "conv_bn_relu": ("ConvBnRelu2d(4, 6, 3)", IMAGE),
    "conv_relu": ("ConvRelu2d(4, 6, 3)", IMAGE),
    "conv_transpose_relu": ("ConvTransposeRelu2d(4, 6, 3)", IMAGE),
    "conv_transpose_bn": ("ConvTransposeBn2d(4, 6, 3)", IMAGE),
    "conv_transpose_bn_relu": ("ConvTransposeBnRelu2d(4, 6, 3)", IMAGE),
    "batch_norm1d": ("BatchNorm1d(4)", ("normal", 3, 4, 5)),
    "batch_norm2d": ("BatchNorm2d(4)", IMAGE),
    "batch_norm2d_training": ("BatchNorm2d(4).train", IMAGE),
    "layer_norm": ("LayerNorm((4, 6, 6))", IMAGE),
    "group_norm": ("GroupNorm(2, 4)", IMAGE),
    "instance_norm": ("InstanceNorm(4)", IMAGE),
    "general_norm": ("GeneralNorm((4,), normalized_axis=1)", IMAGE),
    "local_response_norm": ("LocalResponseNorm()", IMAGE),
    "prelu": ("PReLU(num_parameters=4)", IMAGE),
    "leaky_relu": ("LeakyReLU(0.2)", IMAGE),
    "gelu": ("GELU()", ROWS),
    "silu": ("SiLU()", ROWS),
    "max_pool2d": ("MaxPool2d(3, 2, 1)", IMAGE),
    "avg_pool2d": ("AvgPool2d(3, 2, 1)", IMAGE),
    "avg_pool2d_inside": ("AvgPool2d(3, 2, 1, mode='average')", IMAGE),
    "pad": ("Pad(((0, 0), (0, 0), (1, 2), (3, 0)), mode='reflect')", IMAGE),
    "pixel_shuffle": ("PixelShuffle(2)", IMAGE),
    "sliding_window": ("SlidingWindow(3, 1, 1)", IMAGE),
    "attention": ("MultiHeadAttention(8, 2)", *[("normal", 2, 3, 8)] * 3),
    "attention_without_bias": ("MultiHeadAttention(8, 2, bias=False)", *[("normal", 2, 3, 8)] * 3),
    "sequential": ("Sequential(M.Conv2d(4, 4, 3), M.BatchNorm2d(4), M.ReLU())", IMAGE),
}

# Name of the case: the optimizer of two parameters.
OPTIMIZERS = {
    "sgd": "SGD(params, lr=0.1)",
    "momentum": "SGD(params, lr=0.1, momentum=0.9, weight_decay=0.01)",
    "nesterov": "SGD(params, lr=0.1, momentum=0.9, nesterov=True)",
    "adam": "Adam(params, lr=0.01, betas=(0.8, 0.99), weight_decay=0.1)",
    "adamw": "AdamW(params, lr=0.01, weight_decay=0.1)",
    "adagrad": "Adagrad(params, lr=0.1, lr_decay=0.1, weight_decay=0.01)",
    "adadelta": "Adadelta(params, lr=1.0, rho=0.8, weight_decay=0.01)",
}
SHAPES, BEFORE, AFTER = ((3, 4), (5,)), 3, 2  # of the parameters; steps until the state, and on


def gradient(rng):
    """One for each parameter."""
    return [rng.normal(size=shape).astype("float32") for shape in SHAPES]
