"""Errors, configuration, data, files, devices."""

import io
import pickle

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import DTypeError, ShapeError, Tensor, config, device, jit
from tessera.autodiff import GradManager
from tessera.core import apply
from tessera.core.ops import builtin
from tessera.data import DataLoader, Infinite, PseudoTransform, SequentialSampler, StreamSampler
from tessera.data.dataloader import get_worker_info

from tests.support.datasets import Count, Squares, Stalls, WorkerOf
from tests.support.helper import floats, same_bits

X = Tensor(floats(2, 3))
OF_SHAPES = {
    "operator": lambda: X + Tensor(floats(2)),
    "function": lambda: F.matmul(X, X),
    "reshape": lambda: F.reshape(X, (4, 4)),
    "method": lambda: X.reshape(5),
    "broadcast_to": lambda: F.broadcast_to(X, (3, 3)),
    "expand_dims out of range": lambda: F.expand_dims(X, 7),
    "a doubled axis": lambda: F.sum(X, (0, 0)),
    "in place": lambda: F.add(X, Tensor(floats(4, 2, 3)), inplace=True),
    "rebinding": lambda: exec("x += y", {"x": F.copy(X), "y": Tensor(floats(5))}),
    "assignment": lambda: F.copy(X).__setitem__(0, Tensor(floats(5))),
    "apply": lambda: apply(builtin.Elemwise("add"), X, Tensor(floats(5))),
    "a layer": lambda: tessera.module.Linear(4, 2)(X),
    "a traced function": lambda: jit.trace(lambda x: x @ x)(X),
}
OF_DTYPES = {
    "function": lambda: F.logical_not(X),
    "operator": lambda: X & X,
    "index": lambda: F.gather(X, 0, X),
}


@pytest.mark.parametrize("what", OF_SHAPES)
def test_b50_refusals_of_shapes(what):
    """What an operator raises for shapes that do not fit is a ValueError and a RuntimeError."""
    for kind in (ValueError, RuntimeError, ShapeError):
        with pytest.raises(kind, match="^[a-z_0-9]+: .*, got "):
            OF_SHAPES[what]()


@pytest.mark.parametrize("what", OF_DTYPES)
def test_b50_refusals_of_dtypes(what):
    """For dtypes it is a TypeError and a RuntimeError."""
    for kind in (TypeError, RuntimeError, DTypeError):
        with pytest.raises(kind, match="^[a-z_0-9]+: .*, got "):
            OF_DTYPES[what]()


def test_b50_they_are_pickled_and_others_are_not_such():
    """Refusals are pickled, and an error that is no operator's is none of them."""
    with pytest.raises(ShapeError) as caught:
        X.reshape(5)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is ShapeError and str(again) == str(caught.value)
    with pytest.raises(ValueError) as caught:
        Tensor([1], device="gpu7")
    assert not isinstance(caught.value, RuntimeError)
    manager = GradManager().attach(X)
    with manager, pytest.raises(ValueError, match="dy must have the shape"):
        manager.backward(X * 2, Tensor([1.0]))


def test_b51_settings_are_attributes():
    """async_level and its like are attributes; unknown ones are an AttributeError."""
    before = config.async_level
    config.async_level = 1
    assert config.async_level == 1
    config.async_level = before
    with pytest.raises(AttributeError, match="config: name must be one .*, got 'unknown'"):
        config.unknown = 1
    with pytest.raises(ValueError, match="async_level: level must be 0, 1 or 2"):
        config.async_level = 7


def test_b53_an_endless_sampler():
    """Infinite has its sampler's batch_size, and a loader takes it."""
    sampler = Infinite(SequentialSampler(Squares(3), batch_size=2))
    assert sampler.batch_size == 2
    batches = iter(DataLoader(Squares(3), sampler))
    assert [next(batches)[1].tolist() for _ in range(3)] == [[0, 1], [4], [0, 1]]


def test_b54_a_timeout_without_workers():
    """timeout holds without workers, too: a RuntimeError."""
    batches = iter(DataLoader(Squares(3, sleeps=1), timeout=0.5))
    next(batches)
    with pytest.raises(RuntimeError, match="timeout"):
        next(batches)


def test_b54_workers_of_one_stream():
    """Of several workers one reads the stream, and all transform it."""
    loader = DataLoader(Count(), StreamSampler(2), WorkerOf(), num_workers=2)
    samples = [pair for batch in loader for pair in np.stack(batch, axis=1).tolist()]
    loader.close()
    assert [number for number, _ in samples] == list(range(11))
    assert {worker for _, worker in samples} == {0, 1}


def test_e18_workers_and_transforms():
    """There is get_worker_info, and a loader's transform is a PseudoTransform by default."""
    assert get_worker_info() is None
    assert isinstance(DataLoader(Squares(3)).transform, PseudoTransform)
    assert Stalls


def test_b55_files():
    """load maps devices by a name, dict or function, save takes a pickle's protocol."""
    for location in ("cpu0", {"cpu0": "cpu0"}, lambda name: "cpu0"):
        stream = io.BytesIO()
        tessera.save({"x": X}, stream, pickle_protocol=4)
        stream.seek(0)
        assert same_bits(tessera.load(stream, map_location=location)["x"], X)


def test_b55_pickles_of_megengine():
    """A pickle of arrays is read without running its code; one that runs something is refused."""
    stream = io.BytesIO(pickle.dumps({"w": floats(2, 2), "epoch": 3}))
    got = tessera.load(stream)
    assert got["epoch"] == 3 and same_bits(got["w"], floats(2, 2))
    with pytest.raises(ValueError, match="print"):
        tessera.load(io.BytesIO(pickle.dumps(print)))


@pytest.mark.parametrize(
    "make", [lambda: builtin.Softmax(axis=1), lambda: builtin.Elemwise("add"),
             lambda: builtin.Reduce(mode="sum", axis=0)],
)  # fmt: skip
def test_b56_operators_are_values(make):
    """OpDefs are pickled, and equal ones hash alike."""
    first, again = make(), pickle.loads(pickle.dumps(make()))
    assert first == again == make() and hash(first) == hash(again)


def test_e16_sets_slices_and_seeds():
    """save takes sets and slices; a negative seed is a ValueError."""
    stream = io.BytesIO()
    tessera.save([{1, 2}, slice(1, None, 2)], stream)
    stream.seek(0)
    assert tessera.load(stream) == [{1, 2}, slice(1, None, 2)]
    with pytest.raises(ValueError, match="seed"):
        tessera.random.seed(-1)


GPU = ["get_cuda_version", "get_cuda_driver_version", "get_cuda_compute_capability",
       "get_cuda_device_property"]  # fmt: skip


@pytest.mark.skipif(device.is_cuda_available(), reason="there is a GPU")
def test_queries_of_cuda_say_that_there_is_none():
    """Functions that ask for a GPU say that there is none, and why."""
    for name in GPU:
        with pytest.raises(RuntimeError, match=rf"^{name}: there is no GPU \(.+\)$"):
            getattr(device, name)(*([0] if name.endswith(("capability", "property")) else []))


def test_queries_of_what_is_not_used_say_so():
    """There is no cuDNN, no TensorRT, and no memory that is reserved ahead."""
    for name in ("get_cudnn_version", "get_tensorrt_version", "set_prealloc_config"):
        with pytest.raises(RuntimeError, match=rf"^{name}: .+ \(.+\)$"):
            getattr(device, name)()
    for name, value in {
        "alignment": 0,
        "min_req": 0,
        "max_overhead": -1,
        "growth_factor": 0.5,
    }.items():
        with pytest.raises(ValueError, match=f"set_prealloc_config: {name} must be at least"):
            device.set_prealloc_config(**{name: value})
