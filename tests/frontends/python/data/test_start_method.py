"""How DataLoader's workers start: by fork where that is safe, else as fresh processes."""

import multiprocessing
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import tessera
from tessera.data import DataLoader, SequentialSampler
from tessera.data.start_method import context_of

from tests.support.datasets import RandomTensors, Squares

# No guard, and a dataset and a transform that no worker could import.
SCRIPT = """
import numpy as np
import tessera
from tessera.data import DataLoader, Dataset

tessera.tensor(np.ones((300, 300), "float32")).sum().item()

class Numbers(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        x = tessera.tensor(np.full((300, 300), index, dtype=np.float32))
        return float((x @ x)[0, 0].item())

loader = DataLoader(Numbers(), transform=lambda x: x / 300, num_workers=2{arguments})
try:
    print([batch.item() for batch in loader])
except Exception as error:
    print(type(error).__name__, error)
"""
SQUARES = "[0.0, 1.0, 4.0, 9.0, 16.0, 25.0]\n"


def run(*command, **options):
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, timeout=120, **options
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_script(tmp_path, arguments=""):
    path = tmp_path / "main.py"
    path.write_text(SCRIPT.replace("{arguments}", arguments))
    return run(path)


def test_a_script_needs_no_guard(tmp_path):
    assert run_script(tmp_path) == SQUARES


def test_a_dataset_of_a_session_works():
    assert run("-", input=SCRIPT.replace("{arguments}", "")) == SQUARES


@pytest.mark.parametrize("method", ["forkserver", "spawn"])
def test_other_methods_say_what_a_dataset_must_be(tmp_path, method):
    printed = run_script(tmp_path, f', multiprocessing_context="{method}"')
    assert printed.startswith(
        f"TypeError DataLoader: dataset, transform and collator must be picklable for workers "
        f"that start by {method}, got "
    )
    assert printed.endswith('; or pass multiprocessing_context="fork")\n')


@pytest.mark.parametrize("method", ["forkserver", "spawn"])
def test_other_methods_say_that_a_script_needs_a_guard(tmp_path, method):
    path = tmp_path / "main.py"
    loader = f"DataLoader(range(4), num_workers=1, multiprocessing_context={method!r})"
    path.write_text(f"from tessera.data import DataLoader\nprint(list({loader}))\n")
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=120)
    line = done.stderr.splitlines()[-1]
    assert line.startswith("RuntimeError: DataLoader: workers ") and done.returncode == 1
    assert f"{method} imports the main module anew: its code must stand under `if __name__" in line


def test_python_setting_is_followed():
    code = """
import multiprocessing
from tessera.data.start_method import context_of
print(context_of(None).get_start_method())
multiprocessing.set_start_method("spawn")
print(context_of(None).get_start_method(), context_of("fork").get_start_method())
"""
    assert run("-c", code).split() == ["fork", "spawn", "fork"]


def test_the_context_may_be_given():
    spawn = multiprocessing.get_context("spawn")
    assert context_of(spawn) is spawn
    loader = DataLoader(Squares(3), num_workers=1, multiprocessing_context=spawn)
    assert [y.item() for _, y in loader] == [0, 1, 4]
    loader.close()


@pytest.mark.parametrize(("asked", "error"), [("thread", ValueError), (3, TypeError)])
def test_a_context_must_exist(asked, error):
    with pytest.raises(error, match="multiprocessing_context must be a context .*, got"):
        next(iter(DataLoader(Squares(3), num_workers=1, multiprocessing_context=asked)))


def test_an_accelerator_in_use_is_not_forked():
    code = """
import tessera
from tessera.data.start_method import advice, context_of
tessera.tensor([1.0], device="sim0")
print(context_of(None).get_start_method())
print(advice("spawn"))
"""
    method, reason = run("-c", code).splitlines()
    assert method == "forkserver"
    assert reason.endswith("; sim0 is in use, which no child of a fork can share")


def test_a_recording_is_not_forked():
    methods = []

    @tessera.jit.trace
    def traced(x):
        methods.append(context_of(None).get_start_method())
        return x + 1

    traced(tessera.tensor([1.0]))
    assert methods == ["forkserver"]


def in_child(function):
    """The exit status of a fork that runs `function`."""
    child = os.fork()
    if not child:
        try:
            function()
        finally:
            os._exit(0 if sys.exc_info()[0] is None else 1)
    return os.waitpid(child, 0)[1]


def test_a_child_has_workers_of_its_own():
    """A fork in the middle of an iteration: parent and child each go on with workers of theirs."""
    loader = DataLoader(Squares(9), SequentialSampler(Squares(9), batch_size=2), num_workers=2)
    batches = iter(loader)
    next(batches)

    def iterates():
        with pytest.raises(RuntimeError, match=r"workers are gone \(the iteration began before a"):
            next(batches)
        assert [y.tolist() for _, y in loader] == [[0, 1], [4, 9], [16, 25], [36, 49], [64]]
        loader.close()

    assert in_child(iterates) == 0
    assert [y.tolist() for _, y in batches] == [[4, 9], [16, 25], [36, 49], [64]]
    loader.close()


def test_a_closed_loader_ends_its_iteration():
    loader = DataLoader(Squares(9), num_workers=1)
    batches = iter(loader)
    next(batches)
    loader.close()
    with pytest.raises(RuntimeError, match=r"workers are gone \(the loader was closed\)"):
        list(batches)


def test_workers_have_no_handlers_of_the_parent():
    seen = []
    before = signal.signal(signal.SIGTERM, lambda *_: seen.append(os.getpid()))
    try:
        loader = DataLoader(Squares(9), num_workers=1)
        batches = iter(loader)
        next(batches)
        (pool,) = loader._pools
        os.kill(pool.workers[0].process.pid, signal.SIGTERM)
        pool.workers[0].process.join(10)
        assert pool.workers[0].process.exitcode == -signal.SIGTERM and seen == []
        loader.close()
    finally:
        signal.signal(signal.SIGTERM, before)


def test_random_tensors_do_not_depend_on_the_number_of_workers():
    def draws(workers, **options):
        loader = DataLoader(RandomTensors(), num_workers=workers, **options)
        epochs = [np.concatenate(list(loader)).tolist() for _ in range(2)]
        loader.close()
        return epochs

    one = draws(1)
    assert draws(3) == one == draws(2, multiprocessing_context="forkserver")
    assert len(set(one[0] + one[1])) == 12  # batches and epochs differ
