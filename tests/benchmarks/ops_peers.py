"""Time of operators beside PyTorch: those of peer_calls.toml, at three sizes, with and without
gradients, two threads each.
"""

import math
import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tessera
import tessera.functional as F  # noqa: N812
from harness import Row, interleaved, synced, torch
from tessera.autodiff import GradManager

THREADS = 2
SIZES = ("small", "medium", "large")
ROUNDS, SECONDS = 7, 0.01
BEFORE = 10  # calls that no clock sees: operators are called again and again, and are faster then
MEAN, LEAST = 1.2, 0.7  # what the ratios' geometric mean, and each of them, should reach


@dataclass(frozen=True)
class Call:
    """One line of the list: what both frameworks compute of operands named by the family."""

    family: str
    name: str
    ours: str
    theirs: str
    has_gradient: bool
    operands: dict  # by name: a specification for each size


def calls():
    """Every Call of the list, in its order."""
    text = Path(__file__).with_name("peer_calls.toml").read_text(encoding="utf-8")
    for family, part in tomllib.loads(text).items():
        for key, has_gradient in (("calls", True), ("forward", False)):
            for line in part.get(key, ()):
                yield Call(family, *line, has_gradient, part["operands"])


def array(specification, seed):
    """The values for "2,3" (floats), "p:2,3" (floats that differ in a row), "i:9:2,3" (whole
    numbers below 9) or "+4" (a matrix).
    """
    random = np.random.RandomState(seed)
    if specification.startswith("i:"):
        _, limit, shape = specification.split(":")
        return random.randint(0, int(limit), [int(n) for n in shape.split(",")]).astype(np.int64)
    if specification.startswith("+"):
        size = int(specification[1:])
        half = random.rand(size, size).astype(np.float32)
        return half @ half.T + size * np.eye(size, dtype=np.float32)
    shape = [int(n) for n in specification.removeprefix("p:").split(",")]
    if specification.startswith("p:"):
        return (random.rand(*shape).argsort(-1) / shape[-1] + 0.1).astype(np.float32)
    return (random.rand(*shape) + 0.1).astype(np.float32)


def values(call, size):
    """The operands of one size, by name."""
    return {
        name: array(each[size], seed) for seed, (name, each) in enumerate(call.operands.items())
    }


def compiled(text, names, **modules):
    """The function of operands `names` whose body is `text`."""
    return eval(f"lambda {', '.join(names)}: {text}", modules)  # noqa: S307 - our own list


def lstm(x, w, b):
    """A layer of LSTM over [T, N, C], from zero states."""
    return F.lstm(x, None, w, w, b, b)[0]


def torch_lstm(x, w, b):
    """The same in PyTorch."""
    zero = torch.zeros(1, x.shape[1], x.shape[2])
    return torch.lstm(x, (zero, zero), [w, w, b, b], True, 1, 0.0, False, False, False)[0]


def our_functions(call, arrays):
    """The call, and the call with its gradients; the latter None where it has none."""
    function = compiled(call.ours, arrays, F=F, lstm=lstm)
    tensors = [tessera.Tensor(array) for array in arrays.values()]
    inputs = [tensor for tensor in tensors if tensor.dtype == np.float32]
    manager = GradManager().attach(inputs)

    def backward():
        with manager:
            manager.backward(function(*tensors).sum())
        grads = [tensor.grad for tensor in inputs]
        for tensor in inputs:
            tensor.grad = None
        return grads

    return (lambda: function(*tensors)), backward if call.has_gradient else None


def their_functions(call, arrays):
    """The same of PyTorch."""
    from torch.nn import functional

    function = compiled(call.theirs, arrays, torch=torch, T=functional, torch_lstm=torch_lstm)
    tensors = [torch.from_numpy(array) for array in arrays.values()]
    inputs = [tensor for tensor in tensors if tensor.dtype == torch.float32]

    def forward():
        with torch.no_grad():
            return function(*tensors)

    def backward():
        for tensor in inputs:
            tensor.grad = None
            tensor.requires_grad_()
        function(*tensors).sum().backward()
        for tensor in inputs:
            tensor.requires_grad_(False)
        return [tensor.grad for tensor in inputs]

    return forward, backward if call.has_gradient else None


def check(call, ours, theirs):
    """Both compute the same; else the row would compare different things."""
    mine, other = ours().numpy(), theirs().numpy()
    if mine.shape != other.shape or not np.allclose(mine, other, rtol=1e-3, atol=1e-4):
        raise RuntimeError(
            f"bench: {call.name} must be what PyTorch computes, got {mine.shape} and {other.shape}"
        )


def rows_of(call):
    """Two rows for each size: the call, and the call with its gradients."""
    for number, size in enumerate(SIZES):
        arrays = values(call, number)
        ours, theirs = our_functions(call, arrays), their_functions(call, arrays)
        check(call, ours[0], theirs[0])
        for what, mine, other in zip(("", " and gradient"), ours, theirs, strict=True):
            if mine is None:
                continue
            mine = synced(mine)
            for _ in range(BEFORE):
                mine(), other()
            times = interleaved(mine, other, rounds=ROUNDS, seconds=SECONDS)
            value, peer = (each * 1e6 for each in times)
            yield Row(f"{call.family} {call.name} {size}{what}", value, "us", peer, LEAST, True)


def operators():
    """All rows, and what both times have to each other on the whole; none without PyTorch."""
    if torch is None:
        return
    torch.set_num_threads(THREADS)
    tessera.config.set_num_threads(THREADS)
    ratios = []
    for row in (row for call in calls() for row in rows_of(call)):
        ratios.append(row.ratio)
        yield row
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    slow = sum(ratio < LEAST for ratio in ratios)
    yield Row("operators: geometric mean of PyTorch's times", 1.0, "", mean, MEAN, True)
    yield Row(f"operators: of {len(ratios)} rows below {LEAST}", slow, "", None, 0)


BENCHMARKS = {"ops": operators}
