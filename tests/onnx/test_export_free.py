"""tessera.onnx.export with a free batch: at every size the model gives what the function gives,
whatever size the recorded call had.
"""

import importlib
import io

import numpy as np
import onnx
import onnxruntime
import pytest
import tessera
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import tessera.onnx
from tessera import jit
from tessera.core import apply
from tessera.core.ops import builtin as B  # noqa: N812

from tests.onnx.test_export import by_reference, by_runtime

NET = M.Sequential(M.Conv2d(3, 4, 3), M.BatchNorm2d(4), M.ReLU(), M.AdaptiveAvgPool2d(1)).eval()
MAP = tessera.Tensor(np.random.default_rng(0).random((1, 4, 4, 2), dtype="float32") * 3)


def _with(x, key, value):
    x = x + 0
    x[key] = value
    return x


def _taken(x):
    return apply(B.TakeAlongAxes(axes=[1]), x, (x[:, :1] > 2).astype("int32"))[0]


MATRICES = {  # functions of [n, 2, 3]
    "flatten": lambda x: F.flatten(x, 1),
    "reshape by -1": lambda x: x.reshape((-1, 6)),
    "reshape by a size": lambda x: x.reshape((x.shape[0] * 2, 3)),
    "group norm": lambda x: F.group_norm(x, 2, affine=False),
    "instance norm": lambda x: F.instance_norm(x, affine=False),
    "layer norm": lambda x: F.layer_norm(x, (2, 3), affine=False),
    "layer norm over the batch": lambda x: F.layer_norm(x.T, (x.shape[0],), affine=False),
    "repeat": lambda x: F.repeat(x, 2, axis=0),
    "tile": lambda x: F.tile(x, (2, 1, 1)),
    "roll": lambda x: F.roll(x, 1, axis=0),
    "roll back": lambda x: F.roll(x, -5, axis=0),
    "roll all": lambda x: F.roll(x, 4),
    "rows set": lambda x: _with(x, slice(1, None), x[:-1]),
    "every second row from the end set": lambda x: _with(x, (slice(None, None, -2), 1), 7),
    "columns set": lambda x: _with(x, (slice(None), [0, 1], [2, 0]), x[:, :, 1]),
    "a half of the rows": lambda x: x[: (x.shape[0] - 5) // 2],
    "and": lambda x: (x > 0) & (x < 3),
    "bits": lambda x: (x.astype("int32") & 3) | 4 ^ ~x.astype("int32"),
    "softmax over the batch": lambda x: F.softmax(x, 0),
    "variance": lambda x: F.var(x, 0) + F.std(x),
    "cumsum": lambda x: F.cumsum(x, 0),
    "flip": lambda x: F.flip(x, 0),
    "one hot": lambda x: F.one_hot(x.astype("int32")[:, 0, 0] % 3, 3),
    "argsort": lambda x: F.argsort(x.T),
    "gather": lambda x: F.gather(x, 1, (x[:, :1] * 0).astype("int32")),
    "scatter": lambda x: F.scatter(x, 1, (x[:, :1] * 0).astype("int32"), x[:, :1] + 1),
    "indices along axes": _taken,
    "indices": lambda x: x[:, [0, 1], [1, 2]] + x[F.arange(x.shape[0]).astype("int32"), 1, :2],
    "eye": lambda x: F.eye(x.shape[0], 3),
    "diagonal": lambda x: F.diag(x[:, 0, 0]),
    "zeros": lambda x: F.zeros((x.shape[0] * 2 - 1, 3)) + x.shape[0],
    "broadcast": lambda x: F.broadcast_to(x[:1], x.shape),
    "products": lambda x: F.matmul(x, x.transpose(0, 2, 1)),
    "attention": lambda x: F.scaled_dot_product_attention(x, x, x),
    "grids": lambda x: F.meshgrid(x[:, 0, 0], x[0, 0])[0],
    "linspace": lambda x: F.linspace(0, 1, x.shape[0]),
}
IMAGES = {  # functions of [n, 3, 4, 4]
    "network": lambda x: NET(x),
    "remap": lambda x: F.vision.remap(x, MAP + F.zeros((x.shape[0], 1, 1, 1))),
    "interpolate": lambda x: F.vision.interpolate(x, scale_factor=2, mode="bilinear"),
    "adaptive pool": lambda x: F.adaptive_avg_pool2d(x, (2, 2)),
}
FUNCTIONS = {name: (function, (2, 3)) for name, function in MATRICES.items()}
FUNCTIONS |= {name: (function, (3, 4, 4)) for name, function in IMAGES.items()}


def _exported(function, shape, count, **options):
    traced = jit.trace(function, capture_as_const=True)
    traced(F.ones((count, *shape)))
    stream = io.BytesIO()
    dims = {"x": {0: jit.Dim("n", 1, 64)}}
    tessera.onnx.export(traced, stream, arg_names=["x"], dims=dims, **options)
    return onnx.load_from_string(stream.getvalue())


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_free_batch_is_none_of_the_call(name, count):
    function, shape = FUNCTIONS[name]
    model = _exported(function, shape, count)
    for size in (1, 2, 3, 7):
        x = np.random.default_rng(size).random((size, *shape), dtype="float32") * 4
        wanted = function(tessera.Tensor(x)).numpy()
        for runtime in (by_runtime, by_reference):
            (got,) = runtime(model, [x])
            assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
            np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("count", [1, 3])
def test_old_opsets_have_free_batches_too(count):
    for name in ("flatten", "group norm", "roll", "rows set"):
        function, shape = FUNCTIONS[name]
        model = _exported(function, shape, count, opset=13)
        x = np.random.default_rng(0).random((4, *shape), dtype="float32")
        (got,) = by_runtime(model, [x])
        np.testing.assert_allclose(got, function(tessera.Tensor(x)).numpy(), rtol=1e-4, atol=1e-5)


def test_one_tensor_for_several_arguments_is_several_inputs():
    traced = jit.trace(lambda x, y, z: x * 2 + y * 3 + z * 5, capture_as_const=True)
    x = F.ones(1)
    traced(x, x, x)
    stream = io.BytesIO()
    tessera.onnx.export(traced, stream, arg_names=["x", "y", "z"])
    numbers = [np.array([value], "float32") for value in (1, 10, 100)]
    assert by_runtime(onnx.load_from_string(stream.getvalue()), numbers)[0].tolist() == [532]


def test_large_constants_lie_beside_the_model(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.import_module("tessera.onnx.export"), "_LARGE", 1 << 26)
    weights = [tessera.Tensor(np.full((40, 3), number, "float32")) for number in (1, 2)]
    function = lambda x: F.matmul(F.matmul(x, weights[0]), weights[1].T)  # noqa: E731
    traced = jit.trace(function, capture_as_const=True)
    wanted = traced(F.ones((2, 40))).numpy()
    path = tmp_path / "net.onnx"
    tessera.onnx.export(traced, path, arg_names=["x"])
    assert path.stat().st_size < 1000 and (tmp_path / "net.onnx.data").stat().st_size >= 4096
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    np.testing.assert_array_equal(session.run(None, {"x": np.ones((2, 40), "float32")})[0], wanted)
    np.testing.assert_array_equal(tessera.onnx.load(path)(F.ones((2, 40))).numpy(), wanted)
    with pytest.raises(ValueError, match="export: file must be a path where constants lie in a "):
        tessera.onnx.export(traced, io.BytesIO())


TRANSFORMS = {
    "rfft": lambda x: F.abs(F.fft.rfft(x)),
    "rfft along the batch": lambda x: F.real(F.fft.rfft(x, axis=0, norm="ortho")),
    "rfft of n elements": lambda x: F.imag(F.fft.rfft(x, 11, norm="forward")),
    "fft": lambda x: F.abs(F.fft.fft(x, axis=1)) + F.imag(F.conj(F.fft.fft(x))),
    "there and back": lambda x: F.real(F.fft.ifft(F.fft.fft(x, norm="ortho"), norm="ortho")),
    "two axes": lambda x: F.abs(F.fft.fftn(x)),
}


@pytest.mark.parametrize("opset", [17, 23])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_fourier_transforms_are_pairs(name, opset):
    function = TRANSFORMS[name]
    model = _exported(function, (2, 8), 3, opset=opset)
    for size in (2, 3, 5):
        x = np.random.default_rng(size).standard_normal((size, 2, 8)).astype("float32")
        (got,) = by_reference(model, [x]) if opset < 20 else by_runtime(model, [x])
        wanted = function(tessera.Tensor(x)).numpy()
        assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
        np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("function", "operator"),
    [
        (F.fft.rfft, "fft_r2c"),
        (lambda x: F.exp(F.fft.rfft(x)), "exp"),
        (lambda x: F.fft.rfft(x).sum(), "sum"),
    ],
)
def test_other_operators_of_complex_numbers_are_refused(function, operator):
    with pytest.raises(NotImplementedError, match=f"export: .* got {operator} at test_export_free"):
        _exported(function, (2, 8), 3)
