"""Files of int8, which onnxruntime.quantization makes of those of float32.

Numbers that only leave a layer to enter another one stay integers (QDQ): the form that Tessera,
ONNX Runtime and OpenVINO compile to kernels of integers.
"""

import onnx
from onnx import helper, numpy_helper
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_static,
)
from onnxruntime.quantization.shape_inference import quant_pre_process

from .network import integer_matrix


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


def write_matmul(network, path, opset):
    """Writes the file of MatMulInteger: x, uint8[M, K], by a constant int8[K, N] to int32[M, N]."""
    (width,), (x,) = network.options, network.inputs
    types = onnx.TensorProto
    given = helper.make_tensor_value_info("arg0", types.UINT8, x.shape)
    made = helper.make_tensor_value_info("output0", types.INT32, (x.shape[0], width))
    node = helper.make_node("MatMulInteger", ["arg0", "matrix"], ["output0"])
    matrix = numpy_helper.from_array(integer_matrix(width), "matrix")
    graph = helper.make_graph([node], "matmul", [given], [made], [matrix])
    imports = [helper.make_opsetid("", opset)]
    version = helper.find_min_ir_version_for(imports)
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=version), path)
