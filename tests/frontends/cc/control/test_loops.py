"""Loops that C++ traced and dumped have the bits of Python, by the runtime alone and in Python."""

import os
import subprocess

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera import module as M  # noqa: N812

from tests.support.helper import as_list, flat, same_bits


def floats(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def network():
    return M.LSTM(3, 4, 2, bidirectional=True)


GIVEN = {
    "scores": floats(6, 2, 5, seed=3),
    "weights": floats(*network()._flatten_weights.shape),
    "short": floats(4, 2, 3),
    "long": floats(9, 5, 3),
    "above": np.float32([1, 2, 3]),
    "below": np.float32([-1, -2, -3]),
}


def beam_search(scores):
    """The best paths through steps of scores, until the last step."""
    steps, width, tokens = scores.shape

    def extend(step, best, paths):
        total = F.reshape(best, (width, 1)) + scores[step]
        best, chosen = F.topk(F.flatten(total), width, descending=True)
        paths = paths[chosen // tokens]
        paths[:, step] = (chosen % tokens).astype("int32")
        return step + 1, best, paths

    start = F.full((), 0, dtype="int32"), F.zeros(width), F.zeros((width, steps), dtype="int32")
    return F.while_loop(lambda step, *_: step < steps, extend, *start)[1:]


def lstm(x):
    net = network()
    net.load_state_dict({"_flatten_weights": GIVEN["weights"]})
    return flat(net(x))


def size(x):
    return F.cond(x.sum() > 0, lambda: F.sqrt(x.sum()), lambda: -x.max())


CASES = {"beam": (beam_search, "scores"), "lstm": (lstm, "short", "long"),
         "size": (size, "above", "below")}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("loops")
    tessera.save(GIVEN, folder / "given")
    done = subprocess.run([os.environ["DUMP_LOOPS"], folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("name", CASES)
def test_the_runtime_alone_gives_the_bits_of_python(folder, name):
    function, *inputs = CASES[name]
    results = tessera.load(folder / "results")
    for number, given in enumerate(inputs):
        expected = as_list(function(tessera.Tensor(GIVEN[given])))
        got = [results[f"{name}/{number}/{i}"] for i in range(len(expected))]
        assert same_bits(got, expected)


@pytest.mark.parametrize("name", CASES)
def test_python_runs_the_file(folder, name):
    function, *inputs = CASES[name]
    for options in ({}, {"allow_code": True}):
        program = jit.load(folder / name, **options)
        for given in inputs:
            x = tessera.Tensor(GIVEN[given])
            assert same_bits(as_list(program(x)), as_list(function(x)))
