"""DataLoader: batches of a dataset, made in this process or in workers."""

import weakref
from collections.abc import Mapping

import numpy as np

from ..tensor import Tensor
from .batch_maker import BatchMaker, Reader, Run, Stream
from .collator import Collator
from .dataset import StreamDataset
from .sampler import StreamSampler
from .timeout import watched
from .transform import PseudoTransform
from .usual import check_no_settings, sampler_of
from .worker_info import WorkerInfo, get_worker_info

__all__ = ["DataLoader", "PreLoader", "WorkerInfo", "get_worker_info"]


def _close_all(pools):
    while pools:
        pools.pop().close()


class DataLoader:
    """Iterates over batches of `dataset`, as NumPy arrays (tensors when `preload` is set).

    `sampler` says which samples make a batch, `transform` (an object with `apply_batch`, such as a
    Transform, or a callable of one sample) changes samples, `collator` stacks them. `num_workers`
    processes make batches ahead; order, shuffling and random transforms do not depend on their
    number. Large arrays come from them through shared memory.

    Workers start by fork where that is safe, so that a dataset may stand in a script or a notebook.
    Where an accelerator is in use or `multiprocessing.set_start_method` asks for another method,
    and on other systems than Linux, they are fresh processes: dataset, transform and collator must
    then be picklable, and a script needs `if __name__ == "__main__":`. `multiprocessing_context`
    ("fork", "forkserver", "spawn", or a context of multiprocessing) decides otherwise.

    Without a sampler batches have `batch_size` samples, in order or with `shuffle` in random order,
    which `seed` decides; `drop_last` leaves out a last one that is smaller.

    A stream with several workers is read by one more process and transformed by all, in order. With
    `parallel_stream` each worker reads a stream of its own; `get_worker_info` in the dataset's
    `__iter__` tells which share to read.

    `timeout` is in seconds for one batch; 0 waits for ever. A batch that takes longer is a
    TimeoutError that is also a RuntimeError. An exception in a worker is a RuntimeError here with
    the worker's traceback, caused by that exception; a worker that dies is a RuntimeError too.
    Workers stay for the next iteration and end with the loader or `close`.
    """

    def __init__(self, dataset, sampler=None, transform=None, collator=None, num_workers=0,
                 timeout=0, preload=False, parallel_stream=False, *, multiprocessing_context=None,
                 batch_size=1, shuffle=False, drop_last=False, seed=None):  # fmt: skip
        _check_arguments(dataset, sampler, num_workers, timeout)
        self.dataset, self.sampler = dataset, sampler
        if sampler is None:
            self.sampler = sampler_of(dataset, batch_size, shuffle, drop_last, seed)
        else:
            check_no_settings(batch_size, shuffle, drop_last, seed)
        self.transform = PseudoTransform() if transform is None else transform
        self.collator = Collator() if collator is None else collator
        self.num_workers, self.timeout = num_workers, timeout
        self.preload, self.parallel_stream = preload, parallel_stream
        seed = int(getattr(self.sampler, "seed", 0))
        self._maker = BatchMaker(dataset, self.transform, self.collator, seed)
        self._context = multiprocessing_context
        self._iteration = 0
        self._idle = []  # pools that no iteration is using
        self._pools = []
        self._finalizer = weakref.finalize(self, _close_all, self._pools)

    def __len__(self):
        return len(self.sampler)

    def __iter__(self):
        return PreLoader(self, self.preload)

    def batches(self):
        """The batches of one iteration, as the collator makes them."""
        run = Run(self._iteration, getattr(self.sampler, "epoch", self._iteration))
        self._iteration += 1
        if self.num_workers:
            return self._in_workers(run)
        return watched(self._here(run), self.timeout) if self.timeout else self._here(run)

    def _here(self, run):
        if isinstance(self.dataset, StreamDataset):
            yield from self._stream_here(run)
            return
        for number, indices in enumerate(self.sampler):
            yield self._maker.from_indices(run.epoch, number, indices)

    def _stream_here(self, run):
        reader, number = Reader(self.dataset), 0
        while (samples := reader.read(0, self.sampler.batch_size)) is not Stream.END:
            yield self._maker.from_samples(run.epoch, number, samples)
            number += 1

    def _from(self, pool, run):
        if not isinstance(self.dataset, StreamDataset):
            return pool.batches(run, self.sampler)
        stream = pool.shared_stream if self._shares_stream() else pool.parallel_stream
        return stream(run, self.sampler.batch_size)

    def _shares_stream(self):
        stream = isinstance(self.dataset, StreamDataset)
        return stream and self.num_workers > 1 and not self.parallel_stream

    def _in_workers(self, run):
        self._idle[:] = [each for each in self._idle if each.workers]  # a fork takes them
        pool = self._idle.pop() if self._idle else self._new_pool()
        try:
            yield from self._from(pool, run)
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
        from .start_method import context_of

        context, reads = context_of(self._context), self._shares_stream()
        pool = WorkerPool(context, self._maker, self.num_workers, self.timeout, reads)
        self._pools.append(pool)
        return pool

    def close(self):
        """Ends the workers; a later iteration starts new ones."""
        self._idle.clear()
        _close_all(self._pools)


class PreLoader:
    """One iteration over `loader`, a DataLoader; with `preload` its arrays are tensors.

    With `preload` the copy of the next batch to the device is under way while the one before is
    used. Arrays in tuples, lists and dicts become tensors; other values stay.
    """

    def __init__(self, loader, preload=True):
        self._loader = loader
        self._batches = _one_ahead(loader.batches()) if preload else loader.batches()

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._batches)

    def __len__(self):
        return len(self._loader)


def _check_arguments(dataset, sampler, num_workers, timeout):
    if not isinstance(num_workers, (int, np.integer)) or num_workers < 0:
        raise ValueError(f"DataLoader: num_workers must be an integer >= 0, got {num_workers!r}")
    if isinstance(sampler, int):
        raise TypeError(
            f"DataLoader: sampler must yield lists of indices (batch_size=n gives batches of n), "
            f"got {sampler!r}"
        )
    if timeout < 0:
        raise ValueError(f"DataLoader: timeout must be >= 0, got {timeout!r}")
    if isinstance(dataset, StreamDataset):
        if sampler is not None and not isinstance(sampler, StreamSampler):
            raise TypeError(f"DataLoader: a stream must have a StreamSampler, got {type(sampler)}")
    elif isinstance(sampler, StreamSampler):
        raise TypeError(
            f"DataLoader: a StreamSampler must have a StreamDataset, got {type(dataset)}"
        )


def _to_tensors(batch):
    if isinstance(batch, np.ndarray):
        return Tensor(batch)
    if isinstance(batch, Mapping):
        return {key: _to_tensors(value) for key, value in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*map(_to_tensors, batch))
    if isinstance(batch, (tuple, list)):
        return type(batch)(_to_tensors(value) for value in batch)
    return batch


def _one_ahead(batches):
    ahead = None
    for batch in batches:
        tensors = _to_tensors(batch)
        if ahead is not None:
            yield ahead[0]
        ahead = (tensors,)
    if ahead is not None:
        yield ahead[0]
