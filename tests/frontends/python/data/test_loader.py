"""tessera.data.DataLoader with and without workers."""

import os
import signal
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from tessera.data import (
    DataLoader,
    Infinite,
    PreLoader,
    PseudoTransform,
    RandomSampler,
    SequentialSampler,
    StreamSampler,
    Transform,
)

from tests.support.datasets import (
    Computes,
    Count,
    Large,
    Noise,
    Picky,
    Slow,
    Squares,
    Stalls,
    Tagged,
    Whole,
    WorkerOf,
)


def flat(loader):
    return [np.asarray(field).tolist() for batch in loader for field in batch]


def test_loader_without_workers():
    loader = DataLoader(Squares(5), SequentialSampler(Squares(5), batch_size=2))
    x, y = next(iter(loader))
    assert x.dtype == np.float32 and x.shape == (2, 3) and y.tolist() == [0, 1] and len(loader) == 3


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_workers_change_nothing(workers):
    def run(count):
        loader = DataLoader(
            Noise(), RandomSampler(Noise(), batch_size=5, seed=9), num_workers=count
        )
        epochs = [flat(loader) for _ in range(2)]
        loader.close()
        return epochs

    expected = run(0)
    assert run(workers) == expected and expected[0] != expected[1]


def test_loader_leaves_global_generators_alone():
    np.random.seed(5)
    expected = np.random.rand()
    np.random.seed(5)
    flat(DataLoader(Noise()))
    assert np.random.rand() == expected


def test_transform_of_samples_and_of_batches():
    class Batches:
        def apply_batch(self, samples):
            return [sample[1] + 1 for sample in samples]

    assert [b.tolist() for b in DataLoader(Squares(3), transform=Batches())] == [[1], [2], [5]]
    assert [b.tolist() for b in DataLoader(Squares(3), transform=lambda s: s[1])] == [[0], [1], [4]]


def test_worker_exception_has_its_traceback():
    loader = DataLoader(Squares(9, fails=4), num_workers=2)
    with pytest.raises(RuntimeError, match="Caught KeyError in DataLoader worker process 0") as got:
        flat(loader)
    assert "datasets.py" in str(got.value) and "no sample 4" in str(got.value)
    assert isinstance(got.value.__cause__, KeyError)


def test_worker_exception_that_cannot_be_pickled():
    with pytest.raises(RuntimeError, match="(?s)Caught PickyError in.*PickyError: 1 and 2") as got:
        flat(DataLoader(Picky(), num_workers=1))
    assert got.value.__cause__ is None


def test_timeout():
    # long enough for worker 0 to start on a busy machine
    loader = DataLoader(Squares(4, sleeps=1), num_workers=2, timeout=6)
    with pytest.raises(TimeoutError, match="within the timeout of 6 s, got none from worker 1"):
        flat(loader)
    loader.close()


@pytest.mark.parametrize("dataset", [Squares(4, sleeps=1), Stalls()], ids=["map", "stream"])
def test_timeout_without_workers(dataset):
    batches = iter(DataLoader(dataset, timeout=0.5))
    next(batches)
    with pytest.raises(RuntimeError, match="timeout of 0.5 s, got none from this process"):
        next(batches)
    assert list(batches) == []


def test_a_timeout_changes_nothing_else():
    sampler = RandomSampler(Noise(), batch_size=5, seed=9)
    again = RandomSampler(Noise(), batch_size=5, seed=9)
    assert flat(DataLoader(Noise(), sampler, timeout=60)) == flat(DataLoader(Noise(), again))
    with pytest.raises(KeyError, match="no sample 4"):
        flat(DataLoader(Squares(9, fails=4), timeout=60))


def test_dead_worker():
    with pytest.raises(RuntimeError, match="got exit code 7 of worker 0"):
        flat(DataLoader(Squares(4, dies=2), num_workers=2))


def test_iteration_given_up_and_started_again():
    loader = DataLoader(Squares(9), SequentialSampler(Squares(9), batch_size=2), num_workers=2)
    for _ in loader:
        break
    assert [y.tolist() for _, y in loader] == [[0, 1], [4, 9], [16, 25], [36, 49], [64]]


def test_two_iterations_at_once():
    loader = DataLoader(Squares(4), num_workers=1)
    assert [(a[1][0], b[1][0]) for a, b in zip(loader, loader, strict=True)] == [
        (n * n, n * n) for n in range(4)
    ]


def test_close_ends_the_workers():
    loader = DataLoader(Squares(4), num_workers=2)
    flat(loader)
    pids = [worker.process.pid for pool in loader._pools for worker in pool.workers]
    loader.close()
    assert len(pids) == 2 and not any(os.path.exists(f"/proc/{pid}/exe") for pid in pids)


def test_workers_come_from_a_fork_server():
    loader = DataLoader(Squares(4), num_workers=2, multiprocessing_context="forkserver")
    next(iter(loader))
    workers = [worker.process for pool in loader._pools for worker in pool.workers]
    parents = {int(Path(f"/proc/{w.pid}/stat").read_text().split()[3]) for w in workers}
    assert len(parents) == 1 and os.getpid() not in parents  # not forked from this process
    assert "forkserver" in Path(f"/proc/{parents.pop()}/cmdline").read_text()
    loader.close()


def test_unpicklable_dataset():
    def loader(method):
        transform, context = (lambda s: s), {"multiprocessing_context": method}
        return DataLoader(Squares(3), transform=transform, num_workers=1, **context)

    with pytest.raises(TypeError, match="must be picklable for workers that start by spawn, got"):
        flat(loader("spawn"))
    assert len(flat(loader(None))) == 6  # a fork has it without a pickle


@pytest.mark.parametrize("workers", [0, 1])
def test_stream(workers):
    loader = DataLoader(Count(), StreamSampler(batch_size=4), num_workers=workers)
    for _ in range(2):
        assert [b.tolist() for b in loader] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10]]


def test_parallel_stream():
    loader = DataLoader(Count(), StreamSampler(3), num_workers=2, parallel_stream=True)
    assert sorted(sum((b.tolist() for b in loader), [])) == list(range(11))


@pytest.mark.parametrize("workers", [2, 3])
def test_one_worker_reads_a_stream_and_all_transform(workers):
    loader = DataLoader(Count(), StreamSampler(2), WorkerOf(), num_workers=workers)
    for _ in range(2):
        samples = [pair for batch in loader for pair in np.stack(batch, axis=1).tolist()]
        assert [number for number, _ in samples] == list(range(11))
        assert {worker for _, worker in samples} == set(range(workers))
    loader.close()


def test_a_shared_stream_is_given_up_and_read_again():
    loader = DataLoader(Count(), StreamSampler(2), num_workers=2)
    assert next(iter(loader)).tolist() == [0, 1]
    assert [b.tolist() for b in loader] == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10]]
    loader.close()


def test_a_stream_that_stalls_gives_what_it_has():
    batches = iter(DataLoader(Stalls(), num_workers=2, timeout=60))
    assert next(batches).tolist() == [0]
    del batches


@pytest.mark.parametrize("workers", [1, 2])
def test_random_transforms_of_a_stream_do_not_depend_on_workers(workers):
    def run(count):
        loader = DataLoader(Count(), StreamSampler(4), Tagged(), num_workers=count)
        return [field.tolist() for batch in loader for field in batch]

    assert run(workers) == run(0)


@pytest.mark.parametrize("workers", [0, 1])
def test_infinite_sampler(workers):
    sampler = Infinite(SequentialSampler(Squares(5), batch_size=2))
    loader = DataLoader(Squares(5), sampler, num_workers=workers)
    got = [y.tolist() for _, y in islice(loader, 5)]
    assert got == [[0, 1], [4, 9], [16], [0, 1], [4, 9]] and len(loader) == sys.maxsize


def test_the_default_transform():
    loader = DataLoader(Squares(3))
    assert isinstance(loader.transform, PseudoTransform) and isinstance(loader.transform, Transform)
    assert loader.transform.apply((1, 2)) == (1, 2) and repr(loader.transform) == "PseudoTransform"


@pytest.mark.parametrize("workers", [0, 2])
def test_worker_info(workers):
    sampler = SequentialSampler(Whole(6))
    loader = DataLoader(Whole(6), sampler, num_workers=workers)
    infos = [tuple(int(field[0]) for field in batch) for batch in loader]
    assert infos == [(n % 2, 2, 2, 0) if workers else (-1, -1, -1, -1) for n in range(6)]


def test_large_arrays_keep_dtype_and_can_be_written():
    loader = DataLoader(Large(4), SequentialSampler(Large(4), batch_size=2), num_workers=2)
    batches = list(loader)
    assert len(batches) == 2
    for number, (single, double, empty) in enumerate(batches):
        assert single.dtype == np.float32 and double.dtype == np.float64
        assert single.shape == (2, 300, 200) and empty.shape == (2, 0)
        assert (single[0] == 2 * number).all() and (double[1] == 2 * number + 0.5).all()
        single += 1
    loader.close()


def test_too_little_shared_memory_is_said():
    with pytest.raises(RuntimeError, match="shared memory must have room for the .* bytes of a"):
        flat(DataLoader(Large(2, limit=1 << 16), num_workers=1))


def test_free_memory_is_asked_beforehand(monkeypatch):
    from tessera.data import parcel

    assert parcel.free_memory() > 1 << 20
    monkeypatch.setattr(parcel, "free_memory", lambda: 1000)
    with pytest.raises(MemoryError, match="for the 800000 bytes of a batch, got 1000 bytes free"):
        parcel.send(None, 0, np.zeros(100000))


def test_a_killed_worker_is_noticed_while_another_is_waited_for():
    loader = DataLoader(Slow(), num_workers=2)
    batches = iter(loader)
    next(batches)  # from worker 0; worker 1 sleeps in its first sample
    (pool,) = loader._pools
    start = time.monotonic()
    os.kill(pool.workers[0].process.pid, signal.SIGKILL)
    with pytest.raises(RuntimeError, match="got exit code -9 of worker 0"):
        next(batches)
    assert time.monotonic() - start < 10  # the sample takes 60 s


def test_preload_gives_tensors():
    from tessera import Tensor

    batches = list(DataLoader(Squares(3), preload=True))
    assert len(batches) == 3 and all(isinstance(field, Tensor) for b in batches for field in b)


def test_preload_goes_through_containers():
    from tessera import Tensor

    loader = DataLoader(Tagged.pairs(), transform=Tagged(named=True))
    (batch,) = PreLoader(loader)
    assert type(batch).__name__ == "Pair" and isinstance(batch.a, Tensor)
    assert batch.b["name"] == ["s"] and isinstance(batch.b["x"], Tensor)
    assert len(PreLoader(loader)) == 1 and not isinstance(next(PreLoader(loader, False)).a, Tensor)


@pytest.mark.parametrize("arguments", [{"num_workers": -1}, {"timeout": -1}, {"num_workers": 1.5}])
def test_loader_arguments(arguments):
    with pytest.raises(ValueError, match="DataLoader: .* must be"):
        DataLoader(Squares(3), **arguments)


def test_workers_after_a_training_step():
    import tessera
    from tessera.autodiff import GradManager

    weight = tessera.Parameter(np.ones((256, 256), dtype=np.float32))
    manager = GradManager().attach(weight)
    with manager:
        manager.backward((weight @ weight).sum())
    tessera.sync()
    loader = DataLoader(Computes(), num_workers=2, timeout=60)
    assert [float(batch[0, 0, 0]) for batch in loader] == [64.0 * n * n for n in range(6)]


SCRIPT = """
from tessera.data import DataLoader
from tests.support.datasets import Squares
if __name__ == "__main__":
    batches = iter(DataLoader(Squares(100), num_workers=2, multiprocessing_context={method!r}))
    next(batches)
    {end}
"""


INTERRUPT = (
    "import os, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "os.kill(os.getpid(), signal.SIGINT); list(batches)"
)
ENDS = {"": 0, "raise SystemExit(3)": 3, "import os; os._exit(3)": 3, INTERRUPT: -signal.SIGINT}


@pytest.mark.parametrize("method", ["fork", "forkserver"])
@pytest.mark.parametrize("end", ENDS)
def test_no_worker_outlives_the_process(tmp_path, end, method):
    script = tmp_path / "main.py"
    script.write_text(SCRIPT.format(end=end, method=method))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    # Reading the output to its end means that nobody holds it any more.
    assert done.returncode == ENDS[end], done.stderr
