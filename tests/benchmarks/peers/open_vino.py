"""OpenVINO's adapter."""

import openvino

from . import onnx_files
from .adapter import Adapter

PRECISIONS = {"float32": "f32", "bfloat16": "bf16"}


class OpenVino(Adapter):
    """Files of ONNX, compiled for the least time of a call."""

    def __init__(self):
        self.core, self.settings = openvino.Core(), {"PERFORMANCE_HINT": "LATENCY"}

    def threads(self, count):
        """See the base."""
        self.settings["INFERENCE_NUM_THREADS"] = count

    def version(self):
        """See the base."""
        return openvino.__version__.split("-")[0]

    def inference(self, network, inputs):
        """See the base. bfloat16 is inside: inputs and outputs are float32."""
        return self._run(onnx_files.file_of(network), inputs, PRECISIONS[network.dtype])

    def integers(self, network, inputs):
        """See the base."""
        return self._run(onnx_files.integers_of(network), inputs, "f32")

    def weight_only(self, network, inputs):
        """See the base."""
        return self._run(onnx_files.weight_only_of(network), inputs, "f32")

    def _run(self, file, inputs, precision):
        settings = {**self.settings, "INFERENCE_PRECISION_HINT": precision}
        request = self.core.compile_model(file, "CPU", settings).create_infer_request()
        for number, array in enumerate(inputs):
            request.set_input_tensor(number, openvino.Tensor(array, shared_memory=True))

        def run(_memory=inputs):  # which the tensors are in
            request.infer()
            return request

        return run

    def arrays(self, result):
        """See the base."""
        return [tensor.data.copy() for tensor in result.output_tensors]
