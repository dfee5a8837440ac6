"""config.winograd: eager operators, traces and files follow it at their next call."""

import os
import subprocess
import sys

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import config, jit
from tessera.autodiff import GradManager

from tests.support.helper import bits, floats


@pytest.fixture(autouse=True)
def _as_it_was():
    yield
    config.winograd = True


def operands(dtype="float32"):
    weight = tessera.Tensor(floats(32, 64, 3, 3, seed=1) / 24).astype(dtype)
    return tessera.Tensor(floats(2, 64, 15, 16, seed=2)).astype(dtype), weight


def conv(x, weight):
    return F.conv2d(x, weight, padding=1)


def under(allowed, function, *args):
    config.winograd = allowed
    return bits(function(*args))


def error(x, weight):
    exact = conv(x.astype("float64"), weight.astype("float64")).numpy()
    return np.abs(conv(x, weight).numpy() - exact).max()


def test_eager_and_traced_calls_follow():
    x, weight = operands()
    traced, constant = jit.trace(conv), jit.trace(lambda x: conv(x, weight))
    expected = {allowed: under(allowed, conv, x, weight) for allowed in (True, False)}
    assert expected[True] != expected[False]
    for allowed in (True, True, False, False, True, False):
        for call in (lambda: conv(x, weight), lambda: traced(x, weight), lambda: constant(x)):
            assert under(allowed, call) == expected[allowed]


def test_direct_sums_are_nearer():
    x, weight = operands()
    config.winograd = False
    direct = error(x, weight)
    config.winograd = True
    assert 2 * direct < error(x, weight) < 1.2e-5 and direct < 3e-6


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_gradients_and_halves_follow(dtype):
    x, weight = operands(dtype)

    def gradients():
        x.grad = weight.grad = None
        with GradManager().attach([x, weight]) as manager:
            manager.backward((conv(x, weight) ** 2).sum())
        return [x.grad, weight.grad]

    expected = {allowed: under(allowed, gradients) for allowed in (True, False)}
    assert expected[True] != expected[False]
    traced = jit.trace(gradients)
    for allowed in (False, False, True, True, False):
        assert under(allowed, traced) == under(allowed, gradients)


def test_a_file_has_the_setting_of_the_process_that_loads_it(tmp_path):
    x, weight = operands()
    expected = {allowed: under(allowed, conv, x, weight) for allowed in (True, False)}
    for dumped in (True, False):
        config.winograd = dumped
        path = str(tmp_path / f"{dumped}.tess")
        traced = jit.trace(lambda x: conv(x, weight), capture_as_const=True)
        traced(x)
        traced.dump(path)
        for options in ({}, {"allow_code": True}):
            for allowed in (True, False):
                program = jit.load(path, **options)
                assert under(allowed, program, x) == expected[allowed]
                assert under(not allowed, program, x) == expected[not allowed]


@pytest.mark.parametrize(("text", "allowed"), [("0", False), ("1", True)])
def test_the_environment(text, allowed):
    code = "import tessera; print(tessera.config.winograd)"
    environment = {**os.environ, "TESS_WINOGRAD": text}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert done.stdout.strip() == str(allowed), done.stderr
