"""Limits of memory: of a trace, of a device, of calls within a GradManager, and their errors."""

import re

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import config, device, jit
from tessera.autodiff import GradManager
from tessera.jit import Spec, estimate, trace

from tests.support.helper import same_bits
from tests.support.networks import tensor

LAYERS, WIDTH, BATCH = 12, 64, 4096
VALUE = BATCH * WIDTH * 4


@pytest.fixture
def weights():
    return [tessera.Parameter(tensor(WIDTH, WIDTH, seed=i) * 0.1) for i in range(LAYERS)]


@pytest.fixture(autouse=True)
def no_limit():
    """No device has a limit for traces afterwards."""
    yield
    for name in ("cpu0", "sim0"):
        config.set_traced_memory_limit(None, name)


def forward_of(weights):
    def forward(x):
        for weight in weights:
            x = F.gelu(x @ weight)
        return x

    return forward


def step_of(weights):
    forward, manager = forward_of(weights), GradManager().attach(weights)

    def step(x):
        with manager:
            loss = (forward(x) ** 2).mean()
            manager.backward(loss)
        gradients = [weight.grad for weight in weights]
        for weight in weights:
            weight.grad = None
        return loss, *gradients

    return step


def message_of(function):
    with pytest.raises(MemoryError) as caught:
        function()
    return str(caught.value)


def least_of(text):
    return int(re.match(r"trace: memory_limit must be at least (\d+) bytes, got \d+\n", text)[1])


def test_the_error_has_the_largest_tensors_of_the_plan(weights):
    step, x = step_of(weights), tensor(BATCH, WIDTH)
    text = message_of(lambda: trace(step, memory_limit=VALUE)(x))
    assert "held on" not in text and "try a smaller batch" not in text
    head, title, *rows = text.splitlines()
    assert head.endswith(f"got {VALUE}") and title == "the largest tensors within the least limit:"
    assert 3 <= len(rows) <= 10
    row_text = r"  \d+\.\d MiB (f32\[.*\]|scratch) made at test_memory"
    assert all(re.match(row_text, row) for row in rows)
    sizes = [float(row.split()[0]) for row in rows]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] >= 1.0


@pytest.mark.parametrize("limit", [1, VALUE, 2 * VALUE])
def test_the_least_limit_is_kept(weights, limit):
    step, x = step_of(weights), tensor(BATCH, WIDTH)
    text = message_of(lambda: estimate(step, x, memory_limit=limit))
    assert message_of(lambda: trace(step, memory_limit=limit)(x)) == text
    least = least_of(text)
    assert limit < least < estimate(step, x).peak
    for got, want in zip(trace(step, memory_limit=least)(x), step(x), strict=True):
        assert same_bits(got, want)


def test_a_part_between_parts_that_are_left_out(weights):
    forward = forward_of(weights)

    def call(x):
        with jit.exclude_from_trace():
            x.shape  # noqa: B018
        return forward(x) + forward(x * 2).sum()

    traced, x = trace(call, memory_limit=VALUE // 2), tensor(BATCH, WIDTH)
    assert least_of(message_of(lambda: [traced(x) for _ in range(2)])) > VALUE // 2


def test_a_device_has_a_limit_for_its_traces(weights):
    step, x = step_of(weights), tensor(BATCH, WIDTH)
    plain, expected = estimate(step, x), step(x)
    limit = plain.peak * 2 // 3
    traced = trace(step)
    for _ in range(3):
        traced(x)
    free = traced.program().planned_bytes
    config.set_traced_memory_limit(limit)
    assert config.get_traced_memory_limit() == limit
    for _ in range(2):
        for got, want in zip(traced(x), expected, strict=True):
            assert same_bits(got, want)
    assert traced.program().planned_bytes <= limit < free
    within = estimate(traced, x)
    assert within == estimate(step, x) == estimate(step, x, memory_limit=limit)
    assert within.time_factor > 1
    config.set_traced_memory_limit(None)
    traced(x)
    assert traced.program().planned_bytes == free and estimate(traced, x) == plain


def test_a_limit_of_its_own_comes_first(weights):
    step, x = step_of(weights), tensor(BATCH, WIDTH)
    peak = estimate(step, x).peak
    own = trace(step, memory_limit=peak)
    goal = trace(step, dtr_config=jit.DTRConfig(eviction_threshold=peak))
    config.set_traced_memory_limit(VALUE)
    for traced in (own, goal):
        traced(x)
        assert traced.program().planned_bytes > 3 * VALUE
    assert least_of(message_of(lambda: trace(step)(x))) > VALUE
    assert estimate(step, x, memory_limit=peak).time_factor == 1


def test_the_device_is_that_of_the_first_tensor(weights):
    call = trace(lambda x: F.exp(x) @ x)
    config.set_traced_memory_limit(64, "sim0")
    assert config.get_traced_memory_limit("sim0") == 64
    assert config.get_traced_memory_limit() is None
    x = tensor(32, 32)
    call(x)
    assert least_of(message_of(lambda: call(x.to("sim0")))) > 64


def test_a_first_call_within_the_limit_of_a_device_runs_no_operator_by_itself(weights):
    step, x = step_of(weights), tensor(BATCH, WIDTH)
    limit = estimate(step, x).peak * 2 // 3
    config.set_traced_memory_limit(limit)
    traced = trace(step)
    tessera.sync()
    device.coalesce_free_memory()
    before = device.get_allocated_memory()
    device.reset_max_memory_stats()
    traced(x)
    tessera.sync()
    assert device.get_max_allocated_memory() - before <= limit + (1 << 18)


BAD_SIZES = [0, -1, float("nan"), 1.5, 0.0, -0.5, "512", "12 parsecs", "MiB", "-1 MiB", True, [1],
             float("inf"), "1 MB"]  # fmt: skip


@pytest.mark.parametrize("size", BAD_SIZES, ids=str)
@pytest.mark.parametrize("setter", [device.set_memory_limit, config.set_traced_memory_limit])
def test_refused_sizes(setter, size):
    text = f"{setter.__name__}: size must be bytes above 0, a float up to 1.0 .of the device's mem"
    with pytest.raises(ValueError, match=text):
        setter(size)


@pytest.mark.parametrize("setter", [device.set_memory_limit, config.set_traced_memory_limit])
def test_a_fraction_of_no_bound(setter):
    text = f"{setter.__name__}: size must be bytes or a text for a device whose memory"
    with pytest.raises(ValueError, match=text):
        setter(0.5, "null0")


def test_a_device_that_there_is_not():
    for setter in (device.set_memory_limit, config.set_traced_memory_limit):
        with pytest.raises(ValueError, match="device must be one of .*, got 'moon'"):
            setter(1 << 40, "moon")
    assert config.get_traced_memory_limit("cpu0") is None


@pytest.mark.parametrize(
    ("size", "expected"),
    [(1 << 33, 1 << 33), ("1.5 GiB", 3 << 29), ("200B", 200), (np.int64(1 << 33), 1 << 33),
     (0.5, None), (1.0, None)],
)  # fmt: skip
def test_sizes_as_numbers_texts_and_fractions(size, expected):
    before = tessera._core.memory_stats("cpu0")["limit"]
    if expected is None:
        expected = int(device.get_mem_status_bytes()[0] * size)
    try:
        device.set_memory_limit(size)
        assert tessera._core.memory_stats("cpu0")["limit"] == expected
    finally:
        device.set_memory_limit(before)
    config.set_traced_memory_limit(size)
    assert config.get_traced_memory_limit() == expected


class Outside:
    """A call of a traced function within a GradManager, and its gradients."""

    def __init__(self, weights, **options):
        self.weights, self.call = weights, trace(forward_of(weights), **options)
        self.manager = GradManager().attach(weights)

    def __call__(self, x):
        with self.manager:
            loss = (self.call(x) ** 2).mean()
            self.manager.backward(loss)
        gradients = [weight.grad for weight in self.weights]
        for weight in self.weights:
            weight.grad = None
        return loss, *gradients


def test_one_limit_for_a_call_and_its_gradient(weights):
    x = tensor(BATCH, WIDTH)
    saved = 2 * LAYERS * VALUE  # a product and what gelu makes of it
    expected = Outside(weights)(x)
    enough = Outside(weights, memory_limit=saved + 8 * VALUE)
    for _ in range(3):
        for got, want in zip(enough(x), expected, strict=True):
            assert same_bits(got, want)
    scarce = Outside(weights, memory_limit=saved + VALUE)
    text = message_of(lambda: [scarce(x) for _ in range(3)])
    least = least_of(text)
    assert saved + VALUE < least <= saved + 8 * VALUE
    for got, want in zip(Outside(weights, memory_limit=least)(x), expected, strict=True):
        assert same_bits(got, want)


def test_an_estimate_within_the_limit_of_a_file_or_device_that_is_too_small():
    config.set_traced_memory_limit(1)
    text = message_of(lambda: estimate(lambda x: F.exp(x) @ x, Spec((64, 64))))
    assert least_of(text) >= 64 * 64 * 4
