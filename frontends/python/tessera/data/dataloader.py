"""DataLoader: batches of a dataset, made in this process or in workers."""

import weakref

import numpy as np

from .collator import Collator
from .dataset import StreamDataset
from .sampler import SequentialSampler, StreamSampler
from .worker import END, BatchMaker


def _close_all(pools):
    while pools:
        pools.pop().close()


class DataLoader:
    """Iterates over batches of `dataset`, as NumPy arrays (tensors when `preload` is set).

    `sampler` says which samples make a batch, `transform` (a callable of one sample, or an object
    with `apply_batch`) changes samples, `collator` stacks them. `num_workers` processes, started by
    a fork server, make batches ahead; order, shuffling and random transforms do not depend on their
    number. An exception in a worker is raised here with the worker's traceback. `timeout` is in
    seconds for one batch; 0 waits for ever. Workers stay for the next iteration and end with the
    loader or `close`.
    """

    def __init__(self, dataset, sampler=None, transform=None, collator=None, num_workers=0,
                 timeout=0, preload=False, parallel_stream=False):  # fmt: skip
        _check_arguments(dataset, sampler, num_workers, timeout, parallel_stream)
        stream = isinstance(dataset, StreamDataset)
        self.dataset, self.transform = dataset, transform
        self.sampler = sampler or (StreamSampler() if stream else SequentialSampler(dataset))
        self.collator = collator or Collator()
        self.num_workers, self.timeout, self.preload = num_workers, timeout, preload
        seed = int(getattr(self.sampler, "seed", 0))
        self._maker = BatchMaker(dataset, transform, self.collator, seed)
        self._run = 0
        self._idle = []  # pools that no iteration is using
        self._pools = []
        self._finalizer = weakref.finalize(self, _close_all, self._pools)

    def __len__(self):
        return len(self.sampler)

    def __iter__(self):
        run = (self._run, getattr(self.sampler, "epoch", self._run))
        self._run += 1
        batches = self._in_workers(run) if self.num_workers else self._here(run)
        return _one_ahead(batches) if self.preload else batches

    def _here(self, run):
        if isinstance(self.dataset, StreamDataset):
            samples, size = iter(self.dataset), self.sampler.batch_size
            while (batch := self._maker.from_stream(samples, size)) is not END:
                yield batch
            return
        for number, indices in enumerate(self.sampler):
            yield self._maker.from_indices(run, number, indices)

    def _in_workers(self, run):
        pool = self._idle.pop() if self._idle else self._new_pool()
        try:
            if isinstance(self.dataset, StreamDataset):
                yield from pool.stream(run, self.sampler.batch_size)
            else:
                yield from pool.batches(run, self.sampler)
        except GeneratorExit:
            self._give_back(pool)
            raise
        except BaseException:
            pool.close()
            raise
        finally:
            self._pools[:] = [each for each in self._pools if each.workers]
        self._give_back(pool)

    def _give_back(self, pool):
        if pool.workers:
            self._idle.append(pool)

    def _new_pool(self):
        from .pool import WorkerPool  # multiprocessing takes 15 ms to import

        pool = WorkerPool(self._maker, self.num_workers, self.timeout)
        self._pools.append(pool)
        return pool

    def close(self):
        """Ends the workers; a later iteration starts new ones."""
        self._idle.clear()
        _close_all(self._pools)


def _check_arguments(dataset, sampler, num_workers, timeout, parallel_stream):
    if not isinstance(num_workers, (int, np.integer)) or num_workers < 0:
        raise ValueError(f"DataLoader: num_workers must be an integer >= 0, got {num_workers!r}")
    if timeout < 0:
        raise ValueError(f"DataLoader: timeout must be >= 0, got {timeout!r}")
    if timeout and not num_workers:
        raise ValueError(f"DataLoader: timeout must be 0 without workers, got {timeout!r}")
    if isinstance(dataset, StreamDataset):
        if sampler is not None and not isinstance(sampler, StreamSampler):
            raise TypeError(f"DataLoader: a stream must have a StreamSampler, got {type(sampler)}")
        if num_workers > 1 and not parallel_stream:
            raise ValueError(
                f"DataLoader: parallel_stream must be set where several workers read one "
                f"stream, got num_workers={num_workers}"
            )
    elif isinstance(sampler, StreamSampler):
        raise TypeError(
            f"DataLoader: a StreamSampler must have a StreamDataset, got {type(dataset)}"
        )


def _to_tensors(batch):
    from ..tensor import Tensor

    if isinstance(batch, np.ndarray):
        return Tensor(batch)
    if isinstance(batch, dict):
        return {key: _to_tensors(value) for key, value in batch.items()}
    if isinstance(batch, (tuple, list)):
        return type(batch)(_to_tensors(value) for value in batch)
    return batch


def _one_ahead(batches):
    """The batches as tensors; the copy of the next one is under way while this one is used."""
    ahead = None
    for batch in batches:
        tensors = _to_tensors(batch)
        if ahead is not None:
            yield ahead[0]
        ahead = (tensors,)
    if ahead is not None:
        yield ahead[0]
