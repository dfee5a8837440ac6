"""A model from a file, as a callable."""

import os

import numpy as np

from .. import _core
from ..tensor import Tensor
from . import importers  # noqa: F401  registers the functions
from .graph import Graph
from .package import checker, defs, inliner, onnx, shape_inference
from .registry import find
from .values import FEW_BITS, dtype_of


class Model:
    """A model of ONNX: called with tensors, by position or by name, it gives its output, or a tuple
    of them. It runs eagerly, and in a traced function becomes a part of the program.

    A value that ONNX calls a sequence is a list of tensors, an optional one may be None.
    """

    def __init__(self, graph):
        self._graph = graph
        self.__name__ = graph.name or "model"
        self._given = [name for name in graph.inputs if name not in graph.constants]
        for name in self._given:
            _check_type(name, graph.types[name])

    @property
    def inputs(self):
        """The names of the inputs that a call must give; others have values in the file."""
        return list(self._given)

    @property
    def outputs(self):
        """The names of the outputs."""
        return list(self._graph.outputs)

    @property
    def constants(self):
        """The tensors of the file by name, those within control flow left out."""
        return dict(self._graph.constants)

    def __call__(self, *args, **kwargs):
        """The output, or a tuple of them.

        TypeError: every input must be given once, with its dtype.
        """
        values = dict(zip(self._given, args, strict=False))
        twice = [name for name in kwargs if name in values or name not in self._graph.inputs]
        missing = [name for name in self._given if name not in values and name not in kwargs]
        if twice or missing or len(args) > len(self._given):
            got = [f"{len(args)} by position", *kwargs]
            raise TypeError(f"{self.__name__}: inputs must be {self._given}, got {got}")
        values.update(kwargs)
        types = self._graph.types
        values = {name: _converted(name, value, types[name]) for name, value in values.items()}
        results = self._graph.run(values)
        return results[0] if len(results) == 1 else tuple(results)

    def __repr__(self):
        return f"Model({self.__name__!r}, inputs={self.inputs}, outputs={self.outputs})"


def _check_type(name, type_proto):
    """NotImplementedError unless an input is of a dtype that Tessera has."""
    kind = type_proto.WhichOneof("value")
    if kind in ("optional_type", "sequence_type"):
        _check_type(name, getattr(type_proto, kind).elem_type)
    elif kind == "tensor_type":
        dtype_of(type_proto.tensor_type.elem_type, f"onnx: input {name!r}")
    else:
        raise NotImplementedError(f"onnx: input {name!r} must be made of tensors, got {kind}")


def _converted(name, value, type_proto):
    """The value of an input as a tensor, or a list of tensors."""
    kind = type_proto.WhichOneof("value")
    if kind == "optional_type":
        return (
            None if value is None else _converted(name, value, type_proto.optional_type.elem_type)
        )
    if kind == "sequence_type":
        return [_converted(name, each, type_proto.sequence_type.elem_type) for each in value]
    dtype = dtype_of(type_proto.tensor_type.elem_type, f"onnx: input {name!r}")
    if isinstance(value, Tensor):
        got = _core.described_name(value.dtype) or value.dtype.name
        if got != dtype:
            raise TypeError(f"onnx: input {name!r} must be {dtype}, got {got}")
        return value
    if isinstance(value, np.ndarray) and _core.quantization(value.dtype):
        value = value.view(value.dtype.name)  # the integers
    return Tensor(value, dtype=dtype)


def load(file):
    """The model in `file`: a path, an open binary file, or a ModelProto, which is not checked.

    Reads opsets 7 and newer, as far as the installed package `onnx` knows them. What the model
    calls and defines itself is put in place, and so is what ONNX defines by other operators, where
    Tessera has no operator for it.

    FileNotFoundError: the file must exist. ValueError: it must be a valid model.
    NotImplementedError: every operator, dtype and attribute must be one that Tessera has; the
    message names the operator and its node.
    """
    model = file if isinstance(file, onnx.ModelProto) else _read(file)
    folder = os.path.dirname(os.fspath(file)) if _is_path(file) else ""
    model = _with_types(_inlined(model))
    return Model(Graph(model.graph, opset_of(model), folder))


def _with_types(model):
    """With the types of all values, where some are of few bits, which a tensor does not tell."""
    types = {initializer.data_type for initializer in model.graph.initializer}
    types |= {value.type.tensor_type.elem_type for value in model.graph.input}
    for node in model.graph.node:
        types |= {each.i for each in node.attribute if each.name in ("to", "output_dtype", "dtype")}
    return shape_inference.infer_shapes(model) if types & set(FEW_BITS) else model


def _is_path(file):
    return isinstance(file, (str, os.PathLike))


def _read(file):
    try:
        model = onnx.load(file)
        checker.check_model(os.fspath(file) if _is_path(file) else model)  # which may be too large
    except FileNotFoundError:
        raise
    except Exception as error:
        raise ValueError(f"onnx: file must be a valid model, got {error}") from error
    return model


def opset_of(model):
    """The version of the default domain that the model is written in.

    ValueError: the package onnx must know it.
    """
    versions = [each.version for each in model.opset_import if each.domain in ("", "ai.onnx")]
    newest = defs.onnx_opset_version()
    version = versions[0] if versions else newest
    if version > newest:
        raise ValueError(f"onnx: opset must be at most {newest}, got {version}")
    return version


def _inlined(model):
    """Without functions: those of the model, and those of ONNX for which nothing else is here."""
    if model.functions:
        model = inliner.inline_local_functions(model)
    versions = {each.domain: each.version for each in model.opset_import}
    wanted = _functions(model.graph, {**versions, "": opset_of(model)})
    if not wanted:
        return model
    return inliner.inline_selected_functions(model, wanted, inline_schema_functions=True)


def _functions(graph, versions):
    """(domain, name) of the operators that are to be put in place."""
    found = set()
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                found.update(_functions(attribute.g, versions))
        domain = "" if node.domain == "ai.onnx" else node.domain
        version = versions.get(domain)
        if domain == "" and find(node.op_type) or not version:
            continue
        if defs.has(node.op_type, version, domain):
            schema = defs.get_schema(node.op_type, version, domain)
            if schema.has_function or schema.has_context_dependent_function:
                found.add((node.domain, node.op_type))
    return sorted(found)
