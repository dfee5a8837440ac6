"""Functions that compute ONNX's operators, where a record's field says not enough."""

from . import (  # noqa: F401
    attention,
    control,
    convolution,
    creation,
    elementwise,
    images,
    indexing,
    integers,
    linear,
    losses,
    normalization,
    pooling,
    quantization,
    recurrent,
    reductions,
    resize,
    sequences,
    shapes,
    signal,
)
