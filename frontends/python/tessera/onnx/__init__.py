"""Models in ONNX's files, read as callables and written from traced functions.

Needs the package `onnx`: `pip install tessera[onnx]`.

>>> import tessera
>>> import tessera.onnx
>>> traced = tessera.jit.trace(lambda x: tessera.functional.relu(x) + 1, capture_as_const=True)
>>> _ = traced(tessera.tensor([1.0, -2.0]))
>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     tessera.onnx.export(traced, f"{folder}/model.onnx", arg_names=["x"])
...     model = tessera.onnx.load(f"{folder}/model.onnx")
>>> model(x=tessera.tensor([3.0, -4.0])).tolist()
[4.0, 1.0]
"""

from .export import export
from .model import Model, load

__all__ = ["Model", "export", "load"]
