"""Traced modules as Python: what is written runs with the bits of the module, by itself."""

import subprocess
import sys

import numpy as np
import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import tessera.traced_module as tm
from tessera.autodiff import Function
from tessera.quantization import PostTrainingConfig, quantize_model
from tessera.traced_module.layout import laid_out
from tessera.traced_module.pytree import leaves_of, map_leaves

from tests.frontends.python.traced_module import zoo
from tests.support.helper import bits

RUN = """
import sys
import tessera as ts
folder, seed = sys.argv[1:]
sys.path.insert(0, folder)
import net as written
net = written.load()
args = ts.load(folder + "/args.safetensors")
ts.seed(int(seed))
results = net(*args)
ts.save([results, net.state_dict()], folder + "/results.safetensors")
assert not [name for name in sys.modules if name.startswith("tessera.traced_module")]
"""
REFUSED = {"programs/custom_gradients": "gradients must be those of functions of the package"}


def in_a_process(traced, args, tmp_path):
    """Results and state of the written module, from a process that knows nothing else."""
    traced.to_python(tmp_path / "net.py")
    ts.save(args, tmp_path / "args.safetensors")
    command = [sys.executable, "-c", RUN, str(tmp_path), "5"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stderr
    return ts.load(tmp_path / "results.safetensors")


def check(module, args, tmp_path):
    """The file gives what the module does, and has no private names of the package."""
    traced = tm.trace_module(module, *args)
    found, state = in_a_process(traced, args, tmp_path)
    copies = map_leaves(lambda leaf: ts.tensor(leaf) if isinstance(leaf, ts.Tensor) else leaf, args)
    ts.seed(5)
    wanted = module(*copies)
    assert bits(leaves_of(found)) == bits(leaves_of(wanted))
    kept = module.state_dict()
    assert bits([state[name] for name in kept]) == bits(list(kept.values()))
    text = (tmp_path / "net.py").read_text()
    names = [word for line in text.splitlines() for word in line.split(".")[1:]]
    assert not [name for name in names if name.startswith("_") and not name.startswith("__")]
    return text


@pytest.mark.parametrize("is_training", [True, False])
@pytest.mark.parametrize("name", sorted(set(zoo.ALL) - set(REFUSED)))
def test_every_module_of_the_zoo_runs_by_itself(name, is_training, tmp_path):
    module, args = zoo.ALL[name]()
    text = check(module.train(is_training), args, tmp_path)
    assert all(len(line) <= 88 for line in text.splitlines())


@pytest.mark.parametrize(("name", "why"), REFUSED.items())
def test_modules_of_the_zoo_that_are_refused(name, why, tmp_path):
    module, args = zoo.ALL[name]()
    traced = tm.trace_module(module, *args)
    with pytest.raises(ValueError, match=f"^to_python: {why}"):
        traced.to_python(tmp_path / "net.py")
    assert list(tmp_path.iterdir()) == []


class Layers(M.Module):
    """Layers that become quantized modules, and functions with weights beside them."""

    def __init__(self):
        super().__init__()
        self.first, self.second = M.Conv2d(2, 4, 3, bias=False), M.Conv2d(4, 4, 3, padding="same")
        self.up, self.fc = M.ConvTranspose2d(4, 3, 2, stride=2), M.Linear(36 * 3, 6)

    def forward(self, x):
        x = F.relu(self.first(x))
        x = F.hswish(self.second(x) + x)
        return self.fc(F.flatten(F.relu(self.up(x)), 1))


QUANTIZED = {
    "defaults": PostTrainingConfig(),
    "zero points": PostTrainingConfig(activation_dtype="quint8", per_channel=False),
    "weights": PostTrainingConfig(mode="weight_only", bits=4, group=32),
}


@pytest.mark.parametrize("name", QUANTIZED)
def test_quantized_modules(name, tmp_path):
    x = ts.tensor(np.random.RandomState(0).randn(2, 2, 5, 5).astype("float32"))
    quantized, report = quantize_model(Layers().eval(), [x], QUANTIZED[name])
    text = check(quantized, (x,), tmp_path)
    assert report.layers and "M.quantized." in text


TIED = ts.Tensor([2.0, 3.0])


class Inner(M.Module):
    """A container, a constant and an argument that is one."""

    def __init__(self):
        super().__init__()
        self.items = {"a b": M.Linear(2, 2), "pair": (ts.Parameter([1.0, 2.0]), M.ReLU())}

    def forward(self, pair, scale=2.0, *, mode="a"):
        left, (right,) = pair
        weight, relu = self.items["pair"]
        return relu(self.items["a b"](left) * weight + right * TIED) * scale, {"right": right}


class Outer(M.Module):
    """Shared tensors, state, branches, bodies, modes and two ways to call a module."""

    def __init__(self):
        super().__init__()
        self.inner, self.norm, self.calls = Inner(), M.BatchNorm1d(2), ts.Tensor([0.0])
        self.twice = M.Sequential(M.Linear(2, 2), M.Sigmoid())
        self.twice[0].weight = self.inner.items["a b"].weight
        self.same = self.inner.items["a b"]
        self.norm.eval()

    def forward(self, x, names, more=None):
        self.calls = self.calls + 1.0
        with ts.no_grad():
            mean = 1 - x.mean(0)
        y, found = self.inner((x, (x[..., :1],)), 3.0)
        _, z = F.scan(lambda s, e: (s + e, F.relu(s * e) + mean), F.zeros_like(x[0]), y)
        z = F.cond(z.sum() > 0, lambda v: self.same(v), lambda v: v.reshape(v.shape), z)
        kinds = F.concat([self.twice(z), self.twice(z[:1]), found["right"] + x], axis=0)
        index = np.array([[0, 1]], dtype="int32")
        picked = F.gather(x, 1, ts.tensor(index)) + names["one"][0] + F.full((1,), np.inf) * 0
        ts.random.uniform(size=(2,))
        return kinds, self.norm(picked), {"count": self.calls, "none": more}


@pytest.mark.filterwarnings("ignore:trace_module. a tensor from outside")
def test_all_that_a_graph_may_hold(tmp_path):
    x = ts.tensor(np.random.RandomState(0).randn(1, 2).astype("float32"))
    text = check(Outer(), (x, {"one": [ts.Tensor([1.0])]}), tmp_path)
    for part in ('names["one"]', "with ts.no_grad():", "1 - mean_out", "net.norm.eval()",
                 "M.Sequential(M.Linear(2, 2), M.Sigmoid())", "if more is not None:",
                 'self.items["a b"]', 'self.same = self.inner.items["a b"]'):  # fmt: skip
        assert part in text, text


@pytest.mark.filterwarnings("ignore:trace_module. a tensor from outside")
def test_tensors_stay_shared_and_learn(tmp_path, monkeypatch):
    traced = tm.trace_module(Outer(), F.ones((1, 2)), {"one": [ts.Tensor([1.0])]})
    traced.to_python(tmp_path / "shared_net.py")
    monkeypatch.syspath_prepend(str(tmp_path))
    import shared_net

    net = shared_net.load()
    assert net.same is net.inner.items["a b"]
    assert getattr(net.twice, "0").weight is net.same.weight
    assert [name for name, _ in net.named_parameters()] == [
        name for name, _ in traced.named_parameters()
    ]
    with pytest.raises(ValueError, match=r"^Outer: more must be as it was recorded, got 3$"):
        net(F.ones((1, 2)), {"one": [ts.Tensor([1.0])]}, 3)


def test_equal_classes_are_written_once(tmp_path):
    module, args = zoo.ALL["programs/transformer"]()
    text = check(module, args, tmp_path)
    assert text.count("class Block(") == 1 and "self.blocks = [Block(), Block()]" in text


class Local(M.Module):
    """Calls a function that nobody can import."""

    def forward(self, x):
        return LOCAL(x)


LOCAL = tm.wrap(lambda x: x + 1)


class Kept(M.Module):
    """Has a constant that is no plain value."""

    def forward(self, x):
        return KEPT(x, b"bytes", {1, 2}, complex(1, 2), range(2), np.float32(1.5), ..., F.relu)


def kept(x, *rest):
    """Gives its first argument, twice."""
    assert rest[:5] == (b"bytes", {1, 2}, 1 + 2j, range(2), np.float32(1.5))
    return x + x


KEPT = tm.wrap(kept)
sys.modules["kept_functions"] = type(sys)("kept_functions")
sys.modules["kept_functions"].kept = kept
kept.__module__ = "kept_functions"


class Custom(Function):
    """A gradient of its own."""

    def forward(self, x):
        return x

    def backward(self, grad):
        return grad


@pytest.mark.parametrize(
    ("module", "why"),
    [
        (Local(), r"functions and classes must be importable, got '<lambda>' of "),
        (M.Sequential(type("Own", (M.Module,), {"forward": lambda self, x: Custom()(x)})()),
         r"gradients must be those of functions of the package .*, got Custom in '"),
    ],
)  # fmt: skip
def test_what_is_refused(module, why, tmp_path):
    traced = tm.trace_module(module, F.ones((2,)))
    with pytest.raises(ValueError, match=f"^to_python: {why}"):
        traced.to_python(tmp_path / "net.py")


def test_a_path_must_be_that_of_a_python_file(tmp_path):
    traced = tm.trace_module(M.Sequential(M.ReLU()), F.ones((2,)))
    with pytest.raises(ValueError, match=r"^to_python: path must end in \.py, got '.*net'$"):
        traced.to_python(tmp_path / "net")


def test_plain_constants_and_functions_of_modules(tmp_path):
    traced = tm.trace_module(Kept(), F.ones((2,)))
    traced.to_python(tmp_path / "net.py")
    text = (tmp_path / "net.py").read_text()
    assert "from kept_functions import kept" in text
    assert 'b"bytes"' in text or "b'bytes'" in text
    for part in ("1+2j", "range(0, 2)", "np.float32(1.5)", "...", "F.relu", "set([1, 2])"):
        assert part in text, text


def test_long_lines_are_broken_as_formatters_do():
    text = '    value = function(first_argument, [second, third], name="a, b(")'
    assert laid_out(text) == [text]
    assert laid_out(text, 60) == [
        "    value = function(",
        '        first_argument, [second, third], name="a, b("',
        "    )",
    ]
    assert laid_out(text, 50)[2] == "        [second, third],"
    assert laid_out("x" * 100) == ["x" * 100]
