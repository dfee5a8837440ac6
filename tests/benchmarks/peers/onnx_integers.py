"""Files of int8, which onnxruntime.quantization makes of those of float32.

Numbers that only leave a layer to enter another one stay integers (QDQ): the form that ONNX
Runtime and OpenVINO both compile to kernels of integers.
"""

from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_static,
)
from onnxruntime.quantization.shape_inference import quant_pre_process


class Batch(CalibrationDataReader):
    """The network's own inputs, once: random weights have nothing better to be calibrated by."""

    def __init__(self, arrays):
        self.left = [{f"arg{i}": array for i, array in enumerate(arrays)}]

    def get_next(self):
        return self.left.pop() if self.left else None


def write(floats, arrays, path):
    """Writes the int8 form of the file `floats` to `path`, calibrated by the arrays."""
    simple = path.with_suffix(".simple.onnx")  # a norm becomes part of its convolution
    quant_pre_process(floats, simple, skip_symbolic_shape=True)
    quantize_static(
        simple,
        path,
        Batch(arrays),
        quant_format=QuantFormat.QDQ,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
        per_channel=True,
    )
