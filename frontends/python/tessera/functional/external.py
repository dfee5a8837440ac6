"""MegEngine's operators that hold a program of another engine.

None of these engines is a provider here: each function says what there is in its place.

>>> import tessera as ts
>>> ts.functional.external.atlas_runtime_opr([ts.tensor([1.0])], b"")
Traceback (most recent call last):
NotImplementedError: atlas_runtime_opr: provider must be onnx_runtime (tessera.provider) or one \
of your own, got Huawei's Atlas
"""

__all__ = [
    "atlas_runtime_opr",
    "cambricon_runtime_opr",
    "extern_opr_subgraph",
    "magicmind_runtime_opr",
    "tensorrt_runtime_opr",
]


def _refused(name, engine):
    return NotImplementedError(
        f"{name}: provider must be onnx_runtime (tessera.provider) or one of your own, got {engine}"
    )


def extern_opr_subgraph(inputs, output_shapes, dump_name, dump_data, output_dtypes):
    """NotImplementedError: there is no loader of MegEngine's MGBOprLoader. An operator of a library
    (`tessera.load_library`) or a program of a provider (`tessera.provider`) stands for one.
    """
    raise _refused("extern_opr_subgraph", f"MegEngine's loader of {dump_name!r}")


def tensorrt_runtime_opr(inputs, *, data=None):
    """NotImplementedError: NVIDIA's TensorRT is no provider; the model's file of ONNX runs by
    `tessera.provider.onnx_runtime.load`.
    """
    raise _refused("tensorrt_runtime_opr", "NVIDIA's TensorRT")


def cambricon_runtime_opr(inputs, data, symbol, tensor_dim_mutable):
    """NotImplementedError: Cambricon's CNRT is no provider; the model's file of ONNX runs by
    `tessera.provider.onnx_runtime.load`.
    """
    raise _refused("cambricon_runtime_opr", "Cambricon's CNRT")


def atlas_runtime_opr(inputs, data):
    """NotImplementedError: Huawei's Atlas is no provider; the model's file of ONNX runs by
    `tessera.provider.onnx_runtime.load`.
    """
    raise _refused("atlas_runtime_opr", "Huawei's Atlas")


def magicmind_runtime_opr(inputs, data):
    """NotImplementedError: Cambricon's MagicMind is no provider; the model's file of ONNX runs by
    `tessera.provider.onnx_runtime.load`.
    """
    raise _refused("magicmind_runtime_opr", "Cambricon's MagicMind")
