"""The mode of ONNX: what is exported and loaded again."""

import io

import numpy as np
import tessera
import tessera.onnx
from tessera import jit

from tests.random.float64 import judged
from tests.random.observe import CALLS, SkippedError
from tests.support.helper import as_list


def _as_input(array, dtype):
    """The input of an exported program, whose quantized ones are integers."""
    is_stored = tessera.dtype.is_quantize(dtype)
    return array if is_stored else tessera.Tensor(array, dtype=dtype)


def onnx(program):
    """Exported and loaded again: other operators, whose results may be rounded elsewhere."""
    if program.stochastic:
        raise SkippedError("ONNX draws other numbers")
    if any("earchsorted" in each.text for each in program.statements):
        raise SkippedError("what is searched may be in no order, and is counted")
    function, captured = program.instance()
    arguments = program.arguments(CALLS[0])
    traced, stream = jit.trace(function, capture_as_const=True), io.BytesIO()
    given = [each.numpy().copy() for each in arguments]
    results = as_list(traced(*arguments))
    if any(each is None for each in results):
        raise SkippedError("it has a gradient of nothing")
    try:
        tessera.onnx.export(traced, stream)
    except (NotImplementedError, ValueError) as error:
        raise SkippedError(f"not exported: {error}") from None
    loaded = tessera.onnx.load(io.BytesIO(stream.getvalue()))
    inputs = [_as_input(a, t.dtype) for a, t in zip(given, arguments, strict=True)]
    got = [each.numpy() for each in as_list(loaded(*inputs))]
    for index, (ours, theirs) in enumerate(zip(got, results, strict=True)):
        if (ours.shape, ours.dtype) != (theirs.shape, theirs.numpy().dtype):
            return f"onnx: result {index}: {ours.dtype}{[*ours.shape]} instead of {theirs.dtype}"
    kept = [each.numpy() for each in captured.values()]
    return judged(program, [*got, *(np.zeros(0) if k is None else k for k in kept)], "onnx")
