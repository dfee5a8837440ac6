"""Rows beside peers, where no peer is: tiny networks, empty columns, processes of their own."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

import compiled  # noqa: E402
import int8  # noqa: E402
import memory  # noqa: E402
import peers  # noqa: E402
from harness import Row  # noqa: E402
from peers import catalog, child  # noqa: E402
from peers.network import Input, Network, integer_matrix, weight, weight_of_form  # noqa: E402
from peers.table import EMPTY, SEPARATOR, beside  # noqa: E402

IMAGE = Input((1, 3, 32, 32))
SEQUENCE, CLASSES = Input((2, 1, 8)), Input((2,), 4)
CACHE, WIDE = Input((1, 1, 2, 3, 4)), Input((1, 1, 2, 3, 16))
INFERENCE = [
    Network("resnet", (18,), (IMAGE,)),
    Network("mobilenet", (), (IMAGE,)),
    Network("encoder", (1,), (Input((1, 4, 256)),)),
    Network("decoder", (1, 8, 2, 11), (Input((1,), 11), CACHE, CACHE)),
    Network("lstm", (8,), (SEQUENCE,)),
    Network("matmul", (), (Input((2, 8)), Input((8, 4)))),
    Network("linear", (8,), (Input((2, 8)),)),
    Network("convolution", (4, 4), (Input((1, 4, 5, 5)),)),
    Network("mlp", (8, 4), (Input((2, 8)),)),
]
TRAINING = [
    Network("lstm", (8,), (SEQUENCE, SEQUENCE), "square"),
    Network("mlp", (8, 4), (Input((2, 8)), CLASSES), "cross_entropy", "adam"),
]


def kind_of(network):
    """The name of a case."""
    return network.kind


@pytest.fixture
def no_packages(monkeypatch):
    """Wants all peers, of which none is installed."""
    find = peers.importlib.util.find_spec
    monkeypatch.setenv("TESS_PEERS", "all")
    monkeypatch.setattr(
        peers.importlib.util, "find_spec", lambda name: find(name) if name == "tessera" else None
    )


@pytest.fixture
def files(monkeypatch, tmp_path):
    """A folder of its own for what processes share."""
    monkeypatch.setenv("TESS_PEER_FILES", str(tmp_path))
    return tmp_path


def test_a_peer_that_is_not_wanted_has_no_adapter(monkeypatch):
    monkeypatch.delenv("TESS_PEERS", raising=False)
    assert peers.wanted() == dict.fromkeys(peers.COLUMNS)


def test_a_peer_is_wanted_by_its_name(monkeypatch):
    monkeypatch.setenv("TESS_PEERS", "openvino,ONNX runtime")
    assert [each for each in peers.COLUMNS if peers.is_wanted(each)] == ["ONNX Runtime", "OpenVINO"]


@pytest.mark.usefixtures("no_packages")
def test_a_peer_that_is_not_installed_has_an_empty_column():
    row = compiled.timed("tiny", "inference", INFERENCE[-1], rounds=1, seconds=0.001)
    assert row.value > 0 and row.peer is None and row.ratio is None
    head, line = (each.split(SEPARATOR) for each in beside([row]).splitlines())
    cells = [each.strip() for each in line if each.strip()]
    assert len(cells) == len([each for each in head if each.strip()])
    assert cells[0] == "tiny" and float(cells[2]) > 0
    assert cells[3:] == [EMPTY] * (len(peers.COLUMNS) + 4)


@pytest.mark.parametrize("network", INFERENCE, ids=kind_of)
def test_a_tiny_network_gives_numbers(network):
    adapter = peers.load("Tessera")
    for array in adapter.arrays(adapter.inference(network, network.arrays())()):
        assert np.isfinite(array).all()


@pytest.mark.parametrize("network", INFERENCE, ids=kind_of)
def test_another_framework_computes_the_same_of_a_file(network, files):
    names = {"Tessera": peers.load("Tessera"), "ONNX Runtime": peers.load("ONNX Runtime")}
    found = compiled.functions_of(names, "inference", network, "tiny")
    assert list(found) == list(names)
    compiled.check("tiny", found, 1e-3)


@pytest.mark.parametrize("method", ["training_step", "eager_step"])
@pytest.mark.parametrize("network", TRAINING, ids=kind_of)
def test_a_step_lowers_the_loss(network, method):
    adapter = peers.load("Tessera")
    step = getattr(adapter, method)(network, network.arrays())
    first, *_, last = (adapter.arrays(step())[0] for _ in range(10))
    assert last < first


def test_integers_are_near_the_floats(files):
    network = Network("linear", (8,), (Input((2, 8)),))
    adapter, inputs = peers.load("Tessera"), network.arrays()
    (floats,) = adapter.arrays(adapter.inference(network, inputs)())
    (integers,) = adapter.arrays(adapter.integers(network, inputs)())
    np.testing.assert_allclose(integers, floats, atol=0.1)


def test_a_product_of_bytes_is_exact(files):
    network = Network("integer_matmul", (8,), (Input((4, 8), dtype="uint8"),))
    (x,) = network.arrays()
    wanted = x.astype(int) @ integer_matrix(8).astype(int)
    for column in ("Tessera", "ONNX Runtime"):
        adapter = peers.load(column)
        (found,) = adapter.arrays(adapter.integers(network, [x])())
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("method", ["integers", "own_integers"])
def test_layers_of_integers_are_near_the_floats(method, files):
    network = Network("convolution", (4, 1), (Input((1, 4, 5, 5)),))
    adapter, inputs = peers.load("Tessera"), network.arrays()
    (floats,) = adapter.arrays(adapter.inference(network, inputs)())
    (integers,) = adapter.arrays(getattr(adapter, method)(network, inputs)())
    assert int8.typical_error(floats, integers) < 0.05


@pytest.mark.parametrize("form", ["int8", "int4"])
def test_a_decoder_of_integer_weights_is_that_of_a_file(form, files):
    network = Network("decoder", (1, 32, 2, 11), (Input((1,), 11), WIDE, WIDE), weights=form)
    names = {"Tessera": peers.load("Tessera"), "ONNX Runtime": peers.load("ONNX Runtime")}
    found = compiled.functions_of(names, "weight_only", network, "tiny")
    assert list(found) == list(names)
    compiled.check("tiny", found, *int8.AGREE)


def test_a_weight_is_as_the_layer_has_it():
    from tessera.module import Linear
    from tessera.module.quantized import WeightOnlyLinear

    layer = Linear(64, 5)
    floats = layer.weight.numpy()
    made = WeightOnlyLinear.from_float_module(layer, 8, 32)
    numbers, scale = weight_of_form(floats, 8, 32)
    np.testing.assert_array_equal(made.weight.numpy(), numbers)
    np.testing.assert_array_equal(made.scale.numpy(), scale)


def test_a_row_has_its_share_of_the_limit():
    row = Row("tiny", 4.0, "ms", limit=3.0, share=0.5, peers={})
    assert row.of_limit == 0.75 and row.score == 1.5
    assert Row("tiny", 4.0, "ms", share=0.5).score is None


def test_other_results_are_told(files):
    found = {"Tessera": ([np.ones(3)], None), "JAX": ([np.zeros(3)], None)}
    with pytest.raises(RuntimeError, match="tiny: JAX computes what Tessera does not"):
        compiled.check("tiny", found, 1e-3)


def test_a_process_measures_itself(files):
    row = memory.peak("tiny", "training_step", TRAINING[-1])[0]
    assert row.value > 0 and row.unit == "MiB"
    cold, warm = memory.first_result("tiny", "inference", INFERENCE[-1])
    assert cold.value > 0 and warm.value > 0
    assert child.weights_file(INFERENCE[-1]).exists()


def test_weights_depend_on_their_names_only():
    np.testing.assert_array_equal(weight("a.weight", (2, 3)), weight("a.weight", (2, 3)))
    assert (weight("a.weight", (2, 3)) != weight("b.weight", (2, 3))).all()
    assert weight("norm.weight", (3,)).tolist() == [1, 1, 1]
    assert weight("norm.running_mean", (3,)).tolist() == [0, 0, 0]


def test_rows_have_names_and_counts():
    rows = {**catalog.INFERENCE, **catalog.TRAINING, **catalog.EAGER, **catalog.INTEGERS}
    assert all(network.multiply_adds > 0 for network in rows.values())
    assert "compiled_resnet_18_inference_b1" in compiled.BENCHMARKS
    assert len(compiled.BENCHMARKS) == len(rows) - len(catalog.INTEGERS)
    integers = {**catalog.INTEGERS, **catalog.OWN_INTEGERS, **catalog.WEIGHT_ONLY}
    assert len(int8.BENCHMARKS) == len(integers)
    assert {each.weights for each in catalog.WEIGHT_ONLY.values()} == set(int8.SHARES)
