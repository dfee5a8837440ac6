"""Execution strategies: what is measured, remembered and told, in this process and others."""

import json
import os
import subprocess
import sys

import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import _core, config, jit
from tessera.functional.debug_param import (
    Strategy,
    get_execution_strategy,
    set_execution_strategy,
)
from tessera.utils import persistent_cache
from tessera.utils.persistent_cache import PersistentCacheManager, PersistentCacheOnFiles

from tests.support.helper import bits, floats, num_threads


@pytest.fixture(autouse=True)
def _as_it_was(monkeypatch, tmp_path):
    """A manager of the test's own, and no times."""
    manager = PersistentCacheManager(PersistentCacheOnFiles(tmp_path))
    monkeypatch.setattr(persistent_cache, "get_manager", lambda: manager)
    _core.clear_timings()
    yield
    set_execution_strategy("HEURISTIC")
    config.winograd = True
    config.set_workspace_limit(None)
    _core.clear_timings()


def measured():
    return _core.timing_stats()["measured"]


def kernels(traced):
    lines = [line.strip() for line in traced.explain().splitlines()]
    return [line[8:] for line in lines if line.startswith("kernel: ")]


def product(rows=64, columns=80):
    return tessera.Tensor(floats(rows, 48, seed=1)), tessera.Tensor(floats(48, columns, seed=2))


def image():
    weight = tessera.Tensor(floats(32, 32, 3, 3, seed=1))
    return tessera.Tensor(floats(1, 32, 16, 16, seed=2)), weight


def test_the_names_are_megengines():
    assert get_execution_strategy() == Strategy.HEURISTIC
    for option, value in [
        ("PROFILE", Strategy.PROFILE),
        (Strategy.PROFILE | Strategy.REPRODUCIBLE, Strategy.PROFILE | Strategy.REPRODUCIBLE),
        ("PROFILE_HEURISTIC", Strategy.PROFILE | Strategy.HEURISTIC),
        ("REPRODUCIBLE", Strategy.HEURISTIC | Strategy.REPRODUCIBLE),
        ("OPTIMIZED", Strategy.HEURISTIC | Strategy.OPTIMIZED),
    ]:
        set_execution_strategy(option)
        assert get_execution_strategy() == value
    for option in ("profile", "", "PROFILE|HEURISTIC", 2, None, Strategy(0)):
        with pytest.raises(ValueError, match="set_execution_strategy: strategy must be names of"):
            set_execution_strategy(option)
    assert get_execution_strategy() == Strategy.HEURISTIC | Strategy.OPTIMIZED


def test_the_attributes_of_config_are_its_parts():
    config.benchmark_kernel = True
    assert get_execution_strategy() == Strategy.PROFILE
    config.deterministic_kernel = True
    assert get_execution_strategy() == Strategy.PROFILE | Strategy.REPRODUCIBLE
    config.benchmark_kernel = False
    assert get_execution_strategy() == Strategy.HEURISTIC | Strategy.REPRODUCIBLE
    assert config.deterministic_kernel and not config.benchmark_kernel
    config.deterministic_kernel = False
    assert get_execution_strategy() == Strategy.HEURISTIC


def test_eager_and_traced_calls_share_what_is_measured():
    a, b = product()
    expected, before = bits(a @ b), measured()
    traced = jit.trace(F.matmul)
    traced(a, b), traced(a, b)
    assert kernels(traced) == ["matmul: own:contract (in place), 1 thread, by the rule"]
    set_execution_strategy("PROFILE")
    assert bits(a @ b) == expected and measured() == before + 1
    assert bits(traced(a, b)) == expected and measured() == before + 1
    (line,) = kernels(traced)
    assert ", fastest of 3: " in line and line.endswith(" us, remembered")
    set_execution_strategy("HEURISTIC")
    assert bits(traced(a, b)) == expected
    assert kernels(traced) == ["matmul: own:contract (in place), 1 thread, by the rule"]


def test_nothing_is_measured_with_a_heuristic():
    before = measured()
    for strategy in ("HEURISTIC", "PROFILE_HEURISTIC", "OPTIMIZED", "REPRODUCIBLE"):
        set_execution_strategy(strategy)
        a, b = product(33)
        assert (a @ b).shape == (33, 80) and measured() == before


def test_a_call_without_a_choice_says_so():
    x, weight = image()
    set_execution_strategy("PROFILE")
    with num_threads(1):
        traced = jit.trace(lambda x, w: F.conv2d(x, w, padding=1))
        traced(x, weight), traced(x, weight)
        assert kernels(traced) == ["conv2d: own:winograd, 1 thread, nothing else to choose from"]
    inverse = jit.trace(F.matinv)
    matrix = tessera.Tensor(floats(3, 3, seed=4))
    inverse(matrix), inverse(matrix)
    assert kernels(inverse)[0].endswith(", nothing else to choose from")


def test_kernels_with_other_bits_are_measured_where_numerics_are_fast():
    x, weight = image()
    with num_threads(1):
        strict = jit.trace(lambda x, w: F.conv2d(x, w, padding=1))
        strict(x, weight), strict(x, weight)
        set_execution_strategy("PROFILE")
        fast = jit.trace(lambda x, w: F.conv2d(x, w, padding=1), numerics="fast")
        fast(x, weight), fast(x, weight)
        assert ", fastest of 2: " in kernels(fast)[0]
        near = abs(fast(x, weight).numpy() - strict(x, weight).numpy()).max()
        assert near < 1e-4
        set_execution_strategy("PROFILE_REPRODUCIBLE")
        assert bits(fast(x, weight)) == bits(strict(x, weight))
        assert kernels(fast) == ["conv2d: own:winograd, 1 thread, nothing else to choose from"]


def test_a_limit_of_workspace():
    x, weight = image()
    assert config.get_workspace_limit() is None
    config.set_workspace_limit(0)
    with num_threads(1):
        for numerics, name in (("strict", "own:winograd"), ("fast", "own:window")):
            traced = jit.trace(lambda x, w: F.conv2d(x, w, padding=1), numerics=numerics)
            traced(x, weight), traced(x, weight)
            assert kernels(traced) == [f"conv2d: {name}, 1 thread, by the limit of workspace"]
    with pytest.raises(ValueError, match="set_workspace_limit: bytes must be at least 0, got -1"):
        config.set_workspace_limit(-1)


# A process of its own: what it found in the cache, measured and saved.
CODE = """
import json, sys, tessera, tessera.functional as F
from tessera import _core
from tessera.functional.debug_param import set_execution_strategy
set_execution_strategy("PROFILE")
found = _core.timing_stats()["entries"]
for size in map(int, sys.argv[1].split()):
    F.matmul(F.ones((size, 32)), F.ones((32, 48))).numpy()
print(json.dumps([found, _core.timing_stats()["measured"]]))
"""


# Starts a program without root's right to write to every folder.
AS_ANY_USER = """
import ctypes, os, sys
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1
ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)
os.execv(sys.executable, [sys.executable, "-c", *sys.argv[1:]])
"""


def run(folder, sizes="40", expect_warning=False, code=CODE, as_any_user=False, **variables):
    """[times that were found, times that were measured], and the log."""
    environment = {**os.environ, "TESS_CACHE_DIR": str(folder), **variables}
    command = [sys.executable, "-c", *([AS_ANY_USER] if as_any_user else []), code, sizes]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    warnings = [line for line in done.stderr.splitlines() if "WARNING" in line]
    assert bool(warnings) == expect_warning, done.stderr
    return json.loads(done.stdout), warnings


def test_processes_share_a_cache(tmp_path):
    assert run(tmp_path)[0] == [0, 1]
    assert run(tmp_path, "40 41")[0] == [1, 1]
    assert run(tmp_path, "41 40")[0] == [2, 0]
    assert run(tmp_path / "other", "41")[0] == [0, 1]


def test_processes_that_save_at_once_leave_a_whole_cache(tmp_path):
    environment = {**os.environ, "TESS_CACHE_DIR": str(tmp_path)}
    both = [
        subprocess.Popen([sys.executable, "-c", CODE, sizes], env=environment,
                         stdout=subprocess.DEVNULL)
        for sizes in ("40 41", "42 43")
    ]  # fmt: skip
    assert [each.wait(300) for each in both] == [0, 0]
    found, _ = run(tmp_path, "40 41 42 43")[0]
    assert found in (2, 4)
    assert run(tmp_path, "40 41 42 43")[0] == [4, 0]


def value_in(folder):
    (path,) = (folder / "persistent_cache").rglob("*.value")
    return path


def test_a_damaged_cache_costs_a_warning(tmp_path):
    run(tmp_path)
    path = value_in(tmp_path)
    path.write_bytes(path.read_bytes()[:-1])
    found, warnings = run(tmp_path, expect_warning=True)
    assert found == [0, 1] and len(warnings) <= 2 and "is damaged" in warnings[0]
    assert run(tmp_path)[0] == [1, 0]


def test_a_value_that_is_no_table_costs_a_warning(tmp_path):
    run(tmp_path)
    cache = PersistentCacheOnFiles(tmp_path / "persistent_cache")
    cache.put(PersistentCacheManager._CATEGORY, persistent_cache._machine(), b"no table")
    found, warnings = run(tmp_path, expect_warning=True)
    assert found == [0, 1] and "times of kernels were not read: load_timings: " in warnings[0]


def test_a_folder_that_is_none_costs_a_warning(tmp_path):
    (tmp_path / "persistent_cache").write_text("a file")
    found, warnings = run(tmp_path, expect_warning=True)
    assert found == [0, 1] and "times of kernels were not" in warnings[0]


def test_without_a_cache_and_without_a_server(tmp_path):
    assert run("", expect_warning=True)[0] == [0, 1]
    server = f"unix://{tmp_path}/none"
    assert run(tmp_path, expect_warning=True, TESS_CACHE_SERVER=server)[0] == [0, 1]


def test_a_cache_that_cannot_be_written():
    manager = PersistentCacheManager(PersistentCacheOnFiles("/proc/tessera"))
    set_execution_strategy("PROFILE")
    a, b = product(36)
    (a @ b).numpy()
    assert manager.open() == 0 and not manager.save()


def test_a_folder_that_is_only_read(tmp_path):
    run(tmp_path)
    folder = value_in(tmp_path).parent
    folder.chmod(0o555)
    try:
        assert run(tmp_path, "40 41", expect_warning=True, as_any_user=True)[0] == [1, 1]
    finally:
        folder.chmod(0o755)


def test_the_environment_says_the_strategy(tmp_path):
    code = "from tessera.functional.debug_param import *; print(get_execution_strategy().value)"
    assert run(tmp_path, code=code, TESS_EXECUTION_STRATEGY="PROFILE_REPRODUCIBLE")[0] == 6
    environment = {**os.environ, "TESS_EXECUTION_STRATEGY": "fast"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert "TESS_EXECUTION_STRATEGY: strategy must be names of" in done.stderr


def test_clean_forgets(tmp_path):
    manager = PersistentCacheManager(PersistentCacheOnFiles(tmp_path))
    set_execution_strategy("PROFILE")
    a, b = product(35)
    (a @ b).numpy()
    assert manager.save() and _core.timing_stats()["entries"] == 1
    manager.clean()
    assert _core.timing_stats()["entries"] == 0
    assert PersistentCacheManager(PersistentCacheOnFiles(tmp_path)).open() == 0


def test_the_table_has_a_limit():
    limit = _core.timing_stats()["limit"]
    set_execution_strategy("PROFILE")
    try:
        _core.set_timing_limit(2000)
        for rows in range(40, 52):
            a, b = product(rows)
            (a @ b).numpy()
        stats = _core.timing_stats()
        assert stats["bytes"] <= 2000 and stats["entries"] and stats["evictions"]
    finally:
        _core.set_timing_limit(limit)
