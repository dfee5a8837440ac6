"""Sizes of a model's outputs by ONNX's shape inference, for sizes of its inputs."""

import threading

_LARGE = 1024  # elements; the values of larger constants say nothing of sizes


class ShapeInference:
    """A model without its large constants, whose shapes are inferred again for each question."""

    def __init__(self, program):
        """ImportError: the package onnx must be installed."""
        from ..onnx.package import onnx, shape_inference

        self._infer, self._lock = shape_inference.infer_shapes, threading.Lock()
        self._model = onnx.load_from_string(program)
        graph = self._model.graph
        large = [each for each in graph.initializer if _elements(each.dims) > _LARGE]
        given = {each.name for each in graph.input}
        for each in large:
            if each.name not in given:
                made = onnx.helper.make_tensor_value_info(each.name, each.data_type, each.dims)
                graph.input.append(made)
            graph.initializer.remove(each)
        del graph.value_info[:]
        self._inputs = {each.name: each for each in graph.input}
        self._outputs = list(graph.output)

    def shapes(self, names, shapes):
        """Shapes of all outputs; a size is None that does not follow from those of the inputs."""
        with self._lock:
            for name, shape in zip(names, shapes, strict=True):
                self._set(self._inputs[name], shape)
            for output in self._outputs:
                output.type.tensor_type.ClearField("shape")
            inferred = self._infer(self._model, data_prop=True)
        return [_sizes(each.type.tensor_type.shape) for each in inferred.graph.output]

    def _set(self, value, shape):
        sizes = value.type.tensor_type.shape
        del sizes.dim[:]
        for size in shape:
            sizes.dim.add(dim_value=size)


def _elements(dims):
    count = 1
    for size in dims:
        count *= size
    return count


def _sizes(shape):
    return tuple(dim.dim_value if dim.HasField("dim_value") else None for dim in shape.dim)
