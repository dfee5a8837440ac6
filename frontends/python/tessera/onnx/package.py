"""The package `onnx`, which parses, checks and writes files: every import of it is here."""

from .._extras import importing

with importing("tessera.onnx", "the package onnx", "tessera[onnx]"):
    import onnx
    from onnx import checker, defs, helper, inliner, numpy_helper, shape_inference

__all__ = ["checker", "defs", "helper", "inliner", "numpy_helper", "onnx", "shape_inference"]
