"""tessera.data: samplers, collator, loader with and without workers."""

import os
import subprocess
import sys
from collections import namedtuple
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from tessera.data import (
    ArrayDataset,
    Collator,
    ConcatDataset,
    DataLoader,
    Infinite,
    RandomSampler,
    ReplacementSampler,
    SequentialSampler,
    StreamSampler,
)

from tests.python.datasets import Computes, Count, Noise, Picky, Squares

Pair = namedtuple("Pair", "a b")


def flat(loader):
    return [np.asarray(field).tolist() for batch in loader for field in batch]


def test_array_dataset_gives_tuples():
    dataset = ArrayDataset(np.arange(4), np.arange(4) * 2)
    assert len(dataset) == 4 and dataset[3] == (3, 6)


def test_array_dataset_wants_equal_lengths():
    with pytest.raises(
        ValueError, match=r"ArrayDataset: arrays must have one length, got \[3, 4\]"
    ):
        ArrayDataset(np.zeros(3), np.zeros(4))


def test_concat_dataset_joins():
    joined = ConcatDataset([Squares(2), Squares(3)])
    assert [joined[i][1] for i in range(5)] == [0, 1, 0, 1, 4]
    assert joined[-1][1] == 4
    with pytest.raises(IndexError, match="ConcatDataset: index must be below 5, got 5"):
        joined[5]


def test_stream_has_no_length_and_no_index():
    with pytest.raises(TypeError, match="StreamDataset: a stream must"):
        len(Count())
    with pytest.raises(TypeError, match="StreamDataset: samples must be read in order"):
        Count()[0]


def test_sequential_sampler_batches():
    sampler = SequentialSampler(Squares(7), batch_size=3)
    assert list(sampler) == [[0, 1, 2], [3, 4, 5], [6]] and len(sampler) == 3
    sampler = SequentialSampler(Squares(7), batch_size=3, drop_last=True)
    assert list(sampler) == [[0, 1, 2], [3, 4, 5]] and len(sampler) == 2


def test_random_sampler_is_seeded_and_changes_every_epoch():
    first, second = (RandomSampler(Squares(50), batch_size=7, seed=3) for _ in range(2))
    epochs = [sum(first, []), sum(first, [])]
    assert epochs == [sum(second, []), sum(second, [])]
    assert sorted(epochs[0]) == list(range(50)) and epochs[0] != epochs[1]
    assert sum(RandomSampler(Squares(50), seed=4), []) != epochs[0]


def test_random_sampler_goes_on_from_an_epoch():
    whole = RandomSampler(Squares(20), seed=1)
    epochs = [sum(whole, []) for _ in range(3)]
    resumed = RandomSampler(Squares(20), seed=1)
    resumed.set_epoch(2)
    assert sum(resumed, []) == epochs[2]


def test_random_sampler_of_indices():
    assert sorted(sum(RandomSampler(Squares(9), indices=[2, 5, 7], seed=0), [])) == [2, 5, 7]


def test_replacement_sampler_follows_its_weights():
    sampler = ReplacementSampler(Squares(4), num_samples=2000, weights=[0, 1, 3, 0], seed=0)
    counts = np.bincount(sum(sampler, []), minlength=4)
    assert counts[[0, 3]].sum() == 0 and abs(counts[2] / counts[1] - 3) < 0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"batch_size": 0}, "RandomSampler: batch_size must be a positive integer, got 0"),
        ({"batch_size": 1.5}, "batch_size must be a positive integer, got 1.5"),
        ({"drop_last": 1}, "drop_last must be a bool, got 1"),
        ({"world_size": 2, "rank": 2}, "rank must be below 2, got 2"),
    ],
)
def test_sampler_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        RandomSampler(Squares(4), **arguments)


@pytest.mark.parametrize("weights", [[1, 2], [0, 0, 0], [1, -1, 2], [1, np.nan, 1]])
def test_replacement_weights(weights):
    with pytest.raises(ValueError, match="ReplacementSampler: weights must"):
        ReplacementSampler(Squares(3), weights=weights)


def test_ranks_share_the_samples():
    parts = [sum(SequentialSampler(Squares(7), world_size=3, rank=r), []) for r in range(3)]
    assert [len(part) for part in parts] == [3, 3, 3] and set(sum(parts, [])) == set(range(7))


def test_infinite_starts_again():
    batches = islice(Infinite(SequentialSampler(Squares(3), batch_size=2)), 5)
    assert list(batches) == [[0, 1], [2], [0, 1], [2], [0, 1]]


def test_collator_goes_through_containers():
    samples = [
        {"x": np.zeros(2), "y": Pair(1, [2.0, "s"])},
        {"x": np.ones(2), "y": Pair(3, [4.0, "t"])},
    ]
    batch = Collator().apply(samples)
    assert batch["x"].shape == (2, 2) and batch["y"].a.tolist() == [1, 3]
    assert isinstance(batch["y"], Pair) and batch["y"].b[1] == ["s", "t"]


def test_collator_refuses():
    with pytest.raises(TypeError, match="Collator: samples must be arrays, numbers or containers"):
        Collator().apply([object()])
    with pytest.raises(ValueError, match=r"must have one number of fields, got \[1, 2\]"):
        Collator().apply([(1,), (1, 2)])


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
    with pytest.raises(KeyError, match="no sample 4") as caught:
        flat(loader)
    assert "datasets.py" in str(caught.value.__cause__) and "worker 0" in str(
        caught.value.__cause__
    )


def test_worker_exception_that_cannot_be_pickled():
    with pytest.raises(RuntimeError, match="worker 0 must not fail, got .*PickyError: 1 and 2"):
        flat(DataLoader(Picky(), num_workers=1))


def test_timeout():
    # long enough for worker 0 to start on a busy machine
    loader = DataLoader(Squares(4, sleeps=1), num_workers=2, timeout=6)
    with pytest.raises(
        TimeoutError, match="a batch must arrive within 6 s, got none from worker 1"
    ):
        flat(loader)
    loader.close()


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
    loader = DataLoader(Squares(4), num_workers=2)
    next(iter(loader))
    workers = [worker.process for pool in loader._pools for worker in pool.workers]
    parents = {int(Path(f"/proc/{w.pid}/stat").read_text().split()[3]) for w in workers}
    assert len(parents) == 1 and os.getpid() not in parents  # not forked from this process
    assert "forkserver" in Path(f"/proc/{parents.pop()}/cmdline").read_text()
    loader.close()


def test_unpicklable_dataset():
    with pytest.raises(TypeError, match="must be picklable for workers"):
        flat(DataLoader(Squares(3), transform=lambda s: s, num_workers=1))


@pytest.mark.parametrize("workers", [0, 1])
def test_stream(workers):
    loader = DataLoader(Count(), StreamSampler(batch_size=4), num_workers=workers)
    for _ in range(2):
        assert [b.tolist() for b in loader] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10]]


def test_parallel_stream():
    loader = DataLoader(Count(), StreamSampler(3), num_workers=2, parallel_stream=True)
    assert sorted(sum((b.tolist() for b in loader), [])) == list(range(11))
    with pytest.raises(ValueError, match="parallel_stream must be set"):
        DataLoader(Count(), num_workers=2)


def test_preload_gives_tensors():
    from tessera import Tensor

    batches = list(DataLoader(Squares(3), preload=True))
    assert len(batches) == 3 and all(isinstance(field, Tensor) for b in batches for field in b)


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
from tests.python.datasets import Squares
if __name__ == "__main__":
    batches = iter(DataLoader(Squares(100), num_workers=2))
    next(batches)
    {end}
"""


@pytest.mark.parametrize("end", ["", "raise SystemExit(3)", "import os; os._exit(3)"])
def test_no_worker_outlives_the_process(tmp_path, end):
    script = tmp_path / "main.py"
    script.write_text(SCRIPT.format(end=end))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    # Reading the output to its end means that nobody holds it any more.
    assert done.returncode == (3 if end else 0), done.stderr
