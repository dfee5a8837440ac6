"""A file of ONNX with one layer of LSTM, by ONNX's own operator."""

import numpy as np
import onnx
from onnx import helper, numpy_helper

from .network import weight


def _gates(array):
    """Rows of the gates i, f, g, o in ONNX's order: i, o, f, g."""
    i, f, g, o = np.split(array, 4)
    return np.concatenate([i, o, f, g])


def write(network, path, opset):
    """Writes the file: x, float[L, N, width], to outputs of the same shape."""
    (width,), (x,) = network.options, network.inputs
    first, second = (_gates(weight(f"weight_{e}_l0", (4 * width, width))) for e in ("ih", "hh"))
    biases = [_gates(weight(f"bias_{each}_l0", (4 * width,))) for each in ("ih", "hh")]
    arrays = {"w": first[None], "r": second[None], "b": np.concatenate(biases)[None]}
    constants = {**arrays, "axis": np.array([1], np.int64)}
    nodes = [
        helper.make_node("LSTM", ["arg0", "w", "r", "b"], ["steps"], hidden_size=width),
        helper.make_node("Squeeze", ["steps", "axis"], ["output0"]),
    ]
    kinds = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, x.shape)
        for name in ("arg0", "output0")
    ]
    made = [numpy_helper.from_array(each, name) for name, each in constants.items()]
    graph = helper.make_graph(nodes, "lstm", kinds[:1], kinds[1:], made)
    imports = [helper.make_opsetid("", opset)]
    version = helper.find_min_ir_version_for(imports)
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=version), path)
