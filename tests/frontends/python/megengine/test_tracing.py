"""Tracing and dumping."""

import io

import numpy as np
import pytest
import tessera.functional as F  # noqa: N812
from tessera import Tensor, jit
from tessera import module as M  # noqa: N812
from tessera import random as R  # noqa: N812

from tests.support.helper import floats, same_bits


def dumped(function, x, **options):
    """What load makes of the function's file, in memory."""
    traced = function if isinstance(function, jit.trace) else jit.trace(
        function, capture_as_const=True)  # fmt: skip
    traced(x)
    traced(x)
    stream = io.BytesIO()
    traced.dump(stream, arg_names=["x"], **options)
    return stream


def loaded(stream, tmp_path):
    (tmp_path / "f.tess").write_bytes(stream.getvalue())
    return jit.load(tmp_path / "f.tess")


def test_b24_the_error_of_a_trace():
    """TraceError is the class of a trace's mismatches."""
    assert issubclass(jit.TraceMismatchError, jit.TraceError)
    count = []

    @jit.trace(check=True)
    def changing(x):
        count.append(0)
        return x + len(count) % 2

    changing(Tensor([1.0]))
    with pytest.raises(jit.TraceError, match="must do the same whenever it is called like this"):
        changing(Tensor([1.0]))


@pytest.mark.parametrize("kind", [M.BatchNorm2d, M.SyncBatchNorm])
def test_b26_training_is_not_dumped(kind, tmp_path):
    """Batch normalisation that moves its statistics is not dumped, unless one asks for it."""
    x, net = Tensor(floats(2, 3, 4, 4)), M.Sequential(kind(3), M.ReLU())
    text = r"dump: batch normalisation must be in inference mode, as eval\(\) of its module .*, got"
    with pytest.raises(RuntimeError, match=text + r" one in training at .*:\d+ \(Sequential.0\)"):
        dumped(net.__call__, x)
    program = loaded(dumped(net.__call__, x, training=True), tmp_path)
    assert same_bits(program(x), net(x)) and len(program.state_dict()) == 2
    net.eval()
    assert same_bits(loaded(dumped(net.__call__, x), tmp_path)(x), net(x))
    of_batch = kind(3, track_running_stats=False)  # has no statistics to move
    assert same_bits(loaded(dumped(of_batch.__call__, x), tmp_path)(x), of_batch(x))


def test_e14_random_programs_have_a_state_of_their_own(tmp_path):
    """A dumped program with random operators asks for no further input, and its state is set."""
    x = Tensor(np.zeros(1000, np.float32))
    stream = dumped(lambda x: x + R.uniform(size=(1000,)), x)
    first, second = loaded(stream, tmp_path), loaded(stream, tmp_path)
    assert first.inputs == ["x"]
    draws = [first(x) for _ in range(2)]
    assert not same_bits(*draws) and same_bits(second(x), draws[0])
    state = first.state_dict()
    later = first(x)
    first.load_state_dict(state)
    assert same_bits(first(x), later)


def test_e14_a_function_must_return_a_tensor():
    """Dumping a function that returns no tensor is a ValueError."""
    with pytest.raises(
        ValueError, match="dump: nothing must return a tensor, got a call with none"
    ):
        dumped(jit.trace(nothing, capture_as_const=True), Tensor([1.0]))


def nothing(x):
    x + 1


def test_e15_all_axes_in_one_word(tmp_path):
    """dims="all" frees every axis of every input, each by itself."""
    x = Tensor(floats(3, 4))
    program = loaded(dumped(lambda x: F.relu(x).sum(axis=1) * 2, x, dims="all"), tmp_path)
    for shape in ((3, 4), (1, 7), (5, 2)):
        other = floats(*shape, seed=1)
        assert same_bits(program(Tensor(other)), F.relu(Tensor(other)).sum(axis=1) * 2)
    with pytest.raises(ValueError, match="dump: dims must be a dict or \"all\", got 'every'"):
        dumped(lambda x: x + 1, x, dims="every")


def test_e03_copies_of_modules_with_traced_methods():
    """A module whose method is traced is copied without its recordings."""
    import copy

    class Net(M.Module):
        def __init__(self):
            super().__init__()
            self.fc = M.Linear(4, 2)

        @jit.trace
        def forward(self, x):
            return self.fc(x)

    net, x = Net(), Tensor(floats(3, 4))
    wanted = net(x), net(x)
    again = copy.deepcopy(net)
    net.fc.bias.set_value([1.0, 1.0])
    assert same_bits(again(x), wanted[1]) and not same_bits(net(x), wanted[1])


def test_switches_of_fusion_change_no_bit():
    """jit.GraphOptimizationConfig switches fusion off, which changes kernels and no result."""
    config = jit.GraphOptimizationConfig()
    assert repr(config) == (
        "GraphOptimizationConfig { jit_fuse_dimshuffle = UNSET, jit_fuse_reduce = UNSET }"
    )
    plain, on = jit.trace(chain), jit.trace(chain, graph_opt_config=config)
    config.jit_fuse_reduce = False
    off = jit.trace(chain, graph_opt_config=config)
    x = Tensor(floats(5, 6))
    results = [[function(x) for _ in range(3)][-1] for function in (plain, on, off)]
    assert same_bits(results[0], results[1]) and same_bits(results[0], results[2])
    launches = [function.program().launches for function in (plain, on, off)]
    assert launches[0] == launches[1] < launches[2]
    with pytest.raises(ValueError, match="jit_fuse_reduce must be True, False or None, got 3"):
        config.jit_fuse_reduce = 3
    with pytest.raises(AttributeError):
        config.jit_fuse_all = True


def chain(x):
    return F.exp(x * 2 + 1).sum(axis=0)
