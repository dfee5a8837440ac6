"""quantize_model: graphs, numbers, bits wherever they run, refusals."""

import copy

import numpy as np
import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import tessera.traced_module as tm
from tessera import jit
from tessera.quantization import PostTrainingConfig, quantize_model
from tessera.traced_module.pytree import leaves_of

from tests.frontends.python.quantization import formulas
from tests.frontends.python.quantization.formulas import floats
from tests.frontends.python.quantization.quantizing import CONFIGS, numbers, ratio
from tests.support.helper import bits


class Mixed(M.Module):
    """Layers of all kinds between functions written in forward."""

    def __init__(self):
        super().__init__()
        self.fused = M.ConvBnRelu2d(4, 4, 3, padding=1, groups=2)
        self.mirrored = M.Conv2d(4, 4, 3, padding=1, padding_mode="reflect")
        self.weight = ts.Parameter(floats(4, 4, 1, 1))
        self.depthwise, self.norm = M.Conv2d(8, 8, 3, groups=8, padding="same"), M.BatchNorm2d(8)
        self.up = M.ConvTranspose2d(8, 4, 2, stride=2, groups=2, bias=False)
        self.along, self.layer_norm = M.Conv1d(4, 6, 3, padding="same"), M.LayerNorm(5)
        self.fc, self.last, self.shared = M.Linear(36, 5), M.LinearBnRelu1d(5, 5), M.Linear(5, 5)

    def forward(self, x):
        y = self.fused(x)
        z = F.concat([self.mirrored(y), y], 1)
        z = self.up(F.relu6(self.norm(self.depthwise(z))))
        z = F.max_pool2d(z, 2)
        z = F.hswish(F.conv2d(z, self.weight) + z)
        z = F.sigmoid(self.along(z.reshape(z.shape[0], 4, -1)))[:, :, :6]
        z = self.last(self.layer_norm(self.fc(z.reshape(z.shape[0], -1))))
        return self.shared(self.shared(z)), {"last": z}


KINDS = {
    "fused": "conv2d + relu",
    "mirrored": "conv2d",
    "depthwise": "conv2d + relu",
    "up": "conv_transpose2d",
    "conv2d": "conv2d + add + hswish",
    "along": "conv1d + sigmoid",
    "fc": "linear",
    "last": "linear + relu",
    "shared": "linear",
    "shared_1": "linear",
}


def trained(model, *shape):
    """The model in inference, with statistics that are not those of its beginning."""
    ts.seed(0)
    for number, parameter in enumerate(model.parameters()):
        parameter._reset(parameter + numbers(*parameter.shape, seed=number) * 0.1)
    for seed in range(20):
        model(numbers(*shape, seed=seed))
    return model.eval()


@pytest.fixture(scope="module")
def mixed():
    return trained(Mixed(), 8, 4, 6, 6), [numbers(8, 4, 6, 6, seed=seed) for seed in range(4)]


def test_kinds_of_layers(mixed):
    """Each layer, with what follows it, is a unit; all others stay float32."""
    model, samples = mixed
    quantized, report = quantize_model(model, samples)
    assert {each.name: each.kind for each in report.layers} == KINDS and not report.kept_float
    assert all(each.own_sqnr > 25 for each in report.layers)
    assert not [each for each in quantized.modules() if isinstance(each, M.BatchNorm2d)]
    assert isinstance(quantized.layer_norm, M.LayerNorm) and not quantized.training
    assert isinstance(quantized.fused, M.quantized.ConvRelu2d)
    state = quantized.state_dict()
    assert state["mirrored.weight"].dtype == np.int8 and "weight" not in state


@pytest.mark.parametrize("name", CONFIGS)
def test_equal_bits_wherever_it_runs(mixed, name, tmp_path):
    """Eagerly, traced, from a program's file, from a module's file and from a state."""
    model, samples = mixed
    quantized, _ = quantize_model(model, samples, CONFIGS[name])
    x = samples[1]
    wanted = bits(leaves_of(quantized(x)))
    traced = jit.trace(lambda x: leaves_of(quantized(x)), capture_as_const=True)
    assert [bits(traced(x)) for _ in range(3)] == [wanted] * 3
    quantized.dump(tmp_path / "net.tess")
    program = jit.load(tmp_path / "net.tess")
    assert bits(program(x)) == wanted
    ts.save(quantized, tmp_path / "net.tm")
    assert bits(leaves_of(ts.load(tmp_path / "net.tm")(x))) == wanted
    other = quantize_model(model, [samples[0] * 3], CONFIGS[name])[0]
    if name == "dynamic":  # scales of activations are no part of a state
        other.load_state_dict(quantized.state_dict())
        assert bits(leaves_of(other(x))) == wanted
    again = copy.deepcopy(quantized)
    again.load_state_dict(quantized.state_dict())
    assert bits(leaves_of(again(x))) == wanted


@pytest.mark.parametrize("name", CONFIGS)
def test_the_model_stays_as_it_is(mixed, name):
    model, samples = mixed
    before, x = bits(list(model.tensors())), samples[0]
    wanted = bits(leaves_of(model(x)))
    quantized, _ = quantize_model(model.train(), samples, CONFIGS[name])
    assert model.training and bits(list(model.eval().tensors())) == before
    assert bits(leaves_of(model(x))) == wanted
    own = {id(each) for each in model.tensors()}
    assert own.isdisjoint(map(id, quantized.tensors()))


def test_numbers_of_a_linear_layer():
    """The integers are those of the specification, written out in NumPy."""
    model, x = M.Sequential(M.Linear(6, 3), M.ReLU()), numbers(5, 6, seed=3)
    model[0].bias._reset(numbers(3))
    quantized, report = quantize_model(model, [x])
    weight, bias = (each.numpy() for each in (model[0].weight, model[0].bias))
    weight_scale = np.abs(weight).max(1) / np.float32(127)
    integers = np.clip(formulas.away(weight / weight_scale[:, None]), -127, 127)
    assert np.array_equal(quantized.state_dict()["0.weight"], integers)
    x_scale = formulas.symmetric_scale(x.numpy().min(), x.numpy().max(), "qint8")
    rows = np.clip(formulas.away(x.numpy() / x_scale), -128, 127)
    scale = np.float32(x_scale) * weight_scale
    sums = rows @ integers.T + formulas.away(bias / scale)
    y = np.maximum(np.float32(sums) * scale, 0)
    y_scale = np.float32(report.layers[0].scale)
    wanted = np.clip(formulas.away(y / y_scale), -128, 127) * y_scale
    assert np.array_equal(quantized(x).numpy(), np.float32(wanted))


def test_values_that_move_stay_integers():
    class Moves(M.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = M.Conv2d(2, 4, 3, padding=1), M.Linear(2, 3)
            self.pool = M.MaxPool2d(2)

        def forward(self, x):
            y = self.pool(F.relu(self.first(x)))
            y = F.concat([y, y], 1).transpose(0, 2, 3, 1).reshape(-1, 2)[1:]
            return self.second(F.flatten(y, 1))

    model, x = Moves(), numbers(2, 2, 6, 6)
    quantized, _ = quantize_model(model, [x])
    steps = quantized.graph.get_method_by_type("astype").as_list()
    assert len(steps) == 2  # at both ends
    assert ratio(model(x), quantized(x)) > 30


class Written(M.Module):
    """Layers that are written as functions and operators."""

    def __init__(self):
        super().__init__()
        self.kernel, self.shift = ts.Parameter(floats(4, 2, 3, 3)), ts.Parameter(floats(4, 1, 1))
        self.matrix, self.rows = ts.Parameter(floats(4, 5)), ts.Parameter(floats(3, 5))
        self.bias, self.moves = ts.Parameter(floats(5)), ts.Tensor(floats(3, 3))

    def forward(self, x):
        y = F.relu(F.conv2d(x, self.kernel, padding=1) + self.shift).mean((2, 3))
        y = F.matmul(F.relu(self.bias + y @ self.matrix), self.rows, transpose_b=True)
        self.moves[0] = 1.0
        return y @ self.moves


def test_layers_written_as_functions():
    """Constants that are added are biases; a weight that a call changes stays as it is."""
    model, x = Written(), numbers(4, 2, 6, 6)
    quantized, report = quantize_model(model, [x])
    kinds = [(each.name, each.kind) for each in report.layers]
    assert kinds == [("conv2d", "conv2d + relu"), ("matmul", "linear + relu"),
                     ("matmul_1", "linear")]  # fmt: skip
    assert report.kept_float == (("matmul_2", "a weight that calls change"),)
    assert ratio(model(x), quantized(x)) > 25
    names = {"conv2d", "matmul", "matmul_1"}
    state = {f"{name}.weight" for name in names} | {"conv2d.bias", "matmul.bias", "moves"}
    assert set(quantized.state_dict()) == state


def test_control_flow():
    """Layers in bodies stay float32, also where they are called outside, too."""

    class Loops(M.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = M.Linear(4, 4), M.Linear(4, 4)

        def forward(self, x):
            y = self.second(self.first(x))
            y = F.cond(y.sum() > 0, lambda y: y * 2, lambda y: y - 1, y)
            return F.scan(lambda total, row: (total + self.second(row), total), y[0], y)[0]

    model, x = Loops(), numbers(6, 4)
    quantized, report = quantize_model(model, [x])
    assert [each.name for each in report.layers] == ["first", "second_1"]
    assert report.kept_float == (("second", "within control flow"),)
    assert ratio(model(x), quantized(x)) > 25


def test_in_place_changes():
    """A change of a tensor is seen by layers that read it later, and by no others."""

    class Changes(M.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second, self.third = (M.Linear(4, 4) for _ in range(3))

        def forward(self, x):
            y = self.first(x)
            before = self.second(y)
            view = y[:, 1:]
            view[:, 0] = 2.0
            y += 1
            return self.third(y) + before

    model, x = Changes(), numbers(16, 4)
    quantized, report = quantize_model(model, [x])
    assert ratio(model(x), quantized(x)) > 30 and len(report.layers) == 3


def test_buffers_are_those_of_the_model():
    """Runs on samples change neither buffers of the result nor random numbers of the caller."""

    class Counts(M.Module):
        def __init__(self):
            super().__init__()
            self.fc, self.calls = M.Linear(4, 4), ts.Tensor([5.0])

        def forward(self, x):
            self.calls += 1
            return self.fc(x) + self.calls

    model, x = Counts(), numbers(3, 4)
    state = ts.random.default_rng.state_dict()
    quantized, report = quantize_model(model, [x, x], CONFIGS["corrected"])
    assert ts.random.default_rng.state_dict() == state
    assert quantized.calls.tolist() == model.calls.tolist() == [5.0]
    assert ratio(model(x), quantized(x)) > 35 and report.layers[0].own_sqnr > 30


def test_models_on_another_device():
    model, x = M.Sequential(M.Conv2d(2, 3, 3), M.ReLU(), M.Conv2d(3, 2, 3)), numbers(2, 2, 8, 8)
    wanted = {name: quantize_model(model, [x], CONFIGS[name])[0](x) for name in CONFIGS}
    model, x = model.to("sim0"), x.to("sim0")
    for name, config in CONFIGS.items():
        quantized, _ = quantize_model(model, [x], config)
        assert {str(each.device) for each in quantized.tensors()} == {"sim0"}
        assert ratio(wanted[name], quantized(x)) > 25


def test_traced_modules_and_named_arguments():
    class Two(M.Module):
        def __init__(self):
            super().__init__()
            self.fc = M.Linear(4, 2)

        def forward(self, x, shift):
            return self.fc(x) + shift

    model, x, shift = Two(), numbers(3, 4), numbers(3, 2, seed=1)
    samples = [{"x": x, "shift": shift}, {"x": x.numpy(), "shift": shift}]
    quantized, _ = quantize_model(model, samples)
    assert ratio(model(x, shift), quantized(shift=shift, x=x)) > 30
    traced = tm.trace_module(model, x, shift)
    again, _ = quantize_model(traced, [(x, shift)])
    assert bits([again(x, shift)]) == bits([quantized(x, shift)])
    assert isinstance(traced.fc, M.Linear)


# Refusals.


def test_refused_samples():
    model = M.Linear(3, 2)
    for samples, error, text in [
        ([], ValueError, "samples must be one at least, got none"),
        ([numbers(2, 3) * np.nan], ValueError, "samples must have finite numbers, got NaN"),
        (numbers(2, 3), TypeError, "samples must be an iterable of inputs.* got Tensor"),
        (3, TypeError, "samples must be an iterable of inputs.* got int"),
        ([3], TypeError, "a sample must be a tensor, or a tuple, list or dict"),
    ]:
        with pytest.raises(error, match=f"quantize_model: {text}"):
            quantize_model(model, samples)
    with pytest.raises(ValueError, match="values of each layer must be finite.* got none of "):
        quantize_model(M.Sequential(M.Elemwise("log"), model), [numbers(2, 3) * 0 - 1])


def test_refused_models_and_settings():
    x = [numbers(2, 3)]
    with pytest.raises(TypeError, match="model must be a Module, a Network .* got int"):
        quantize_model(3, x)
    with pytest.raises(TypeError, match="config must be a PostTrainingConfig, got 'mse'"):
        quantize_model(M.Linear(3, 2), x, "mse")
    config = PostTrainingConfig(keep_float=["fc", "head"])
    with pytest.raises(ValueError, match="keep_float must name layers, 0, got fc, head"):
        quantize_model(M.Sequential(M.Linear(3, 2)), x, config)
    for given, error in [
        ({"mode": "weights"}, ValueError),
        ({"method": "kl"}, ValueError),
        ({"percentile": 50}, ValueError),
        ({"activation_dtype": "qint32"}, ValueError),
        ({"keep_float": "fc"}, TypeError),
        ({"keep_float": [1]}, TypeError),
    ]:
        with pytest.raises(error, match=f"PostTrainingConfig: {next(iter(given))} must be"):
            PostTrainingConfig(**given)


def test_models_without_layers():
    quantized, report = quantize_model(M.Sequential(M.ReLU()), [numbers(2)])
    assert report.layers == () and str(report).startswith("layer") and "<svg" in report.svg
    assert quantized(numbers(2)).tolist() == F.relu(numbers(2)).tolist()
