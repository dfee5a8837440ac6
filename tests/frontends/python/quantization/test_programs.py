"""quantize_model of Networks of files and of models of ONNX: as of the module itself."""

import io

import numpy as np
import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
from tessera import jit
from tessera.quantization import PostTrainingConfig, quantize_model
from tessera.utils.network import Network

from tests.frontends.python.quantization.quantizing import numbers, ratio
from tests.support.helper import bits

SHAPE = (4, 3, 8, 8)


class Net(M.Module):
    """Convolutions with batch norms, a sum of two ways, a transposed one, and linear layers."""

    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = M.Conv2d(3, 8, 3, padding=1, bias=False), M.BatchNorm2d(8)
        self.conv2, self.bn2 = M.Conv2d(8, 8, 3, padding=1, groups=2), M.BatchNorm2d(8)
        self.conv3 = M.Conv2d(8, 8, 1)
        self.up = M.ConvTranspose2d(8, 4, 2, stride=2)
        self.fc1, self.fc2 = M.Linear(256, 16), M.Linear(16, 5, bias=False)

    def forward(self, x):
        x = F.max_pool2d(F.relu6(self.bn1(self.conv1(x))), 2)
        x = F.relu(self.bn2(self.conv2(x)) + x)
        x = F.relu(self.up(F.sigmoid(self.conv3(x))))
        return self.fc2(F.relu(self.fc1(F.flatten(x, 1))))


KINDS = ["conv2d + relu", "conv2d + add + relu", "conv2d + sigmoid", "conv_transpose2d + relu",
         "linear + relu", "linear"]  # fmt: skip


@pytest.fixture(scope="module")
def net():
    ts.seed(3)
    model = Net()
    for seed in range(10):
        model(numbers(*SHAPE, seed=seed) * 2 + 1)
    return model.eval(), [numbers(*SHAPE, seed=seed) for seed in range(3)]


def network(function, *args):
    """The Network of a function, and the variables that it is called with by name."""
    traced = jit.trace(function, capture_as_const=True)
    traced(*args)
    file = io.BytesIO()
    names = [f"input{number}" for number in range(len(args))]
    traced.dump(file, arg_names=names)
    file.seek(0)
    return Network.load(file)


def onnx_model(function, *args):
    pytest.importorskip("onnx")
    traced = jit.trace(function, capture_as_const=True)
    traced(*args)
    file = io.BytesIO()
    ts.onnx.export(traced, file, arg_names=[f"input{number}" for number in range(len(args))])
    file.seek(0)
    return ts.onnx.load(file)


PROGRAMS = {"network": network, "onnx": onnx_model}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("dtype", ["qint8", "quint8"])
def test_layers_are_those_of_the_module(net, program, dtype, tmp_path):
    """Batch norms, biases and activations go into layers, and bits are those of the module's."""
    model, samples = net
    config = PostTrainingConfig(activation_dtype=dtype)
    wanted, wanted_report = quantize_model(model, samples, config)
    made = PROGRAMS[program](model, samples[0])
    quantized, report = quantize_model(made, samples, config)
    assert [each.kind for each in report.layers] == KINDS and not report.kept_float
    assert [each.own_sqnr for each in report.layers] == pytest.approx(
        [each.own_sqnr for each in wanted_report.layers], abs=0.1
    )
    assert len(quantized.graph.get_method_by_type("astype").as_list()) == 2  # at both ends
    assert ratio(wanted(samples[1]), quantized(samples[1])) > 40
    quantized.dump(tmp_path / "net.tess")
    found = jit.load(tmp_path / "net.tess")(samples[1])
    assert bits([found]) == bits([quantized(samples[1])])
    assert all(np.dtype(each.dtype) != np.float32 or each.ndim < 2 or each.size < 20
               for each in quantized.parameters())  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("mode", ["dynamic", "weight_only"])
def test_other_modes(net, program, mode):
    model, samples = net
    config = PostTrainingConfig(mode=mode)
    quantized, report = quantize_model(PROGRAMS[program](model, samples[0]), samples, config)
    assert [each.kind for each in report.layers] == ["linear", "linear"]
    assert len(report.kept_float) == 4
    assert ratio(model(samples[1]), quantized(samples[1])) > 25


@pytest.mark.parametrize("program", PROGRAMS)
def test_names_of_inputs_and_layers(net, program):
    def _sum(x, y):
        return F.matmul(x, model.fc2.weight, transpose_b=True) + y, y * 2

    model, x, y = net[0], numbers(3, 16), numbers(3, 5)
    made = PROGRAMS[program](_sum, x, y)
    quantized, report = quantize_model(made, [{"input1": y, "input0": x}])
    assert [each.kind for each in report.layers] == ["linear + add"]
    assert ratio(_sum(x, y)[0], quantized(x, y)[0]) > 25
    name = report.layers[0].name
    config = PostTrainingConfig(keep_float=[name])
    _, report = quantize_model(made, [(x, y)], config)
    assert report.kept_float == ((name, "keep_float"),) and not report.layers
    with pytest.raises(TypeError, match=r"a sample must have the inputs \['input0', 'input1'\], "):
        quantize_model(made, [x])
    with pytest.raises(TypeError, match="got 0 by position, .'input0', 'other'. by name"):
        quantize_model(made, [{"input0": x, "other": y}])


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_weight_of_two_calls_and_joined_values(program, tmp_path):
    """Each call is a layer with a name of its own; what is joined between them stays integers."""
    weight = ts.tensor(numbers(4, 4, 1, 1).numpy(), name="conv_weight")

    def _twice(x):
        y = F.relu(F.conv2d(x, weight))
        z = F.relu(F.conv2d(y, weight))
        return F.conv2d(F.concat([y, z], 1), F.concat([weight, weight], 1))

    x = numbers(2, 4, 5, 5)
    quantized, report = quantize_model(PROGRAMS[program](_twice, x), [x])
    assert len({each.name for each in report.layers}) == 3
    assert len(quantized.graph.get_method_by_type("astype").as_list()) == 2
    assert ratio(_twice(x), quantized(x)) > 25
    ts.save(quantized, tmp_path / "net.tm")
    assert bits([ts.load(tmp_path / "net.tm")(x)]) == bits([quantized(x)])
    quantized.to_python(tmp_path / "net.py")
    assert "quantized" in (tmp_path / "net.py").read_text()


def test_refused_programs(net, tmp_path):
    model, samples = net

    def _loop(x):
        return F.scan(lambda s, e: (s + e, e), F.zeros_like(x[0]), x)[0]

    counts = ts.Tensor([0.0])

    def _counted(x):
        counts[...] = counts + 1
        return x + counts

    for function in (_loop, _counted):
        with pytest.raises(NotImplementedError, match="Network must have no loops and no state, g"):
            quantize_model(network(function, samples[0]), samples)
    traced = jit.trace(model, capture_as_const=True)
    traced(samples[0])
    traced.dump(tmp_path / "net.tess", arg_names=["x"])
    with pytest.raises(TypeError, match="model must be a Module, a Network .* got"):
        quantize_model(jit.load(tmp_path / "net.tess"), samples)
