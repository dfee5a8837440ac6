"""Small models that the package onnx ships as files: of operators, layers, sequences."""

import glob

import onnx
import pytest
import tessera.onnx
from onnx.backend.test.loader import load_model_tests

from tests.onnx import node_cases

_KINDS = ("pytorch-converted", "pytorch-operator", "simple")
_CASES = [case for kind in _KINDS for case in load_model_tests(kind=kind)]
_LISTED = {
    "strnorm": "operator must be one that Tessera has, got StringNormalizer",
    "gradient_of": "library that is loaded, got ai.onnx.preview.training.Gradient",
}


def _read(path, value_info):
    with open(path, "rb") as file:
        content = file.read()
    if value_info.type.HasField("sequence_type"):
        return onnx.numpy_helper.to_list(onnx.SequenceProto.FromString(content))
    return onnx.numpy_helper.to_array(onnx.TensorProto.FromString(content))


def _data(folder, what, values):
    count = len(glob.glob(f"{folder}/{what}_*.pb"))
    return [_read(f"{folder}/{what}_{i}.pb", values[i]) for i in range(count)]


@pytest.mark.parametrize("case", _CASES, ids=lambda case: case.name)
def test_model(case):
    path = f"{case.model_dir}/model.onnx"
    for name, message in _LISTED.items():
        if name in case.name:
            with pytest.raises(NotImplementedError, match=message):
                tessera.onnx.load(path)
            return
    model, graph = tessera.onnx.load(path), onnx.load(path).graph
    for folder in glob.glob(f"{case.model_dir}/test_data_set*"):
        results = node_cases.results_of(model, _data(folder, "input", graph.input))
        expected = _data(folder, "output", graph.output)
        assert expected
        for got, wanted in zip(results, expected, strict=True):
            node_cases.check(got, wanted, case)
