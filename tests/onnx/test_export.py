"""tessera.onnx.export: what other runtimes make of the files."""

import io

import numpy as np
import onnx
import onnxruntime
import pytest
import tessera
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import tessera.onnx
from onnx.reference import ReferenceEvaluator
from tessera import jit
from tessera.core import apply
from tessera.core.ops import builtin as B  # noqa: N812

from tests.support.helper import flat


def exported(function, *inputs, opset=23):
    """(the model that a call of `function` gives, what it returned as arrays)."""
    traced = jit.trace(function, capture_as_const=True)
    results = [each.numpy() for each in flat(traced(*inputs))]
    stream = io.BytesIO()
    tessera.onnx.export(traced, stream, opset=opset)
    return onnx.load_from_string(stream.getvalue()), results


def by_runtime(model, inputs):
    """What ONNX Runtime gives."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [each.name for each in session.get_inputs()]
    return session.run(None, dict(zip(names, inputs, strict=True)))


def by_reference(model, inputs):
    """What the package's evaluator in NumPy gives."""
    names = [each.name for each in model.graph.input]
    return ReferenceEvaluator(model).run(None, dict(zip(names, inputs, strict=True)))


def check(model, inputs, expected, rtol=1e-4, runtimes=(by_runtime, by_reference)):
    arrays = [each.numpy() for each in inputs]
    for runtime in runtimes:
        for got, wanted in zip(runtime(model, arrays), expected, strict=True):
            assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
            np.testing.assert_allclose(got, wanted, rtol=rtol, atol=1e-5)


def tensor(*shape, seed=0):
    return tessera.tensor(np.random.default_rng(seed).standard_normal(shape).astype("float32"))


class Residual(M.Module):
    """Two convolutions around which the input passes by."""

    def __init__(self, channels):
        super().__init__()
        self.first = M.ConvBn2d(channels, channels, 3, padding=1)
        self.second = M.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x):
        return F.relu(x + self.second(F.relu(self.first(x))))


class Recurrent(M.Module):
    """Embedded words, normalised and averaged."""

    def __init__(self):
        super().__init__()
        self.table, self.norm = M.Embedding(11, 8), M.LayerNorm(8)
        self.out = M.Linear(8, 3)

    def forward(self, ids):
        return F.softmax(self.out(self.norm(self.table(ids)).mean(axis=1)), axis=-1)


def _convolutional():
    layers = [M.Conv2d(3, 4, 3, stride=2), M.BatchNorm2d(4), M.ReLU(), M.MaxPool2d(2), Residual(4)]
    return M.Sequential(*layers, M.AdaptiveAvgPool2d((1, 1))).eval(), [tensor(2, 3, 13, 17)]


def _perceptron():
    layers = M.Linear(6, 8), M.GELU(), M.LayerNorm(8), M.Linear(8, 8), M.SiLU(), M.Linear(8, 3)
    return M.Sequential(*layers), [tensor(5, 6)]


def _transformer():
    layer = M.TransformerEncoderLayer(16, 4, 32, dropout=0.0)
    return layer.eval(), [tensor(2, 7, 16)]


def _words():
    return Recurrent(), [tessera.tensor(np.arange(12).reshape(2, 6) % 11)]


NETWORKS = {
    "convolutional": _convolutional,
    "perceptron": _perceptron,
    "transformer": _transformer,
    "words": _words,
}


@pytest.mark.parametrize("opset", [13, 17, 20, 23])
@pytest.mark.parametrize("name", NETWORKS)
def test_networks_give_the_same_elsewhere(name, opset):
    tessera.seed(2)
    network, inputs = NETWORKS[name]()
    model, expected = exported(lambda *args: network(*args), *inputs, opset=opset)
    # The reference takes a batch's statistics for the BatchNormalization of opset 13.
    runtimes = (by_runtime,) if opset < 14 else (by_runtime, by_reference)
    check(model, inputs, expected, runtimes=runtimes)
    assert model.opset_import[0].version == opset


def _backwards(x):
    y = x + 0
    y[::-1, 2::-2] = x[:, :2]
    return y[::-1]


def test_slices_go_backwards():
    x = tensor(3, 4)
    model, expected = exported(_backwards, x)
    check(model, [x], expected)


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_come_back(name):
    tessera.seed(2)
    network, inputs = NETWORKS[name]()
    model, expected = exported(lambda *args: network(*args), *inputs)
    for got, wanted in zip(flat(tessera.onnx.load(model)(*inputs)), expected, strict=True):
        np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-4, atol=1e-6)


def test_names_and_shapes_are_those_of_the_call(tmp_path):
    traced = jit.trace(lambda x, y: (x + y, x * 2), capture_as_const=True)
    traced(tensor(2, 3), tensor(3))
    path = tmp_path / "model.onnx"
    tessera.onnx.export(traced, path, arg_names=["a", "b"], output_names=["sum", "twice"])
    model = tessera.onnx.load(path)
    assert (model.inputs, model.outputs) == (["a", "b"], ["sum", "twice"])
    graph = onnx.load(path).graph
    sizes = [each.dim_value for each in graph.input[0].type.tensor_type.shape.dim]
    assert sizes == [2, 3] and graph.name == "<lambda>"


def _called(function, *inputs, **options):
    traced = jit.trace(function, **{"capture_as_const": True, **options})
    traced(*inputs)
    return traced


def _refused(message, error, traced, **options):
    with pytest.raises(error, match=f"export: {message}"):
        tessera.onnx.export(traced, io.BytesIO(), **options)


def test_wrong_calls_are_refused():
    traced = _called(lambda x: x + 1, tensor(2))
    _refused("opset must be 13 to 23, got 12", ValueError, traced, opset=12)
    _refused("arg_names must be 1 different names, got", ValueError, traced, arg_names=["a", "b"])
    _refused("output_names must be 1 different", ValueError, traced, output_names=[])
    variable = _called(lambda x: x + 1, tensor(2), capture_as_const=False)
    _refused("the trace must have capture_as_const=True, got False", RuntimeError, variable)
    nothing = jit.trace(lambda x: x, capture_as_const=True)
    _refused("<lambda> must be one recorded call, got no call", RuntimeError, nothing)


def test_what_onnx_cannot_say_is_refused_with_its_line():
    traced = _called(lambda a, b: F.solve(a, b), F.eye(2), F.ones((2, 1)))
    message = r"operators must be those that ONNX has, got solve at test_export.py:\d+"
    _refused(message, NotImplementedError, traced)
    traced = _called(lambda x: F.triu(x), tensor(2, 2))
    message = r"operators must be those that ONNX has, got triu at .*opset 13 must have Trilu"
    _refused(message, NotImplementedError, traced, opset=13)


def test_state_and_sizes_of_data_are_refused():
    total = tessera.tensor(0.0)

    def _adds(x):
        total.set_value(total + x.sum())
        return x * 2

    _refused("the function must update no tensor", NotImplementedError, _called(_adds, tensor(2)))
    chosen = _called(lambda x: x[x > 0] * 2, tensor(5))
    _refused("sizes must not depend on data", ValueError, chosen)


@pytest.mark.parametrize("width", [0, 1, 4])
def test_a_transposed_convolution_comes_back_with_its_padding(width):
    op = B.ConvTranspose2d(strides=[2, 3], padding=[1, 0], dilation=[2, 1], output_padding=[1, 2])
    inputs = tensor(1, 2, 3, width), tensor(2, 3, 3, 3)
    model, (wanted,) = exported(lambda x, weight: apply(op, x, weight)[0], *inputs)
    (got,) = flat(tessera.onnx.load(model)(*inputs))
    assert got.shape == wanted.shape
    np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-6)


def test_float16_and_bfloat16_stay():
    for dtype in ("float16", "bfloat16"):
        x = tensor(2, 3).astype(dtype)
        model, expected = exported(lambda x: F.relu(x) * 2, x)
        (got,) = by_reference(model, [x.numpy()])
        assert got.dtype == expected[0].dtype and (got == expected[0]).all()


def _sums(x):
    def _step(total, row):
        total = total + row * 2
        return total, total.mean()

    return F.scan(_step, F.zeros(3), x, reverse=True)


def _doubles(x):
    return F.while_loop(lambda n, y: y.sum() < 100, lambda n, y: (n + 1, y * 2), F.full([], 0), x)


def _branches(x):
    return F.cond(x.sum() > 0, lambda x: x + 1, lambda x: x * 2, x)


@pytest.mark.parametrize("function", [_sums, _doubles, _branches])
def test_loops_are_loops(function):
    x = abs(tensor(4, 3))
    for inputs in ([x], [-x] if function is _branches else [x + 1]):
        model, expected = exported(function, *inputs)
        # The reference has no Scan that goes backwards.
        check(
            model,
            inputs,
            expected,
            runtimes=(by_runtime, by_reference)[: 1 + (function is not _sums)],
        )
        for got, wanted in zip(flat(tessera.onnx.load(model)(*inputs)), expected, strict=True):
            np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-5)


FREE = {
    **NETWORKS,
    "sizes": lambda: (
        lambda x: F.reshape(x, (x.shape[0] * 3,)) * F.arange(x.shape[0] * 3),
        [tensor(4, 3)],
    ),
    "slices": lambda: (lambda x: F.concat([x[1:], x[:1]]) / x.shape[0], [tensor(4, 3)]),
    "a loop": lambda: (lambda x: F.scan(lambda c, r: (c + r, c), F.zeros(3), x), [tensor(4, 3)]),
}


@pytest.mark.parametrize("name", FREE)
def test_free_dimensions_stay_free(name):
    tessera.seed(2)
    function, inputs = FREE[name]()
    traced = jit.trace(lambda x: function(x), capture_as_const=True)
    traced(*inputs)
    stream = io.BytesIO()
    batch = jit.Dim("batch", 2, 100)
    tessera.onnx.export(traced, stream, arg_names=["x"], dims={"x": {0: batch}})
    model = onnx.load_from_string(stream.getvalue())
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"
    for count in (2, 4, 6):
        x = tessera.tensor(np.resize(inputs[0].numpy(), (count, *inputs[0].shape[1:])))
        expected = [each.numpy() for each in flat(function(x))]
        check(model, [x], expected)


def test_a_fixed_dimension_is_refused():
    traced = _called(lambda x: x.sum(axis=0) / x.shape[0] ** 0.5, tensor(4, 2))
    options = {"arg_names": ["x"], "dims": {"x": {0: jit.Dim("n")}}}
    _refused(
        "a free dimension must not be fixed in the program, got", ValueError, traced, **options
    )
    options = {"arg_names": ["x"], "dims": {"y": {0: jit.Dim("n")}}}
    _refused("dims must be of arguments in arg_names", ValueError, traced, **options)


def test_complex_numbers_are_padded():
    x = tessera.Tensor(np.arange(6, dtype="complex64").reshape(2, 3) * 1j)
    model, (expected,) = exported(lambda x: apply(B.Pad(low=[1, 0], high=[0, 2]), x)[0], x)
    np.testing.assert_array_equal(tessera.onnx.load(model)(x).numpy(), expected)
