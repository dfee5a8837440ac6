"""Training steps: what they keep for their gradients, in bytes, and that it moves no bit."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera.autodiff import GradManager
from tessera.jit import estimate, trace

from tests.support.helper import same_bits
from tests.support.networks import tensor


def parameters(count, *shape, scale=0.1):
    return [tessera.Parameter(tensor(*shape, seed=10 + i) * scale) for i in range(count)]


def step_of(network, weights):
    """A function that gives the loss of `network(x)` and the gradients of the weights."""
    manager = GradManager().attach(weights)

    def step(x):
        with manager:
            loss = (network(x) ** 2).mean()
            manager.backward(loss)
        gradients = [weight.grad for weight in weights]
        for weight in weights:
            weight.grad = None
        return loss, *gradients

    return step


def check_bits(step, *arguments):
    """The bits of the traced step are those of its operators one by one."""
    traced = trace(step)
    expected = step(*arguments)
    for _ in range(3):
        for got, want in zip(traced(*arguments), expected, strict=True):
            assert same_bits(got, want)


@pytest.mark.parametrize("depth", [16, 300])
def test_gradients_of_one_weight_are_added_where_they_stand(depth):
    weights = parameters(1, 512, 512)

    def network(x):
        for _ in range(8):
            x = F.tanh(x @ weights[0])
        return x

    step, x = step_of(network, weights), tensor(depth, 512)
    activations, workspace = 8 * depth * 512 * 4, 3 << 20
    assert estimate(step, x).arena < activations + workspace  # the products are 8 MiB
    check_bits(step, x)


ACTIVATIONS = {"gelu": F.gelu, "silu": F.silu, "tanh": F.tanh, "leaky_relu": F.leaky_relu}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_one_value_of_a_layer_is_kept(name):
    layers, width, batch = 12, 64, 4096
    weights = parameters(2 * layers, width, width)

    def network(x):
        for w in weights:
            x = ACTIVATIONS[name](x @ w)
        return x

    step, x = step_of(network, weights), tensor(batch, width)
    value = batch * width * 4
    assert estimate(step, x).arena <= (2 * layers + 4) * value
    check_bits(step, x)


def test_what_normalisation_makes_is_computed_again():
    layers, width, batch = 8, 64, 4096
    weights = parameters(layers, width, width)

    def network(x):
        for w in weights:
            x = F.dropout(F.relu(F.layer_norm(x @ w, (width,), False)), 0.25)
        return x

    step, x = step_of(network, weights), tensor(batch, width)
    value = batch * width * 4
    # A product, what dropout leaves, and its mask of bytes; not what relu gives.
    assert estimate(step, x).arena <= (2.25 * layers + 2) * value
    results = []
    for function in (step, trace(step)):
        tessera.random.seed(3)
        results.append([[t.numpy() for t in function(x)] for _ in range(3)])
    for got, want in zip(*results, strict=True):
        for a, b in zip(got, want, strict=True):
            np.testing.assert_array_equal(a, b)


def test_microbatches_have_a_peak_each():
    layers, width, batch = 6, 64, 4096
    weights = parameters(layers, width, width)
    manager = GradManager().attach(weights)

    def step(x):
        for part in F.split(x, 3):
            with manager:
                y = part
                for w in weights:
                    y = F.gelu(y @ w)
                manager.backward((y**2).mean())
        gradients = [weight.grad for weight in weights]
        for weight in weights:
            weight.grad = None
        return gradients

    x = tensor(3 * batch, width)
    assert estimate(step, x).arena <= (layers + 5) * batch * width * 4
    check_bits(step, x)


def test_small_steps_keep_their_values():
    weights = parameters(4, 16, 16)

    def network(x):
        for w in weights:
            x = F.gelu(x @ w)
        return x

    check_bits(step_of(network, weights), tensor(8, 16))


def gelu_step(layers=16, width=64, batch=4096):
    """A training step of layers, its input, and the bytes of one of its values."""
    weights = parameters(layers, width, width)

    def network(x):
        for w in weights:
            x = F.gelu(x @ w)
        return x

    return step_of(network, weights), tensor(batch, width), batch * width * 4


@pytest.mark.parametrize("part", [2, 3])
def test_a_limit_is_kept_with_the_same_bits(part):
    step, x, _ = gelu_step()
    plain = estimate(step, x)
    limit = plain.peak // part
    within = estimate(step, x, memory_limit=limit)
    assert within.arena + within.outputs + within.constants <= limit
    assert plain.launches < within.launches < 2 * plain.launches
    traced = trace(step, memory_limit=limit)
    for _ in range(3):
        for got, want in zip(traced(x), step(x), strict=True):
            assert same_bits(got, want)


def test_a_limit_that_is_too_small_says_which_one_is_not():
    step, x, value = gelu_step()
    with pytest.raises(
        MemoryError, match="trace: memory_limit must be at least [0-9]+ bytes"
    ) as told:
        trace(step, memory_limit=value)(x)
    least = int(str(told.value).split(" bytes")[0].split()[-1])
    assert value < least < estimate(step, x).peak
    for got, want in zip(trace(step, memory_limit=least)(x), step(x), strict=True):
        assert same_bits(got, want)


def test_settings_of_megengine_are_goals():
    step, x, value = gelu_step()
    plain = estimate(step, x)
    for options in (
        {"sublinear_memory_config": tessera.jit.SublinearMemoryConfig()},
        {"dtr_config": tessera.jit.DTRConfig(eviction_threshold=8 * value)},
        {"dtr_config": tessera.jit.DTRConfig(eviction_threshold=1)},  # as little as it can
    ):
        traced = trace(step, **options)
        assert estimate(traced, x).arena < 0.6 * plain.arena
        for got, want in zip(traced(x), step(x), strict=True):
            assert same_bits(got, want)


def test_limits_with_dropout_loops_and_views():
    weights = parameters(6, 64, 64)

    def network(x):
        for w in weights:
            x = F.dropout(F.gelu(F.linear(x.reshape(-1, 64).T.T, w)), 0.25)
            x = x.reshape(64, -1, 64).transpose(1, 0, 2)
        return F.stack([x, x.cumsum(0)])

    step, x = step_of(network, weights), tensor(64, 64, 64)
    limit = estimate(step, x).peak * 2 // 3
    results = []
    for function in (step, trace(step, memory_limit=limit)):
        tessera.random.seed(3)
        results.append([[t.numpy() for t in function(x)] for _ in range(3)])
    for got, want in zip(*results, strict=True):
        for a, b in zip(got, want, strict=True):
            np.testing.assert_array_equal(a, b)


BAD_LIMITS = [
    0,
    -1,
    float("nan"),
    1.5,
    0.0,
    "512",
    "12 parsecs",
    "MiB",
    True,
    [1],
    float("inf"),
    "-1 MiB",
]


@pytest.mark.parametrize("limit", BAD_LIMITS, ids=str)
def test_refused_limits(limit):
    text = (
        "memory_limit must be bytes above 0, a float up to 1.0 .of the device's memory. or a text"
    )
    for use in (
        lambda: trace(lambda x: x, memory_limit=limit),
        lambda: estimate(lambda x: x, tensor(2), memory_limit=limit),
    ):
        with pytest.raises(ValueError, match=text):
            use()


def test_limits_as_text_and_fractions():
    step, x, _ = gelu_step(layers=2, batch=64)
    for limit in ("2 MiB", "0.5GiB", 0.5, 1 << 22):
        assert estimate(step, x, memory_limit=limit) == estimate(step, x)
