"""ONNX Runtime's adapter."""

import onnxruntime

from . import onnx_files
from .adapter import Adapter


class OnnxRuntime(Adapter):
    """Files of ONNX, all optimizations on."""

    def __init__(self):
        self.options = onnxruntime.SessionOptions()
        self.options.log_severity_level = 3  # errors

    def threads(self, count):
        """See the base."""
        self.options.intra_op_num_threads = count
        self.options.inter_op_num_threads = 1

    def version(self):
        """See the base."""
        return onnxruntime.__version__

    def inference(self, network, inputs):
        """See the base. Its processor kernels have no bfloat16."""
        if network.dtype != "float32":
            return None
        return self._run(onnx_files.file_of(network), inputs)

    program = inference

    def integers(self, network, inputs):
        """See the base."""
        return self._run(onnx_files.integers_of(network), inputs)

    def weight_only(self, network, inputs):
        """See the base."""
        return self._run(onnx_files.weight_only_of(network), inputs)

    def _run(self, file, inputs):
        session = onnxruntime.InferenceSession(
            file, self.options, providers=["CPUExecutionProvider"]
        )
        binding = session.io_binding()
        for wanted, array in zip(session.get_inputs(), inputs, strict=True):
            value = onnxruntime.OrtValue.ortvalue_from_numpy(array)
            binding.bind_ortvalue_input(wanted.name, value)
        for made in session.get_outputs():
            binding.bind_output(made.name)

        def run(_memory=inputs):  # which the bound values are in
            session.run_with_iobinding(binding)
            return binding

        return run

    def arrays(self, result):
        """See the base."""
        return result.copy_outputs_to_cpu()
