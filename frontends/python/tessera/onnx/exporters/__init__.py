"""Functions that write records as ONNX's operators, where a record's field says not enough."""

from . import (  # noqa: F401
    attention,
    complex_numbers,
    elementwise,
    layers,
    loops,
    movement,
    quantization,
    reductions,
)
