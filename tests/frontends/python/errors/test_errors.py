"""Where errors point: operator, operands, and the user's line of the call; at every level."""

import gc
import inspect
import itertools
import re
from pathlib import Path

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import config, device, jit
from tessera import module as M  # noqa: N812
from tessera.autodiff import GradManager
from tessera.core import apply
from tessera.core.ops import builtin

LEVELS = [0, 1, 2]
HERE = Path(__file__).name


@pytest.fixture(params=LEVELS)
def level(request):
    """An async level for the test; nothing may be left that sync has to tell."""
    config.set_async_level(request.param)
    yield request.param
    tessera.sync()
    config.set_async_level(2)


def ones(*shape, dtype="float32"):
    return tessera.Tensor(np.ones(shape), dtype=dtype)


def bad(x=None):
    """A value that an operator refuses when it looks at the data."""
    x = ones(4, 2) if x is None else x
    return F.gather(x, 0, tessera.Tensor([[7, 0]]))


BAD = "gather: index must be in [-4, 3], got 7 (x f32[4, 2], index i32[1, 2]), at "
BAD_LINE = f"{HERE}:{bad.__code__.co_firstlineno + 3}"


def poisoned():
    """The same, late: a value without one, at every level."""
    with_level = config.get_async_level()
    config.set_async_level(2)
    value = bad()
    config.set_async_level(with_level)
    return value


def line_of(function):
    return f"{HERE}:{function.__code__.co_firstlineno}"


# What only data can refuse, by the way it is dispatched; each is one line.
LATE = {
    "program": lambda x, i: F.gather(x, 0, i),
    "program with segments": lambda x, i: x[i[0]],
    "scatter": lambda x, i: F.scatter(x, 0, i, ones(1, 2)),
    "OpDef": lambda x, i: apply(builtin.IndexGet(axes=[0]), x, i[0])[0],
    "queued behind other work": lambda x, i: F.gather(queued()[:4, :2], 0, i),
    "module": lambda x, i: M.Embedding(4, 2)(i),
    "write": lambda x, i: setitem(x, i[0]),
}


def queued():
    return ones(600, 600) @ ones(600, 600)


def setitem(x, index):
    x = x * 1
    x[index] = 2.0
    return x


@pytest.mark.parametrize("name", LATE)
def test_what_data_refuses(level, name):
    function = LATE[name]
    x, index = ones(4, 2), tessera.Tensor([[9, 0]])
    with pytest.raises(IndexError) as caught:
        value = function(x, index)
        assert level == 2, "levels 0 and 1 raise at the call"
        value.numpy()
    message = str(caught.value)
    where = setitem if name == "write" else function
    line = where.__code__.co_firstlineno + (2 if name == "write" else 0)
    assert re.match(r"\w+: index must be in \[-\d+, \d+\], got 9 \(\w+ f32\[", message), message
    assert re.search(r" i32\[[\d, ]+\][,)]", message) and f", at {HERE}:{line}" in message, message
    if level < 2:
        assert any(str(entry.path).endswith(HERE) for entry in caught.traceback[1:])


# What metadata refuses comes out of the call, on its line, at every level.
AT_THE_CALL = {
    "direct": (lambda: ones(2, 3) + ones(4), ValueError, r"add: .*f32\[2, 3\].*f32\[4\]"),
    "program": (lambda: ones(2, 3) @ ones(4, 5), ValueError, r"matmul: .*f32\[2, 3\].*f32\[4, 5\]"),
    "view": (lambda: ones(2, 3).reshape(4, 2), ValueError, r"reshape: .*\[2, 3\]"),
    "data-dependent": (lambda: ones(2, 3)[ones(4) > 0], (ValueError, IndexError), r": .*\[4\]"),
    "assign": (lambda: ones(2).set_value([1.0]), ValueError, r"set_value: .*\[2\], got \[1\]"),
    "create": (lambda: tessera.Tensor([[1], [2, 3]]), ValueError, "tensor: .*equal lengths"),
    "rename": (
        lambda: setattr(ones(2), "name", 3),
        TypeError,
        "name: value must be a str, got int",
    ),
    "device": (lambda: ones(2).to("gpu7"), ValueError, "gpu7"),
    "in place": (lambda: ones(2).__iadd__(ones(3)), ValueError, r"add: .*f32\[2\].*f32\[3\]"),
}


@pytest.mark.parametrize("name", AT_THE_CALL)
def test_what_metadata_refuses(level, name):
    call, error, text = AT_THE_CALL[name]
    with pytest.raises(error, match=text) as caught:
        call()
    assert any(str(entry.path).endswith(HERE) for entry in caught.traceback[1:])


SIDES = itertools.count(700, 7)  # a size of its own each time: no free block of it is kept


def out_of_memory(call):
    tessera.sync()
    gc.collect()  # frames of earlier tests hold tensors
    device.set_memory_limit(device.get_allocated_memory() + (1 << 18))
    try:
        with pytest.raises(MemoryError, match="cpu0: .* must .*, got ") as caught:
            call()
        assert any(str(entry.path).endswith(HERE) for entry in caught.traceback[1:])
    finally:
        device.set_memory_limit(1 << 40)


@pytest.mark.parametrize("name", ["create", "direct", "program", "copy"])
def test_memory(level, name):
    side = next(SIDES)
    large = ones(side, side)
    calls = {
        "create": lambda: ones(side, side),
        "direct": lambda: large + 1,
        "program": lambda: large @ large,
        "copy": lambda: F.flatten(large.transpose(1, 0)),
    }
    out_of_memory(calls[name])
    assert (large + 1).numpy().max() == 2


# One use for each kind of operator that the interpreter knows; a poisoned operand comes through it.
THROUGH = {
    "OpDef": {
        "direct": lambda y: y + 1,
        "program": lambda y: y @ ones(2, 2),
        "view": lambda y: y.reshape(2, 1),
        "data-dependent": lambda y: F.non_zero(y > 0)[0],
        "copy": lambda y: F.flatten(y.transpose(1, 0)),
        "another late one": lambda y: F.gather(y, 0, tessera.Tensor([[0, 0]])),
        "reduction": lambda y: y.sum(),
        "concat": lambda y: F.concat([ones(1, 2), y]),
        "forward graph": lambda y: apply(builtin.Gelu().make_forward_graph(y), y)[0],
    },
    "CreateTensor": {"copy": lambda y: tessera.Tensor(y)},
    "GetAttr": {"facts": lambda y: (y.shape, y.dtype, y.device, y.ndim) and y},
    "DupTensor": {"detach": lambda y: y.detach()},
    "RenameValue": {"name": lambda y: named(y)},
    "GetName": {"name": lambda y: (y.name, y)[1]},
}
WAYS = [(kind, name) for kind, ways in THROUGH.items() for name in ways]


def named(y):
    y.name = "y"
    return y


@pytest.mark.parametrize(("kind", "name"), WAYS)
def test_a_failure_comes_through(level, kind, name):
    with pytest.raises(IndexError) as caught:
        THROUGH[kind][name](poisoned()).numpy()
    assert BAD + BAD_LINE in str(caught.value)
    tessera.sync()  # seen is seen


def test_every_kind_of_operator_is_covered():
    header = Path("eager/tensor/Operator.h").read_text()
    kinds = re.search(r"enum class OperatorKind : uint8_t \{(.*?)\}", header, re.S).group(1)
    assert sorted(THROUGH) == sorted(each.strip() for each in kinds.split(","))


def assign(y):
    handle = ones(1, 2)
    handle._reset(y)
    return handle


def step(y):
    weight = ones(2, 2)
    with GradManager().attach([weight]) as manager:
        manager.backward((y @ weight).sum())
    return weight.grad


USES = {
    "assign": assign,
    "gradient": step,
    "write in place": lambda y: setitem(y, tessera.Tensor([0])),
}


@pytest.mark.parametrize("name", USES)
def test_a_failure_comes_through_updates(level, name):
    with pytest.raises(IndexError) as caught:
        USES[name](poisoned()).numpy()
    assert BAD + BAD_LINE in str(caught.value)


# Every call that waits for a value reports.
READS = {
    "numpy": lambda y: y.numpy(),
    "item": lambda y: y.sum().item(),
    "tolist": lambda y: y.tolist(),
    "sync": lambda y: tessera.sync(),
    "array": lambda y: np.asarray(y),
    "dlpack": lambda y: np.from_dlpack(y),
    "bool": lambda y: bool(y.sum() > 0),
    "float": lambda y: float(y.sum()),
    "int": lambda y: int(y.sum()),
    "iterate": lambda y: [float(each[0]) for each in y],
    "format": lambda y: f"{y.sum().item():.3f}",
    "to another device": lambda y: tessera.Tensor(y, device="sim0"),
    "traced": lambda y: jit.trace(lambda x: x * 2)(y).numpy(),
    "compare": lambda y: assert_equal(y),
}


def assert_equal(y):
    np.testing.assert_array_equal(y, np.ones((1, 2)))


@pytest.mark.parametrize("name", READS)
def test_every_read_reports(level, name):
    value = poisoned()
    with pytest.raises(IndexError) as caught:
        READS[name](value)
    assert str(caught.value) == BAD + BAD_LINE
    tessera.sync()  # nothing is told twice


def test_repr_shows_and_does_not_report(level):
    value = poisoned()
    assert f"<no value: {BAD}{BAD_LINE}>" in repr(value)
    with pytest.raises(IndexError):
        tessera.sync()
    tessera.sync()


def test_a_compiled_program_reports_the_line_of_its_operator(level):
    traced = jit.trace(lambda x, i: bad(x) if i is None else F.gather(x, 0, i) + 1)
    good, wrong = tessera.Tensor([[1, 0]]), tessera.Tensor([[9, 0]])
    for _ in range(3):
        assert traced(ones(4, 2), good).tolist() == [[2.0, 2.0]]
    with pytest.raises(IndexError, match="gather: index must be .* got 9") as caught:
        traced(ones(4, 2), wrong).numpy()
    assert f"{HERE}:{inspect.currentframe().f_lineno - 6}" in str(caught.value)


def test_sync_tells_every_failure_once(level):
    config.set_async_level(2)
    kept = [bad(), bad() + 1, ones(2)[tessera.Tensor([5])]]
    kept[2] = kept[2] * 2
    with pytest.raises(IndexError) as caught:
        tessera.sync()
    first, second, third = str(caught.value).split("\nalso ")
    assert first == second == BAD + BAD_LINE  # two calls on one line
    assert third.startswith("index_get: index must be in [-2, 1], got 5 (")
    tessera.sync()
    with pytest.raises(IndexError):
        kept[1].numpy()  # a value that is none stays none


def test_failures_that_nobody_wants_take_no_memory():
    """Whoever never synchronises keeps a bounded list of failures; the first one is told."""
    for _ in range(500):
        bad()
    with pytest.raises(IndexError) as caught:
        tessera.sync()
    told = str(caught.value).split("\nalso ")
    assert set(told) == {BAD + BAD_LINE} and 1 <= len(told) <= 64


def test_effects_come_in_the_programs_order(level):
    """What a user sees of values: each read has what was written before it, and no later write."""
    big, seen = ones(900, 900), []
    x = ones(900, 900)
    for i in range(6):
        x = (x @ big) * (1 / 900) + 1
        view = x[0]
        copy = x.detach()
        x[:, 0] = float(i)
        seen.append((view[1].item(), copy[0, 0].item(), x[0, 0].item()))
        x[:, 0] = x[0, 1].item()
    for i, (in_view, in_copy, written) in enumerate(seen):
        assert in_view == pytest.approx(2 + i) and written == i
        assert in_copy == pytest.approx(2 + i)


def test_module_scope_is_named(level):
    class Net(M.Module):
        def __init__(self):
            super().__init__()
            self.picks = M.Embedding(4, 2)

        def forward(self, index):
            return self.picks(index)

    with pytest.raises(IndexError, match=r"got 9 .*, at test_errors.py:\d+ \(.*picks\)"):
        Net()(tessera.Tensor([9])).numpy()
    with pytest.raises(TypeError, match=r": .*, got .*picks\)"):
        Net()(ones(2)).numpy()
