"""Functions that write records as ONNX's operators, where a record's field says not enough."""

from . import complex_numbers, elementwise, layers, loops, movement, reductions  # noqa: F401
