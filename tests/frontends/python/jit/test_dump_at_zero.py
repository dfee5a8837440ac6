"""Files whose free size may be 0: they give what the function gives, or are refused."""

import pytest
import tessera
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
from tessera.core import sym_max, sym_min
from tessera.jit import Dim, load

from tests.frontends.python.jit.dumping import traced
from tests.support.helper import same_bits
from tests.support.networks import tensor

FUNCTIONS = {
    "a larger size": lambda x: F.zeros((sym_max(x.shape[0], 1), 2)),
    "a smaller size": lambda x: F.ones(sym_min(x.shape[0], 2)) * 3,
    "a larger number": lambda x: x.sum(0) / F.maximum(x.shape[0], 1),
    "elementwise": lambda x: F.exp(x) * 2 + 1,
    "a sum": lambda x: x.sum(0) + 1,
    "a sum of rows": lambda x: x.sum(1) * 2,
    "a mean": lambda x: x.sum(0) / x.shape[0],
    "a mean of at least one": lambda x: x.sum(0) / sym_max(x.shape[0], 1),
    "softmax": lambda x: F.softmax(x, 1),
    "a product": lambda x: F.matmul(x, tensor(3, 4, seed=5)),
    "a product of all": lambda x: F.matmul(x.transpose(1, 0), x),
    "joined": lambda x: F.concat([x, x * 2], 0),
    "stacked": lambda x: F.stack([x, x + 1], 1),
    "reshape": lambda x: F.reshape(x, (x.shape[0] * 3,)),
    "flatten": lambda x: F.flatten(x) * 2,
    "a slice": lambda x: x[1:] * 2,
    "the last ones": lambda x: x[-2:] + 1,
    "the first half": lambda x: x[: x.shape[0] // 2] + 1,
    "backwards": lambda x: x[::-1] * 2,
    "a column": lambda x: x[:, 0] - 1,
    "a range": lambda x: F.arange(x.shape[0]) + x[:, 1],
    "broadcast": lambda x: F.broadcast_to(x[:, :1], (2, x.shape[0], 3)) * 2,
    "repeat": lambda x: F.repeat(x, 2, 0),
    "repeat by a size": lambda x: F.repeat(tensor(2, 2, seed=3), x.shape[0]),
    "tile": lambda x: F.tile(x, (2, 1)),
    "pad": lambda x: F.pad(x, ((1, 1), (0, 0))),
    "roll": lambda x: F.roll(x, 1, 0),
    "sort": lambda x: F.sort(x)[0],
    "cumsum": lambda x: F.cumsum(x, 0),
    "where": lambda x: F.where(x > 0, x, F.zeros_like(x)),
    "a mask": lambda x: x[x > 0] * 2,
    "normalised": lambda x: F.layer_norm(x, (3,), False),
    "eye": lambda x: F.eye(x.shape[0]),
    "one_hot": lambda x: F.one_hot(F.arange(x.shape[0], dtype="int32") % 3, 3),
    "linear": M.Linear(3, 2),
    "a loop": lambda x: F.scan(lambda h, each: (h + each, h * 2), F.zeros(3), x),
    "split": lambda x: F.split(x, [1], 1),
    "at least one row": lambda x: F.ones((sym_max(x.shape[0] * 2, 1), sym_min(1, x.shape[0]))),
    "a number": lambda x: F.full((2,), 1.5) * x.shape[0],
}


@pytest.mark.parametrize("what", FUNCTIONS)
def test_a_file_serves_a_size_of_0(what, tmp_path):
    function = FUNCTIONS[what]
    traced(function, tensor(4, 3)).dump(
        tmp_path / "p", arg_names=["x"], dims={"x": {0: Dim("n", 0, 99)}}
    )
    program = load(tmp_path / "p")
    for size in (0, 1, 5):
        x = tensor(size, 3, seed=size)
        assert same_bits(program(x), function(x))


COMPARED = {
    "max": lambda x: F.zeros(max(x.shape[0], 1)),
    "min": lambda x: F.zeros(min(x.shape[0], 2)),
    "if": lambda x: x + 1 if x.shape[0] else x - 1,
    "a tensor": lambda x: F.ones(F.maximum(tessera.tensor(x.shape[0]), 1)),
}


@pytest.mark.parametrize("what", COMPARED)
def test_what_python_makes_of_a_size_is_refused(what, tmp_path):
    call = traced(COMPARED[what], F.ones((4, 3)))
    advice = (
        ""
        if what in ("if", "a tensor")
        else r" \(a size is compared at test_dump_at_zero.py:\d+: core.sym_max and"
    )
    with pytest.raises(ValueError, match="dimension must not be fixed in the program, .*" + advice):
        call.dump(tmp_path / "p", arg_names=["x"], dims={"x": {0: Dim("n", 0, 99)}})
