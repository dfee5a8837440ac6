"""Every module of the zoo, saved, and loaded where nobody knows its class."""

import copy
import os
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
import tessera as ts
import tessera.traced_module as tm
from tessera.autodiff import GradManager
from tessera.data import DataLoader, SequentialSampler
from tessera.data.dataset import Dataset
from tessera.optimizer import SGD
from tessera.traced_module.pytree import leaves_of

from tests.frontends.python.traced_module import zoo
from tests.frontends.python.traced_module.records import again, saved
from tests.support.helper import same_bits

REFUSED = {"programs/custom_gradients": "save: a gradient of one's own is code, which a file must "}
HERE = os.path.dirname(__file__)


def traced_zoo(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module, args = zoo.ALL[name]()
        return tm.trace_module(module, *args), args


def outputs(module, args):
    ts.random.seed(0)
    return [leaf for leaf in leaves_of(module(*args)) if isinstance(leaf, ts.Tensor)]


def test_all_load_in_another_process(tmp_path):
    expected = {}
    for name in zoo.ALL:
        if name not in REFUSED:
            traced, args = traced_zoo(name)
            path = tmp_path / f"{name.replace('/', '-')}.ckpt"
            ts.save({"net": traced, "args": args}, path)
            expected[path.with_suffix(".npz")] = outputs(traced, args)
    done = subprocess.run([sys.executable, os.path.join(HERE, "saved_zoo.py"), tmp_path],
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(expected) == len(zoo.ALL) - len(REFUSED)
    for path, wanted in expected.items():
        with np.load(path) as file:
            found = [file[str(i)] for i in range(len(file.files))]
        assert len(found) == len(wanted), path.name
        for one, other in zip(found, wanted, strict=True):
            assert one.dtype == other.numpy().dtype and one.shape == tuple(other.shape), path.name
            assert one.tobytes() == other.numpy().tobytes(), path.name


@pytest.mark.parametrize("name", [name for name in zoo.ALL if name not in REFUSED])
def test_a_loaded_module_is_the_saved_one(name):
    traced, args = traced_zoo(name)
    loaded = again(traced)
    assert saved(loaded) == saved(traced) == saved(traced)
    assert str(loaded.graph) == str(traced.graph) and loaded.graph.diff(traced.graph) == []
    assert repr(loaded) == repr(traced)
    state, wanted = loaded.state_dict(), traced.state_dict()
    assert list(state) == list(wanted)
    assert all(state[key].tobytes() == wanted[key].tobytes() for key in state)
    assert [e.line for e in loaded.graph.exprs()] == [e.line for e in traced.graph.exprs()]
    assert [n.qualname for n in loaded.graph.nodes()] == [n.qualname for n in traced.graph.nodes()]
    assert [n.id for n in loaded.graph.nodes()] == [n.id for n in traced.graph.nodes()]
    for mode in (True, False):
        loaded.train(mode), traced.train(mode)
        assert same_bits(outputs(loaded, args), outputs(traced, args))


@pytest.mark.parametrize("name", list(REFUSED))
def test_what_is_refused_says_why(name):
    traced, _ = traced_zoo(name)
    for write in (saved, pickle.dumps):
        with pytest.raises(TypeError, match=REFUSED[name]):
            write(traced)


def trained(module, args, steps=10):
    """Parameters after some steps."""
    ts.random.seed(0)
    optimizer = SGD(module.parameters(), lr=0.01, momentum=0.9)
    manager = GradManager().attach(module.parameters())
    for _ in range(steps):
        with manager:
            losses = [(out * out).mean() for out in leaves_of(module(*args))]
            manager.backward(sum(losses[1:], losses[0]))
        optimizer.step().clear_grad()
    return list(module.tensors())


@pytest.mark.parametrize(
    "name", ["examples/digits_net", "examples/vit", "programs/mixed_precision"]
)
def test_training_goes_on_by_the_same_bits(name):
    traced, args = traced_zoo(name)
    loaded = again(traced)
    assert same_bits(trained(loaded, args), trained(traced, args))


def test_pickles_and_copies():
    traced, args = traced_zoo("examples/unet")
    for made in (pickle.loads(pickle.dumps(traced)), copy.copy(traced), copy.deepcopy(traced)):
        assert type(made) is tm.TracedModule and made.graph is not traced.graph
        assert same_bits(outputs(made, args), outputs(traced, args))
    assert all(one is other for one, other in
               zip(copy.copy(traced).tensors(), traced.tensors(), strict=True))  # fmt: skip


class Scores(Dataset):
    """Computes its items by a network."""

    def __init__(self, net):
        self.net = net

    def __getitem__(self, index):
        return self.net(ts.tensor(np.full((2, 3, 16, 16), index, np.float32))).numpy()

    def __len__(self):
        return 4


def test_workers_of_a_data_loader():
    traced, _ = traced_zoo("examples/unet")
    alone, shared = (
        list(DataLoader(each, SequentialSampler(each, batch_size=2), num_workers=workers))
        for workers, each in ((0, Scores(traced.eval())), (2, Scores(traced.eval())))
    )
    assert len(alone) == 2 and same_bits(alone, shared)
