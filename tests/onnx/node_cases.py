"""The node tests that the package onnx makes, and the list of those that are not passed."""

import functools
import os
import tomllib
import warnings
from pathlib import Path

import numpy as np
import onnx
import tessera
import tessera.onnx
from onnx.backend.test.case.node import collect_testcases

_FEW_BITS = {"int4": "int8", "int2": "int8", "uint4": "uint8", "uint2": "uint8"}


@functools.cache
def all_cases():
    """Every case by its name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of NumPy, about the infinities that cases are made of
        return {case.name: case for case in collect_testcases(None)}


def listed():
    """The cause of each case that must fail, by name: rows of failing.toml."""
    with open(Path(__file__).with_name("failing.toml"), "rb") as file:
        causes = tomllib.load(file)["cause"]
    return {name: cause for cause in causes for name in cause["cases"]}


def own_part():
    """The cases of this process: every n-th one from k on, by the variable TESS_PART, "k/n"."""
    first, count = map(int, os.environ.get("TESS_PART", "0/1").split("/"))
    return list(all_cases().values())[first::count]


def as_array(value):
    """Data of a case as an array whose dtype Tessera has."""
    if isinstance(value, onnx.TensorProto):
        value = onnx.numpy_helper.to_array(value)
    array = np.asarray(value)
    return array.astype(_FEW_BITS.get(array.dtype.name, array.dtype))


def as_value(value):
    """Data of a case as what a model takes."""
    if value is None or isinstance(value, list):
        return value and [as_value(each) for each in value]
    array = as_array(value)
    return tessera.Tensor(array, dtype=array.dtype.name)


def results_of(function, inputs):
    """The outputs of a call, as a list."""
    results = function(*(as_value(value) for value in inputs))
    return list(results) if isinstance(results, tuple) else [results]


def check(got, expected, case):
    """AssertionError unless both are equal, as far as the case demands: shape, dtype, values."""
    if expected is None or isinstance(expected, list):
        assert type(got) is type(expected)
        for one, other in zip(got or [], expected or [], strict=True):
            check(one, other, case)
        return
    got, expected = got.numpy(), as_array(expected)
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
    if got.dtype.kind not in "biuc":
        got, expected = got.astype("float64"), expected.astype("float64")
    np.testing.assert_allclose(got, expected, rtol=case.rtol, atol=case.atol)


def run(case):
    """Runs a case eagerly and checks what it gives."""
    tessera.seed(0)
    model = tessera.onnx.load(case.model)
    for inputs, outputs in case.data_sets:
        for got, expected in zip(results_of(model, inputs), outputs, strict=False):
            check(got, expected, case)
