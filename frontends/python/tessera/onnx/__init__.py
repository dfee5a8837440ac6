"""Models in ONNX's files, read as callables and written from traced functions.

Needs the package `onnx`: `pip install tessera[onnx]`.

>>> import tessera as ts
>>> traced = ts.jit.trace(lambda x: ts.functional.relu(x) + 1, capture_as_const=True)
>>> _ = traced(ts.tensor([1.0, -2.0]))
>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     ts.onnx.export(traced, f"{folder}/model.onnx", arg_names=["x"])
...     model = ts.onnx.load(f"{folder}/model.onnx")
>>> model(x=ts.tensor([3.0, -4.0])).tolist()
[4.0, 1.0]
"""

from .._listed import listed as _listed
from .export import export
from .model import Model, load

__all__ = ["Model", "export", "load"]

__dir__ = _listed(*__all__)
