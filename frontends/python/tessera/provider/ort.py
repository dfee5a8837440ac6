"""ONNX Runtime as a provider, and models in ONNX's files as operators.

The package `onnxruntime` is imported at its first use.
"""

import functools
import os
import re
import threading

import numpy as np

from .. import _core, config
from .._extras import importing
from .contract import Provider
from .onnx_shapes import ShapeInference
from .operator import ProviderOperator, register
from .signature import UNKNOWN, Signature, Value
from .subgraph import Subgraph, key_of

_CPU = "CPUExecutionProvider"
_TOOL = "onnx_runtime"
_OPSET = 21  # the newest that the oldest supported ONNX Runtime (1.18) runs
# Names of Tessera's dtypes and numbers of TensorProto.DataType by ONNX Runtime's names.
_DTYPES = {
    "tensor(float)": ("float32", 1), "tensor(uint8)": ("uint8", 2), "tensor(int8)": ("int8", 3),
    "tensor(uint16)": ("uint16", 4), "tensor(int16)": ("int16", 5), "tensor(int32)": ("int32", 6),
    "tensor(int64)": ("int64", 7), "tensor(bool)": ("bool", 9), "tensor(float16)": ("float16", 10),
    "tensor(double)": ("float64", 11), "tensor(uint32)": ("uint32", 12),
    "tensor(uint64)": ("uint64", 13), "tensor(bfloat16)": ("bfloat16", 16),
}  # fmt: skip
_TO_ONNX = dict(_DTYPES.values())


def _package():
    with importing(_TOOL, "the package onnxruntime", "tessera[provider]"):
        import onnxruntime
    return onnxruntime


class _Executable:
    """A model that is open: a session for each number of threads."""

    def __init__(self, program):
        self.program, self._sessions, self._lock = program, {}, threading.Lock()
        self._shapes = None
        self.ort_value = _package().OrtValue  # looked up once
        first = self.session()
        self.inputs, self.outputs = first.get_inputs(), first.get_outputs()
        self.signature = _signature_of(self.inputs, self.outputs)

    def session(self):
        """The session with as many threads as Tessera's kernels have."""
        threads = config.get_num_threads()
        found = self._sessions.get(threads)
        if found is None:
            with self._lock:
                found = self._sessions.get(threads) or _session(self.program, threads)
                self._sessions[threads] = found
        return found

    def shapes(self, shapes):
        """Shapes of the outputs by ONNX's shape inference."""
        with self._lock:
            if self._shapes is None:
                self._shapes = ShapeInference(self.program)
        shapes = [
            tuple(own if isinstance(own, int) else size
                  for own, size in zip(value.shape, shape, strict=True))
            for value, shape in zip(self.signature.inputs, shapes, strict=True)
        ]  # fmt: skip
        return self._shapes.shapes([value.name for value in self.signature.inputs], shapes)


def _session(program, threads, optimizes=True):
    onnxruntime = _package()
    options = onnxruntime.SessionOptions()
    if not optimizes:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 4  # what it would log is in the error
    # Its threads wait actively within a run alone: after it the cores are those of Tessera's.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    try:
        return onnxruntime.InferenceSession(program, options, providers=[_CPU])
    except Exception as error:  # its classes have no base of their own
        kind = NotImplementedError if _is_missing(error) else ValueError
        raise kind(
            f"{_TOOL}: model must be one that ONNX Runtime runs, got {_message(error)}"
        ) from error


def _is_missing(error):
    missing = ("is not a registered function/op", "No Op registered for")
    return type(error).__name__ == "NotImplemented" or any(each in str(error) for each in missing)


def _message(error):
    return " ".join(str(error).split())[:400]


def _signature_of(inputs, outputs):
    return Signature(*(tuple(map(_value_of, side)) for side in (inputs, outputs)))


def _value_of(described):
    """A Value of what a session says of an input or output."""
    found = _DTYPES.get(described.type)
    if found is None:
        known = sorted(name for name, _ in _DTYPES.values())
        raise NotImplementedError(
            f"{_TOOL}: {described.name!r} must be a tensor of {', '.join(known)}, got "
            f"{described.type}"
        )
    shape = tuple(
        size if isinstance(size, int) or re.fullmatch(r"[A-Za-z_]\w*", size or "") else UNKNOWN
        for size in described.shape
    )
    return Value(described.name, found[0], shape)


class OnnxRuntime(Provider):
    """ONNX Runtime's kernels for processors; `tessera.provider.onnx_runtime` is the one object.

    It claims an operator where ONNX Runtime opens the model that `tessera.onnx.export` writes of
    it, which is tried once for equal operators, dtypes and shapes. Sessions have as many threads as
    Tessera's kernels.
    """

    name: str = "onnx_runtime"

    def __init__(self):
        self._tried = {}  # whether an operator can run, by what it is

    def __reduce__(self):
        return "onnx_runtime"

    def load(self, model):
        """A model of ONNX as one operator: a ProviderOperator, called with tensors.

        Args:
            model: a path, the bytes of a file, or an onnx.ModelProto; constants beside a file are
                read with it

        Raises:
            ImportError: the packages onnx and onnxruntime must be installed.
            FileNotFoundError: the file must exist.
            ValueError: it must be a valid model.
            NotImplementedError: ONNX Runtime must have its operators, Tessera the dtypes of inputs
                and outputs.
            TypeError: model must be one of the three.

        Example:
            >>> import numpy as np
            >>> import tessera as ts
            >>> from onnx import helper
            >>> x, y = (helper.make_tensor_value_info(name, 1, ["N"]) for name in "xy")
            >>> graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])
            >>> imports = [helper.make_opsetid("", 17)]
            >>> model = helper.make_model(graph, opset_imports=imports, ir_version=8)
            >>> ts.provider.onnx_runtime.load(model)(ts.tensor([-1.0, 2.0])).tolist()
            [0.0, 2.0]
        """
        _package()
        name, program = _read(model)
        return ProviderOperator(self, program, name)

    def claims(self, node):
        """Whether ONNX Runtime opens a model of this operator. A random one stays Tessera's."""
        if node.opdef is None or not _has_known_types(node):
            return False
        key = _facts_of(node)
        if key not in self._tried:
            try:
                _session(self.compile(Subgraph([node])), threads=1, optimizes=False)
                self._tried[key] = True
            except (NotImplementedError, ValueError, TypeError):
                self._tried[key] = False
        return self._tried[key]

    def compile(self, subgraph):
        """The bytes of a model of ONNX. See the base."""
        return subgraph.to_onnx(_OPSET)

    def open(self, program):
        """See the base."""
        return _Executable(program)

    def signature(self, executable):
        """See the base."""
        return executable.signature

    def infer(self, executable, shapes):
        """See the base. ValueError: sizes must follow from those of the inputs."""
        found = executable.shapes(shapes)
        for value, shape in zip(executable.signature.outputs, found, strict=True):
            if None in shape or len(shape) != len(value.shape):
                raise ValueError(
                    f"{_TOOL}: sizes of outputs must follow from those of inputs, got "
                    f"{value.name!r} with shape {list(shape)}"
                )
        return found

    def run(self, executable, inputs, outputs):
        """See the base. The arrays' memory is bound as it is."""
        signature = executable.signature
        given = [(value.dtype, array.shape)
                 for value, array in zip(signature.inputs, inputs, strict=True)]  # fmt: skip
        signature.check(_TOOL, given)
        session = executable.session()
        binding = session.io_binding()
        bound = functools.partial(_bound, executable.ort_value)
        for value, array in zip(signature.inputs, inputs, strict=True):
            binding.bind_ortvalue_input(value.name, bound(value, array))
        for value, array in zip(signature.outputs, outputs, strict=True):
            binding.bind_ortvalue_output(value.name, bound(value, array))
        session.run_with_iobinding(binding)


def _bound(ort_value, value, array):
    """A value of ONNX Runtime over an array's memory."""
    return ort_value.ortvalue_from_numpy_with_onnx_type(array, _TO_ONNX[value.dtype])


def _read(model):
    """(name, bytes) of a model."""
    from ..onnx.package import onnx

    if isinstance(model, onnx.ModelProto):
        return model.graph.name or "model", model.SerializeToString()
    if isinstance(model, (bytes, bytearray, memoryview)):
        return "model", bytes(model)
    if not isinstance(model, (str, os.PathLike)):
        raise TypeError(
            f"{_TOOL}: model must be a path, bytes or an onnx.ModelProto, got "
            f"{type(model).__name__}"
        )
    name = os.path.splitext(os.path.basename(os.fspath(model)))[0]
    try:
        return name, onnx.load(model).SerializeToString()
    except FileNotFoundError:
        raise
    except Exception as error:  # the parser's own classes
        raise ValueError(f"{_TOOL}: model must be a valid one, got {_message(error)}") from error


def _has_known_types(node):
    if node.opdef.name not in _deterministic():
        return False
    values = [*node.inputs, *node.outputs]
    return all(
        str(_name_of(var)) in _TO_ONNX and all(type(size) is int for size in var.shape)
        for var in values
    )


def _name_of(var):
    return _core.described_name(var.dtype) or np.dtype(var.dtype).name


_SMALL = 64  # elements of constants that an exporter may look at


def _facts_of(node):
    """Facts that tell whether an operator can run: of a large constant not its elements."""
    operands = []
    for var in node.inputs:
        value = var.owner._node.value if var.owner._node.kind == "constant" else None
        small = value is not None and value.size <= _SMALL
        elements = value.numpy().tobytes() if small else value is not None
        operands.append((_name_of(var), tuple(var.shape), elements))
    places = tuple(map(key_of, node.inputs))  # equal operands count as one
    same = tuple(places.index(each) for each in places)
    return repr(node.opdef), tuple(operands), same, len(node.outputs)


@functools.cache
def _deterministic():
    """Names of the records whose results follow from their operands."""
    return {row["opdef"] for row in _core.op_table() if not row["stochastic"]}


onnx_runtime: OnnxRuntime = OnnxRuntime()
"""ONNX Runtime as a provider."""
register(onnx_runtime)
