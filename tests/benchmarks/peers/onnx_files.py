"""Networks as files of ONNX, which tessera.onnx.export writes: the same weights and operators. And
as Tessera's own.

Files lie in the folder TESS_PEER_FILES, which processes share; the first one makes it. Packages
that write are imported when a file is written, because processes that read one are measured.
"""

import atexit
import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

BLOCKS_OPSET = 21  # the first with scales of blocks
OPSET = 17  # the newest whose attention is one of products and softmax, which all peers fuse


def folder():
    """Where the files of this run are."""
    if "TESS_PEER_FILES" not in os.environ:
        made = os.environ["TESS_PEER_FILES"] = tempfile.mkdtemp(prefix="tessera-peers.")
        atexit.register(shutil.rmtree, made, ignore_errors=True)
    return Path(os.environ["TESS_PEER_FILES"])


def file_of(network):
    """The path of a network's file, in float32."""
    path = folder() / f"{network.key}.onnx"
    if not path.exists():
        (write_lstm if network.kind == "lstm" else write)(network, path)
    return str(path)


def program_of(network):
    """The path of a network's `.tess` file, for inference."""
    path = folder() / f"{network.key}.tess"
    if not path.exists():
        from . import own_networks

        traced, inputs = own_networks.traced(network), network.arrays()
        traced(*own_networks.tensors(network, inputs))
        traced.dump(path, arg_names=[f"x{number}" for number in range(len(inputs))])
    return str(path)


def integers_of(network):
    """The path of a network's file, in int8."""
    path = folder() / f"{network.key}.int8.onnx"
    if not path.exists():
        from . import onnx_integers

        if network.kind == "integer_matmul":
            onnx_integers.write_matmul(network, path, OPSET)
        else:
            onnx_integers.write(file_of(network), network.arrays(), path)
    return str(path)


def weight_only_of(network):
    """The path of a network's file, in which weights of linear layers are integers beside floats,
    because ONNX has no product of int4 by int8.
    """
    network = replace(network, weights=network.weights.removesuffix(" by int8"))
    path = folder() / f"{network.key}.onnx"
    if not path.exists():
        write(network, path, BLOCKS_OPSET)
    return str(path)


def write(network, path, opset=OPSET):
    """Writes a file by Tessera, which this process then loads."""
    from tessera import onnx

    from . import own_networks

    network = replace(network, dtype="float32")
    traced = own_networks.traced(network)
    traced(*own_networks.tensors(network, network.arrays()))
    onnx.export(traced, path, opset=opset)


def write_lstm(network, path):
    """Writes the file of an LSTM by hand: tessera.onnx.export writes its steps as a loop."""
    from . import onnx_lstm

    onnx_lstm.write(network, path, OPSET)
