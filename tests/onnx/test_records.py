"""Every record at its samples: exported, it gives the same in ONNX's reference and in ONNX Runtime,
or it is listed as one that ONNX cannot say.
"""

import io

import numpy as np
import onnx
import pytest
import tessera
import tessera.onnx
from tessera import jit

from tests import quick
from tests.onnx.test_export import by_reference, by_runtime
from tests.records import samples as S  # noqa: N812

RECORDS = S.records()
# Records that ONNX does not say, by cause.
CAUSES = {
    "no operator of complex numbers": "angle complex imag polar fft_c2c fft_c2r fft_r2c",
    "no linear algebra but products and the determinant": "cholesky eigh matinv qr slogdet solve "
    "solve_triangular svd svdvals",
    "no such running result, or not before opset 26": "cummax cummin cumprod linear_recurrence "
    "logcumsumexp",
    "gradients and updates, which are operators of training": "adam_update add_products sgd_update "
    "attention_backward avg_pool2d_backward avg_pool3d_backward "
    "conv1d_backward_data conv1d_backward_weight "
    "conv2d_backward_data conv2d_backward_weight conv3d_backward_data conv3d_backward_weight "
    "max_pool2d_backward max_pool3d_backward",
    "random numbers of this generator": "dropout normal uniform",
}
REFUSED = {name: f"got {name} at" for names in CAUSES.values() for name in names.split()}
REFUSED["adjugate"] = "got svd at"  # which it is made of
REFUSED.update(
    {name: "sizes must not depend on data" for name in ("extent", "mask_get", "nms", "non_zero")}
)
# Samples of records that ONNX says otherwise, by number.
REFUSED.update({("cast", number): "results must be real" for number in (14, 18)})
REFUSED.update({("cast", number): "dtype must be one that ONNX has" for number in (15, 16, 17)})
_CONSTANT = "weights of 4 bits must be constants"
REFUSED.update({("weight_only_linear", number): _CONSTANT for number in (2, 3, 5, 7)})
REFUSED["einsum", 7] = "dots must stand for as many axes in all operands"
# Of which one of the two runtimes has no kernel, or a wrong one; the other must agree.
PARTLY = {
    "by_reference": {
        "conv_transpose1d",
        "conv_transpose2d",
        "conv_transpose3d",
        "local_response_norm",
        "max_pool1d",
        "max_pool2d",
        "pad",
        "sliding_window_transpose",
        "softsign",
    },
    "by_runtime": {
        "cast",
        "full",
        "instance_norm",
        "max_pool3d",
        "repeat",
        "scalar_tensor",
        "where",
    },
}
# ONNX Runtime leaves products of no depth unset, and its sums of bytes may saturate without VNNI.
PARTLY["by_runtime"] |= {name for name in RECORDS if name.startswith(("integer_", "simulated_"))}


def _refused(record, number):
    return REFUSED.get(record.name) or REFUSED.get((record.name, number))


def _cases():
    for record in RECORDS.values():
        for number, sample in enumerate(quick.few(record.samples)):
            yield pytest.param(record, number, sample, id=f"{record.name}-{number}")


@pytest.mark.filterwarnings("ignore:trace")
@pytest.mark.parametrize(("record", "number", "sample"), _cases())
def test_record(record, number, sample):
    inputs = S.tensors(S.arrays(record, sample, S.primary(record, sample)))
    traced = jit.trace(lambda *args: tuple(S.call(record, sample, args)), capture_as_const=True)
    expected = traced(*inputs)
    stream = io.BytesIO()
    if message := _refused(record, number):
        with pytest.raises((NotImplementedError, ValueError), match=f"export: .*{message}"):
            tessera.onnx.export(traced, stream)
        return
    tessera.onnx.export(traced, stream)
    model = onnx.load_from_string(stream.getvalue())
    arrays = [each.numpy() for each in inputs]
    agreeing = 0
    for runtime in (by_runtime, by_reference):
        try:
            _check(runtime(model, arrays), expected)
            agreeing += 1
        except Exception:
            if record.name not in PARTLY[runtime.__name__]:
                raise
    assert agreeing


def _check(results, expected):
    for got, wanted in zip(results, expected, strict=True):
        wanted = wanted.numpy()
        assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
        if got.dtype.kind not in "biufc":
            got, wanted = got.astype("float32"), wanted.astype("float32")
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)
