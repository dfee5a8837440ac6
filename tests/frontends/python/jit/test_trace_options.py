"""Options of trace, and settings of memory."""

import copy
import io

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import dtr, jit
from tessera.utils.profiler import Profiler

from tests.frontends.python.jit.dumping import tensor
from tests.support.helper import same_bits


def function(x):
    return F.exp(F.sin(x) * 2) + 1


def test_levels():
    x = tensor(5)
    for level, launches in {0: 4, 1: 1, 2: 1, 3: 1}.items():
        traced = jit.trace(function, opt_level=level)
        assert all(same_bits(traced(x), function(x)) for _ in range(3))
        assert traced.program().launches == launches
    for level in (4, -1, "2", True):
        with pytest.raises(ValueError, match="trace: opt_level must be 0, 1, 2 or 3, got"):
            jit.trace(function, opt_level=level)


def test_settings_of_memory_change_no_result():
    x = tensor(5)
    options = {
        "sublinear_memory_config": jit.SublinearMemoryConfig(num_worker=1),
        "dtr_config": jit.DTRConfig(eviction_threshold=1 << 20),
    }
    traced = jit.trace(function, **options)
    assert all(same_bits(traced(x), function(x)) for _ in range(3))


@pytest.mark.parametrize(
    ("option", "kind"),
    [
        ("sublinear_memory_config", "a SublinearMemoryConfig or None"),
        ("dtr_config", "a DTRConfig or None"),
        ("graph_opt_config", "a GraphOptimizationConfig or None"),
        ("symbolic_shape", "a bool"),
        ("without_host", "a bool"),
    ],
)
def test_types_of_options(option, kind):
    with pytest.raises(TypeError, match=f"trace: {option} must be {kind}, got 3"):
        jit.trace(function, **{option: 3})


def test_options_that_hold_in_any_case():
    x = tensor(5)
    for options in ({"symbolic_shape": False}, {"without_host": True}):
        traced = jit.trace(function, **options)
        assert all(same_bits(traced(x), function(x)) for _ in range(3))


def test_without_host_python_is_not_run():
    calls = []

    def counted(x):
        calls.append(1)
        return x * 2

    traced = jit.trace(counted, without_host=True)
    with pytest.warns(RuntimeWarning, match="changes Python state"):
        for _ in range(5):
            traced(tensor(3))
    assert len(calls) <= 2


def test_imperative_calls_run_eagerly_and_are_dumped():
    calls = []

    def counted(x):
        calls.append(x.shape)
        return x * 2

    for symbolic in (False, True):
        calls.clear()
        traced = jit.trace(counted, imperative=True, symbolic=symbolic, capture_as_const=True)
        x = tensor(3)
        assert all(same_bits(traced(x), x * 2) for _ in range(4))
        assert len(calls) == 4 and traced.program() is None
        assert traced.dump(io.BytesIO(), targets=()).inputs == ["arg_0"]


def test_record_only_takes_constants():
    weight = tensor(3)
    traced = jit.trace(lambda x: x * weight, record_only=True)
    traced(tensor(3))
    assert traced.capture_as_const and traced.dump(io.BytesIO(), targets=()).nr_opr == 3


def test_profiles():
    x = tensor(5)
    traced = jit.trace(function, profiling=True)
    with pytest.raises(RuntimeError, match="trace: get_profile must come after a call"):
        traced.get_profile()
    assert all(same_bits(traced(x), function(x)) for _ in range(3))
    kernels = [each for each in traced.get_profile()["traceEvents"] if each["cat"] == "kernel"]
    assert len(kernels) == 1
    with Profiler("unused") as profiler:
        profiler.dump = lambda: None
        traced(x)
    assert [each for each in profiler.events() if each["cat"] == "kernel"]
    again = copy.deepcopy(traced)
    with pytest.raises(RuntimeError, match="got none"):
        again.get_profile()
    with pytest.raises(RuntimeError, match="got none"):
        jit.trace(function).get_profile()


def test_a_profiled_call_that_fails():
    traced = jit.trace(lambda x, y: x + y, profiling=True)
    with pytest.raises(ValueError, match="add: "):
        traced(tensor(2), tensor(3))
    assert same_bits(traced(tensor(2), tensor(2)), tensor(2) * 2)


def test_configs():
    config = jit.SublinearMemoryConfig(3, 4, 5, lb_memory_mb=6, num_worker=7)
    assert vars(config) == {
        "thresh_nr_try": 3,
        "genetic_nr_iter": 4,
        "genetic_pool_size": 5,
        "lb_memory_mb": 6,
        "num_worker": 7,
    }
    assert jit.SublinearMemoryConfig().num_worker >= 1
    assert vars(jit.DTRConfig(5)) == {
        "eviction_threshold": 5,
        "evictee_minimum_size": 1 << 20,
        "recomp_memory_factor": 1,
        "recomp_time_factor": 1,
    }


REFUSED = {
    "tries": ("SublinearMemoryConfig", {"thresh_nr_try": -1}, "an integer of at least 0, got -1"),
    "iterations": ("SublinearMemoryConfig", {"genetic_nr_iter": 1.5}, "an integer of at least 0"),
    "pool": ("SublinearMemoryConfig", {"genetic_pool_size": None}, "an integer of at least 0"),
    "bound": ("SublinearMemoryConfig", {"lb_memory_mb": True}, "an integer of at least 0"),
    "workers": ("SublinearMemoryConfig", {"num_worker": 0}, "an integer of at least 1, got 0"),
    "threshold": ("DTRConfig", {"eviction_threshold": 0}, "bytes above 0, got 0"),
    "size": ("DTRConfig", {"evictee_minimum_size": -1}, "bytes from 0 on, got -1"),
    "memory": ("DTRConfig", {"recomp_memory_factor": -1}, "a number of at least 0, got -1"),
    "time": ("DTRConfig", {"recomp_time_factor": "1"}, "a number of at least 0, got '1'"),
}


@pytest.mark.parametrize("what", list(REFUSED))
def test_configs_are_checked(what):
    kind, options, message = REFUSED[what]
    options = {"eviction_threshold": 1, **options} if kind == "DTRConfig" else options
    with pytest.raises(ValueError, match=f"^{kind}: {list(options)[-1]} must be {message}"):
        getattr(jit, kind)(**options)


@pytest.fixture
def settings():
    """Those of dtr, which are as before afterwards."""
    names = "eviction_threshold", "evictee_minimum_size", "enable_sqrt_sampling"
    before = {name: getattr(dtr, name) for name in names}
    yield before
    for name, value in before.items():
        setattr(dtr, name, value)


def test_dtr(settings):
    assert list(settings.values()) == [0, 1 << 20, False]
    for text, number in {"2GB": 2 << 30, "1.5 mb": 3 << 19, "7B": 7, 8: 8, "3KB": 3 << 10}.items():
        dtr.eviction_threshold = dtr.evictee_minimum_size = text
        assert dtr.eviction_threshold == dtr.evictee_minimum_size == number
    dtr.enable_sqrt_sampling = True
    assert tessera.dtr.enable_sqrt_sampling is True
    dtr.enable()
    assert np.array_equal((tensor(3) + 1).numpy(), tensor(3).numpy() + 1)
    dtr.disable()


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [
        ("eviction_threshold", "2 apples", ValueError, "must be a number with B, KB, MB or GB"),
        ("eviction_threshold", -1, ValueError, "must be at least 0 bytes, got -1"),
        ("evictee_minimum_size", 1.5, TypeError, "must be an int or a text such as '2GB', got 1.5"),
        ("enable_sqrt_sampling", 1, TypeError, "must be a bool, got 1"),
    ],
)
def test_settings_of_dtr_are_checked(settings, name, value, error, message):
    with pytest.raises(error, match=f"dtr: {name} {message}"):
        setattr(dtr, name, value)
    assert getattr(dtr, name) == settings[name]


def test_dtr_has_no_other_settings():
    with pytest.raises(AttributeError, match=r"dtr: name must be one of \['eviction_threshold'"):
        dtr.threshold = 1
