"""Networks of int8 as files of ONNX: what onnxruntime.quantization makes of the float32 ones.

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

from . import onnx_files


class _Inputs(CalibrationDataReader):
    """The network's own inputs, once: random weights have nothing better to be calibrated by."""

    def __init__(self, network):
        arrays = network.arrays()
        self.left = [{f"arg{i}": array for i, array in enumerate(arrays)}]

    def get_next(self):
        return self.left.pop() if self.left else None


def file_of(network):
    """The path of a network's file, in int8."""
    path = onnx_files.folder() / f"{network.key}.int8.onnx"
    if not path.exists():
        simple = path.with_suffix(".simple.onnx")  # a norm becomes part of its convolution
        quant_pre_process(onnx_files.file_of(network), simple, skip_symbolic_shape=True)
        quantize_static(
            simple, path, _Inputs(network), quant_format=QuantFormat.QDQ,
            activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, per_channel=True,
        )  # fmt: skip
    return str(path)
