"""Traced modules as programs of files: the bits of the module, in Python and by tess-run."""

import io
import subprocess
from pathlib import Path

import numpy as np
import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import tessera.traced_module as tm
from tessera import jit
from tessera.traced_module.pytree import leaves_of

from tests.frontends.python.traced_module import zoo
from tests.frontends.python.traced_module.batches import axis_of, longer
from tests.support.helper import as_list, bits

TOOL = Path("tools/tess-run").absolute()  # of the runfiles, where tests start
DRAWN = r"^dump: a free dimension must not be fixed in the program, got .* normal\(shape="
FIXED = {"examples/vae": DRAWN, "programs/random_numbers": DRAWN}  # whose batch is not free


def tensors(value):
    """The tensors of arguments or results, in order."""
    return [leaf for leaf in leaves_of(value) if isinstance(leaf, ts.Tensor)]


def by_tool(path, names, args, outputs):
    """Results that tess-run gives, and writes, for the arguments."""
    command = [str(TOOL), str(path)]
    for name, tensor in zip(names, args, strict=True):
        np.save(path.with_name(f"{name}.in.npy"), tensor.numpy())
        command += ["--input", f"{name}={path.parent}/{name}.in.npy"]
    files = [path.with_name(f"{name}.out.npy") for name in outputs]
    for name, file in zip(outputs, files, strict=True):
        command += ["--output", f"{name}={file}"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [np.load(file) for file in files]


def free(name, traced):
    """The batch of each input, as a free dimension."""
    return {node.name: {axis_of(name): jit.Dim("batch", 1, 64)} for node in inputs(traced)}


def inputs(traced):
    """The nodes of tensors that the module is given."""
    return [node for node in traced.graph.inputs if node.type_name == "Tensor"]


def check(traced, module, calls, path, **options):
    """The program gives what the module does, whose state it starts with."""
    ts.seed(3)
    traced.dump(path, **options)
    program, names = jit.load(path), [node.name for node in inputs(traced)]
    assert list(program.inputs) == names
    first = None
    for args in calls:
        wanted = bits(tensors(module(*args)))
        first = first or wanted
        assert bits(as_list(program(*tensors(args)))) == wanted
    assert bits(by_tool(path, names, tensors(calls[0]), program.outputs)) == first


@pytest.mark.parametrize("name", zoo.ALL)
def test_every_module_of_the_zoo_is_a_program(name, tmp_path):
    module, args = zoo.ALL[name]()
    traced, path = tm.trace_module(module.eval(), *args), tmp_path / "net.tess"
    if name not in FIXED:
        check(traced, module, [args, longer(name, args)], path, dims=free(name, traced))
        return
    with pytest.raises(ValueError, match=FIXED[name]):
        traced.dump(path, dims=free(name, traced))
    assert not path.exists()
    check(traced, module, [args, args], path)


class Counting(M.Module):
    """Sets an attribute to another tensor."""

    def __init__(self):
        super().__init__()
        self.calls = ts.Tensor([0.0])

    def forward(self, x):
        self.calls = self.calls + 1
        return x + self.calls


class Arguments(M.Module):
    """Takes arguments in many ways, and gives an input, a dict and no tensor."""

    def forward(self, x, pair, *more, scale=1.0, **rest):
        y = x * scale + pair[0] + pair[1]["b"] + more[0] + rest["last"]
        return x, {"y": F.exp(y).reshape(x.shape[0], -1), "none": None}, 3


def test_arguments_in_containers_are_inputs(tmp_path):
    a, b, c, d, e = (ts.tensor(np.full((2, 3), i, "float32")) for i in range(5))
    traced = tm.trace_module(Arguments(), a, (b, {"b": c}), d, scale=2.0, last=e)
    traced.dump(tmp_path / "net.tess")
    program = jit.load(tmp_path / "net.tess")
    wanted = traced(a, (b, {"b": c}), d, scale=2.0, last=e)
    assert bits(as_list(program(a, b, c, d, e))) == bits(tensors(wanted))


def test_statistics_go_on_from_their_values_now(tmp_path):
    module = M.Sequential(M.BatchNorm1d(3), M.Dropout(0.5))
    traced, x = tm.trace_module(module, F.ones((4, 3))), ts.tensor(np.random.rand(4, 3))
    before = bits(list(traced.tensors()))
    with pytest.raises(RuntimeError, match=r"^dump: .*training"):
        traced.dump(tmp_path / "net.tess")
    check(traced, module, [(x,), (x,)], tmp_path / "net.tess", training=True)
    assert bits(list(traced.tensors())) != before  # by the calls of the module, which shares them


def test_a_dump_leaves_the_module_and_the_random_numbers(tmp_path):
    traced = tm.trace_module(M.Sequential(M.BatchNorm1d(3), M.Dropout(0.5)), F.ones((4, 3)))
    before, state = bits(list(traced.tensors())), ts.random.default_rng.state_dict()
    traced.dump(io.BytesIO(), training=True, targets=())
    assert bits(list(traced.tensors())) == before
    assert ts.random.default_rng.state_dict() == state


# For each thing that cannot be a program, the module, its argument, and why.
WITHOUT = {
    "attributes that are set": (
        Counting(),
        NotImplementedError,
        r"^dump: modules must keep their tensors, as a program has no attributes, got 'setattr\("
        r"self, \"calls\", add_out\)' of Counting \(test_dumped\.py:",
    ),
    "results without tensors": (
        type("Sized", (M.Module,), {"forward": lambda self, x: x.shape[0]})(),
        ValueError,
        "^dump: ",
    ),
}


@pytest.mark.parametrize(("module", "error", "why"), WITHOUT.values(), ids=WITHOUT)
def test_what_cannot_be_dumped(module, error, why, tmp_path):
    traced = tm.trace_module(module, F.ones((2,)))
    with pytest.raises(error, match=why):
        traced.dump(tmp_path / "net.tess")


def test_shapes_of_inputs_must_be_known(tmp_path):
    traced = tm.trace_module(M.Sequential(M.ReLU()), F.ones((2,)))
    traced.graph.inputs[1].shape = None
    with pytest.raises(ValueError, match=r"^dump: the shapes of inputs must be known, got none "
                       r"of inp$"):  # fmt: skip
        traced.dump(tmp_path / "net.tess")
