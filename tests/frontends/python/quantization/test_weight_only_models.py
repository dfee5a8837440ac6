"""quantize_model of weights alone: the numbers of layers, what stays, reports, refusals."""

import copy

import numpy as np
import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
from tessera import jit
from tessera.module.quantized import WeightOnlyEmbedding, WeightOnlyLinear
from tessera.quantization import PostTrainingConfig, quantize_model

from tests.frontends.python.quantization.quantizing import numbers, ratio
from tests.support.helper import bits

CASES = [(8, 0), (8, 16), (4, 0), (4, 32)]


class Language(M.Module):
    """Tables, linear layers as modules and as a function, and layers of other kinds."""

    def __init__(self):
        super().__init__()
        self.table, self.places = M.Embedding(20, 48), ts.Parameter(numbers(6, 48) * 0.1)
        self.up, self.down, self.norm = M.LinearRelu(48, 64), M.Linear(64, 48), M.LayerNorm(48)
        self.along = M.Conv1d(48, 48, 3, padding=1)

    def forward(self, ids):
        x = self.table(ids) + F.embedding(F.arange(6, dtype="int32"), self.places)
        x = self.norm(x + self.down(self.up(x)))
        x = x + self.along(x.transpose(0, 2, 1)).transpose(0, 2, 1)
        return F.matmul(x, self.table.weight, transpose_b=True)


@pytest.fixture(scope="module")
def language():
    ts.seed(1)
    model = Language().eval()
    model.down.bias._reset(numbers(48))
    return model, [ts.tensor(np.random.RandomState(seed).randint(0, 20, (3, 6)).astype(np.int32))
                   for seed in range(3)]  # fmt: skip


def _config(bits, group=0, **others):
    return PostTrainingConfig(mode="weight_only", bits=bits, group=group, **others)


@pytest.mark.parametrize("size, group", CASES)
def test_layers_are_those_of_the_modules(language, size, group):
    """Each is what from_float_module makes, with the same bits."""
    model, samples = language
    quantized, report = quantize_model(model, samples, _config(size, group))
    kinds = {each.name: each.kind for each in report.layers}
    assert kinds == {"table": "embedding", "embedding": "embedding", "up": "linear + relu",
                     "down": "linear", "matmul": "linear"}  # fmt: skip
    reason = "weight_only: linear layers and embeddings only"
    assert report.kept_float == (("along", reason),)
    for name in ("up", "down"):
        wanted = WeightOnlyLinear.from_float_module(getattr(model, name), size, group)
        found, x = getattr(quantized, name), numbers(5, wanted.in_features)
        assert bits([found(x)]) == bits([wanted(x)]) and not found.training
    table = WeightOnlyEmbedding.from_float_module(model.table, size, group)
    assert bits([quantized.table(samples[0])]) == bits([table(samples[0])])
    assert isinstance(quantized.norm, M.LayerNorm)


@pytest.mark.parametrize("size, group", CASES)
def test_equal_bits_wherever_it_runs(language, size, group, tmp_path):
    model, samples = language
    before = bits(list(model.tensors()))
    quantized, report = quantize_model(model, samples, _config(size, group))
    assert bits(list(model.tensors())) == before
    wanted = quantized(samples[1])
    traced = jit.trace(quantized, capture_as_const=True)
    assert [bits([traced(samples[1])]) for _ in range(2)] == [bits([wanted])] * 2
    quantized.dump(tmp_path / "net.tess")
    assert bits([jit.load(tmp_path / "net.tess")(samples[1])]) == bits([wanted])
    ts.save(quantized, tmp_path / "net.tm")
    assert bits([ts.load(tmp_path / "net.tm")(samples[1])]) == bits([wanted])
    again = copy.deepcopy(quantized)
    again.load_state_dict(quantized.state_dict())
    assert bits([again(samples[1])]) == bits([wanted])


def test_ratios_of_layers(language):
    """They are those of each layer, grow with the bits, and by smaller groups."""
    model, samples = language
    reports = {case: quantize_model(model, samples, _config(*case))[1] for case in CASES}
    for each in reports.values():
        assert all(np.isfinite(row.own_sqnr) and row.scale is None for row in each.layers)
    own = {case: [row.own_sqnr for row in report.layers] for case, report in reports.items()}
    assert min(own[8, 0]) > 35 and min(own[4, 0]) > 10
    assert np.mean(own[4, 32]) > np.mean(own[4, 0]) + 0.5
    whole = (
        [model(each) for each in samples],
        [quantize_model(model, samples, _config(8))[0](each) for each in samples],
    )
    found = ratio(*(F.concat(each) for each in whole))
    assert reports[8, 0].layers[-1].sqnr == pytest.approx(found)
    assert "embedding" in str(reports[8, 0]) and "<svg" in reports[8, 0].svg


def test_layers_that_stay_float(language):
    model, samples = language
    config = _config(4, keep_float=["table", "down"])
    quantized, report = quantize_model(model, samples, config)
    assert {("table", "keep_float"), ("down", "keep_float")} < set(report.kept_float)
    assert isinstance(quantized.table, M.Embedding) and isinstance(quantized.down, M.Linear)
    assert isinstance(quantized.up, WeightOnlyLinear)
    with pytest.raises(ValueError, match="keep_float must name layers, table, .*, got head"):
        quantize_model(model, samples, _config(4, keep_float=["head"]))


def test_biases_take_back_mean_errors():
    model, x = M.Sequential(M.Linear(64, 4)), F.abs(numbers(256, 64)) + 1
    errors = []
    for correct in (False, True):
        quantized, _ = quantize_model(model, [x], _config(4, correct_bias=correct))
        errors.append(np.abs((quantized(x) - model(x)).mean(0).numpy()).max())
    assert errors[1] < errors[0] / 10


def test_models_on_another_device(language):
    model, samples = language
    wanted = quantize_model(model, samples, _config(4, 16))[0](samples[0])
    moved = copy.deepcopy(model).to("sim0")
    ids = samples[0].to("sim0")

    class On(M.Module):
        def __init__(self):
            super().__init__()
            self.table, self.up = moved.table, moved.up

        def forward(self, ids):
            return self.up(self.table(ids))

    quantized, _ = quantize_model(On(), [ids], _config(4, 16))
    assert {str(each.device) for each in quantized.tensors()} == {"sim0"}
    assert wanted.shape and quantized(ids).shape == (3, 6, 64)


def test_a_layer_with_relu_keeps_it():
    layer = M.LinearRelu(8, 4)
    made, x = WeightOnlyLinear.from_float_module(layer), numbers(6, 8)
    assert made.nonlinear_mode == "relu" and ratio(layer(x), made(x)) > 30
    with pytest.raises(ValueError, match=r"WeightOnlyLinear: nonlinear_mode must be one of .*relu"):
        WeightOnlyLinear(8, 4, nonlinear_mode="tanh")


@pytest.mark.parametrize(
    "given, text",
    [
        ({"bits": 5}, "bits must be 4 or 8, got 5"),
        ({"group": 24}, r"group must be one of \[0, 8, .*\], got 24"),
        ({"mode": "static", "bits": 4}, "must be 8 and 0 in the mode 'static', got 4 and 0"),
        ({"mode": "dynamic", "group": 8}, "must be 8 and 0 in the mode 'dynamic', got 8 and 8"),
    ],
)
def test_refusals(given, text):
    with pytest.raises(ValueError, match=f"PostTrainingConfig: .*{text}"):
        PostTrainingConfig(**{"mode": "weight_only", **given})
