"""Modules and optimizers that both languages make and run, in Python's words."""

IMAGE, ROWS, SEQUENCE = ("normal", 2, 4, 6, 6), ("normal", 3, 4), ("normal", 2, 4, 9)
VOLUME, STATE = ("normal", 1, 2, 4, 4, 4), ("normal", 2, 4)
TOKENS = ("normal", 2, 5, 8)

# Name of the case: (the module, what it is called with).
MODULES = {
    "relu": ("ReLU()", ROWS),
    "sigmoid": ("Sigmoid()", ROWS),
    "silu": ("SiLU()", ROWS),
    "gelu": ("GELU()", ROWS),
    "mish": ("Mish()", ROWS),
    "elu": ("ELU(2.0)", ROWS),
    "leaky_relu": ("LeakyReLU(negative_slope=0.2)", ROWS),
    "prelu": ("PReLU()", ROWS),
    "prelu_channels": ("PReLU(4, init=0.5)", IMAGE),
    "softmax": ("Softmax()", ROWS),
    "softmax_axis": ("Softmax(2)", IMAGE),
    "identity": ("Identity()", ROWS),
    "flatten": ("Flatten()", IMAGE),
    "flatten_axes": ("Flatten(2, end_axis=3)", IMAGE),
    "dropout": ("Dropout(0.25)", IMAGE),
    "pad": ("Pad(((0, 0), (0, 0), (1, 2), (3, 0)), constant_val=2.0)", IMAGE),
    "pad_reflect": ("Pad(((0, 0), (0, 0), (1, 2), (3, 0)), mode='reflect')", IMAGE),
    "pad_edge": ("Pad(((1, 0), (0, 2)), mode='EDGE')", IMAGE),
    "pixel_shuffle": ("PixelShuffle(2)", IMAGE),
    "quant_stub": ("QuantStub()", ROWS),
    "dequant_stub": ("DequantStub()", ROWS),
    "linear": ("Linear(4, 5)", ROWS),
    "linear_without_bias": ("Linear(4, 5, bias=False, compute_mode='float32')", ROWS),
    "batch_matmul": ("BatchMatMulActivation(2, 3, 4, nonlinear_mode='relu')", ("normal", 2, 3, 4)),
    "batch_matmul_plain": ("BatchMatMulActivation(2, 3, 4, False)", ("normal", 2, 3, 4)),
    "embedding": ("Embedding(7, 3)", ("indices", 7, 2, 4)),
    "embedding_frozen": ("Embedding(7, 3, freeze=True)", ("indices", 7, 2, 4)),
    "conv1d": ("Conv1d(4, 6, 3, stride=2, padding=1)", SEQUENCE),
    "conv2d": ("Conv2d(4, 6, (3, 1), padding=(1, 0), groups=2, bias=False)", IMAGE),
    "conv2d_dilated": ("Conv2d(4, 6, 3, 1, 2, dilation=2)", IMAGE),
    "conv2d_reflect": ("Conv2d(4, 6, 3, padding=1, padding_mode='reflect')", IMAGE),
    "conv2d_replicate": ("Conv2d(4, 6, 3, padding=1, padding_mode='replicate')", IMAGE),
    "conv3d": ("Conv3d(2, 3, 3, padding=1)", VOLUME),
    "conv_transpose1d": ("ConvTranspose1d(4, 6, 3, 2)", SEQUENCE),
    "conv_transpose2d": ("ConvTranspose2d(4, 6, 3, 2, 1, groups=2)", IMAGE),
    "conv_transpose2d_output": ("ConvTranspose2d(4, 6, 3, 2, 1, output_padding=1)", IMAGE),
    "conv_transpose3d": ("ConvTranspose3d(2, 3, 3, 2)", VOLUME),
    "batch_norm1d": ("BatchNorm1d(4)", SEQUENCE),
    "batch_norm1d_rows": ("BatchNorm1d(4, momentum=0.5)", ROWS),
    "batch_norm2d": ("BatchNorm2d(4)", IMAGE),
    "batch_norm2d_frozen": ("BatchNorm2d(4, freeze=True)", IMAGE),
    "batch_norm2d_batch": ("BatchNorm2d(4, affine=False, track_running_stats=False)", IMAGE),
    "batch_norm3d": ("BatchNorm3d(2)", VOLUME),
    "sync_batch_norm": ("SyncBatchNorm(4, eps=0.01)", IMAGE),
    "layer_norm": ("LayerNorm((6, 6))", IMAGE),
    "layer_norm_plain": ("LayerNorm(4, affine=False)", ROWS),
    "group_norm": ("GroupNorm(2, 4)", IMAGE),
    "instance_norm": ("InstanceNorm(4, affine=False)", IMAGE),
    "rms_norm": ("RMSNorm(4)", ROWS),
    "general_norm": ("GeneralNorm((4, 6), normalized_axis=(1, -1))", IMAGE),
    "local_response_norm": ("LocalResponseNorm(3, alpha=0.5)", IMAGE),
    "max_pool1d": ("MaxPool1d(2)", SEQUENCE),
    "max_pool2d": ("MaxPool2d(3, 2, 1)", IMAGE),
    "max_pool3d": ("MaxPool3d(2, (1, 2, 2))", VOLUME),
    "avg_pool1d": ("AvgPool1d(3, 2)", SEQUENCE),
    "avg_pool2d": ("AvgPool2d(3, 2, 1)", IMAGE),
    "avg_pool2d_all": ("AvgPool2d(3, 2, 1, mode='average')", IMAGE),
    "avg_pool3d": ("AvgPool3d(2)", VOLUME),
    "adaptive_avg_pool2d": ("AdaptiveAvgPool2d(3)", IMAGE),
    "adaptive_max_pool2d": ("AdaptiveMaxPool2d((2, 4))", IMAGE),
    "conv_relu": ("ConvRelu2d(4, 6, 3)", IMAGE),
    "conv_bn": ("ConvBn2d(4, 6, 3, padding=1, eps=0.001)", IMAGE),
    "conv_bn_relu": ("ConvBnRelu2d(4, 6, 3, 2, momentum=0.5)", IMAGE),
    "conv_transpose_relu": ("ConvTransposeRelu2d(4, 6, 3)", IMAGE),
    "conv_transpose_bn": ("ConvTransposeBn2d(4, 6, 3)", IMAGE),
    "conv_transpose_bn_relu": ("ConvTransposeBnRelu2d(4, 6, 3, bias=False)", IMAGE),
    "linear_relu": ("LinearRelu(4, 5)", ROWS),
    "linear_bn": ("LinearBn1d(4, 5)", ROWS),
    "linear_bn_relu": ("LinearBnRelu1d(4, 5, bias=False)", ROWS),
    "sliding_window": ("SlidingWindow(3, 1, 2)", IMAGE),
    "sliding_window_transpose": (
        "SlidingWindowTranspose((4, 5), 2)",
        ("normal", 1, 2, 3, 4, 2, 2),
    ),
    "local_conv2d": ("LocalConv2d(4, 6, 6, 6, 3, padding=1, groups=2)", IMAGE),
    "region_restricted_conv": (
        "RegionRestrictedConv(4, 4, 3, 2, padding=1)",
        ("normal", 1, 4, 6, 6),
        ("indices", 3, 1, 6, 6),
        ("indices", 3, 1, 6, 6),
    ),
    "deformable_conv2d": (
        "DeformableConv2d(4, 6, 3, padding=1)",
        ("normal", 1, 4, 5, 5),
        ("normal", 1, 18, 5, 5),
        ("positive", 1, 9, 5, 5),
    ),
    "deformable_psroi_pooling": (
        "DeformablePSROIPooling(False, 3, 2, 2, 4, 1.0)",
        ("normal", 1, 4, 8, 8),
        ("boxes", 2),
        ("normal", 2, 2, 3, 3),
    ),
    "rnn_cell": ("RNNCell(3, 4, nonlinearity='relu')", ("normal", 2, 3), STATE),
    "rnn_cell_start": ("RNNCell(3, 4, bias=False)", ("normal", 2, 3)),
    "lstm_cell": ("LSTMCell(3, 4)", ("normal", 2, 3)),
    "gru_cell": ("GRUCell(3, 4)", ("normal", 2, 3), STATE),
    "attention": ("MultiHeadAttention(8, 2, 0.25, kdim=8)", TOKENS, TOKENS, TOKENS),
    "attention_without_bias": ("MultiHeadAttention(8, 2, bias=False)", TOKENS, TOKENS, TOKENS),
    "encoder": ("TransformerEncoderLayer(8, 2, 16)", TOKENS),
    "encoder_norm_first": (
        "TransformerEncoderLayer(8, 2, 16, 0.0, 'gelu', norm_first=True)",
        TOKENS,
    ),
}

# Modules that are called otherwise than with tensors: tested in module_test.cpp.
CALLED_OTHERWISE = {"Concat"}

# Name of the case: the optimizer of the parameters.
OPTIMIZERS = {
    "sgd": "SGD(params, lr=0.1)",
    "momentum": "SGD(params, lr=0.1, momentum=0.9, weight_decay=0.01)",
    "nesterov": "SGD(params, lr=0.1, momentum=0.9, nesterov=True)",
    "adam": "Adam(params, lr=0.01, betas=(0.8, 0.99), weight_decay=0.1)",
    "adamw": "AdamW(params, lr=0.01)",
    "adagrad": "Adagrad(params, lr=0.1, lr_decay=0.1, weight_decay=0.01)",
    "adadelta": "Adadelta(params, rho=0.8)",
    "rmsprop": "RMSprop(params, alpha=0.9, momentum=0.5)",
    "rmsprop_centered": "RMSprop(params, weight_decay=0.1, centered=True)",
    "ftrl": "Ftrl(params, l1=0.1, l2=0.1)",
    "lamb": "LAMB(params, lr=0.1, weight_decay=0.1)",
    "lamb_adapting": "LAMB(params, lr=0.1, bias_correction=False, always_adapt=True)",
    "lamb_fp16": "LAMBFp16(params, lr=0.1, weight_decay=0.1)",
    "lars": "LARS(params, lr=0.1, weight_decay=0.01, trust=0.1)",
    "adamax": "Adamax(params, betas=(0.8, 0.99))",
    "nadam": "Nadam(params, lr=0.01, weight_decay=0.1)",
    "lion": "Lion(params, lr=0.01, weight_decay=0.1)",
}
SHAPES, STEPS = ((3, 4), (5,)), 13  # of the parameters; more than Python waits before it compiles

# Name of the case: the schedule of the learning rate 0.5, and those that C++ has by hand.
SCHEDULES = {
    "multi_step": "MultiStepLR(optimizer, (2, 5), gamma=0.5)",
    "step_lr": "StepLR(optimizer, 3)",
    "exponential": "ExponentialLR(optimizer, 0.9)",
    "cosine": "CosineAnnealingLR(optimizer, 5, eta_min=0.01)",
    "linear_lr": "LinearLR(optimizer)",
    "constant_lr": "ConstantLR(optimizer, 0.25, total_iters=3)",
    "polynomial": "PolynomialLR(optimizer, total_iters=8, power=2.0)",
    "warmup": "WarmupLR(optimizer, 0.1)",
    "warmup_constant": "WarmupLR(optimizer, 0.1, 3, 'constant')",
    "restarts": "CosineAnnealingWarmRestarts(optimizer, 2, T_mult=2)",
}
SCHEDULES_BY_HAND = {
    "lambda_lr": "LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch))",
    "sequential_lr": "SequentialLR(optimizer, [ConstantLR(optimizer, 0.25, 9), "
    "ExponentialLR(optimizer, 0.5)], milestones=[4])",
    "chained": "ChainedScheduler([ConstantLR(optimizer, 0.25, 3), ExponentialLR(optimizer, 0.5)])",
    "plateau": "ReduceLROnPlateau(optimizer, factor=0.5, patience=1, cooldown=1)",
}
EPOCHS, METRICS = 12, (3.0, 2.0, 2.0, 2.0, 2.0, 1.5, 1.6, 1.6, 1.6, 1.6, 1.0, 1.0)

# Name of the case: what is refused, in the same words.
REFUSED_MODULES = {
    "groups": "Conv2d(3, 4, 3, groups=2)",
    "sizes": "Conv2d(3, 4, (3, 3, 3))",
    "transposed_groups": "ConvTranspose1d(3, 4, 3, groups=2)",
    "norm_groups": "GroupNorm(3, 4)",
    "norm_axes": "GeneralNorm((4, 6), normalized_axis=(1, 1))",
    "frozen_batch": "BatchNorm2d(3, track_running_stats=False, freeze=True)",
    "nonlinearity": "RNNCell(3, 4, nonlinearity='what')",
    "nonlinear_mode": "BatchMatMulActivation(2, 3, 4, nonlinear_mode='what')",
    "heads": "MultiHeadAttention(8, 3)",
    "encoder_activation": "TransformerEncoderLayer(8, 2, activation='what')",
}
REFUSED_OPTIMIZERS = {
    "negative_lr": "SGD(params, lr=-1.0)",
    "nesterov_alone": "SGD(params, lr=0.1, nesterov=True)",
    "large_beta": "Adam(params, lr=0.1, betas=(0.9, 1.5))",
    "large_rho": "Adadelta(params, rho=1.0)",
    "negative_decay": "Lion(params, weight_decay=-0.5)",
}
REFUSED_SCHEDULES = {
    "step_size": "StepLR(optimizer, 0)",
    "iterations": "LinearLR(optimizer, total_iters=0)",
    "negative_factor": "ConstantLR(optimizer, -0.5)",
    "warmup_method": "WarmupLR(optimizer, warmup_method='what')",
    "cosine_length": "CosineAnnealingLR(optimizer, 0)",
}
