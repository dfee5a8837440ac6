"""What happens in a worker process of the DataLoader.

Parent and worker talk through one pipe. A task is `(run, number, indices)`; a run is `(iteration,
epoch)`, and for a stream `indices` is the batch size. An answer is `(run, number, batch)`, with
`END` when the stream is over or a `Failure`.
"""

import pickle
import queue
import random
import signal
import threading
import traceback
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice

import numpy as np

END = "end of stream"
_info = None


@dataclass(frozen=True)
class WorkerInfo:
    """Which worker of how many this process is."""

    idx: int
    num_workers: int


def get_worker_info():
    """The WorkerInfo of this process; None outside a worker."""
    return _info


@dataclass
class Failure:
    """An exception on its way to the parent."""

    error: BaseException | None
    text: str

    @classmethod
    def current(cls, error):
        """From inside an except block."""
        text = traceback.format_exc()
        try:
            return cls(pickle.loads(pickle.dumps(error)), text)
        except Exception:  # an exception class may refuse to be pickled, or to be made
            return cls(None, text)

    def throw(self, worker):
        """Raises the worker's exception, with the worker's traceback as its cause."""
        cause = WorkerTraceback(f"in DataLoader worker {worker}:\n{self.text}")
        if self.error is None:
            last = self.text.strip().splitlines()[-1]
            raise RuntimeError(f"DataLoader: worker {worker} must not fail, got {last}") from cause
        raise self.error from cause


class WorkerTraceback(Exception):  # noqa: N818
    """Shows the traceback of a worker."""


@dataclass
class BatchMaker:
    """Dataset, transform and collator: all that a worker is sent."""

    dataset: object
    transform: object
    collator: object
    seed: int

    def finish(self, samples):
        """Samples to a batch."""
        if hasattr(self.transform, "apply_batch"):
            samples = self.transform.apply_batch(samples)
        elif self.transform is not None:
            samples = [self.transform(sample) for sample in samples]
        return self.collator.apply(samples)

    def from_indices(self, run, number, indices):
        """Batch `number`; the global generators depend on seed, epoch and number alone."""
        with _seeded([self.seed, run[1], number]):
            return self.finish([self.dataset[index] for index in indices])

    def from_stream(self, samples, size):
        """The next `size` samples of an iterator, or END."""
        batch = list(islice(samples, size))
        return self.finish(batch) if batch else END


@contextmanager
def _seeded(numbers):
    ours, theirs = np.random.get_state(), random.getstate()
    np.random.seed([number & 0xFFFFFFFF for number in numbers])
    random.seed(repr(numbers))
    try:
        yield
    finally:
        np.random.set_state(ours)
        random.setstate(theirs)


def _receive(pipe, tasks):
    # The parent may send before it reads: take tasks off the pipe at once, or both ends could
    # block.
    try:
        while True:
            tasks.put(pipe.recv())
    except (EOFError, OSError):
        tasks.put(None)


def _answer(maker, streams, run, number, indices):
    if not isinstance(indices, int):
        return maker.from_indices(run, number, indices)
    if run not in streams:
        streams.clear()
        streams[run] = iter(maker.dataset)
    return maker.from_stream(streams[run], indices)


def _send(pipe, run, number, answer):
    try:
        data = pickle.dumps((run, number, answer), protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # the result of a dataset may not be picklable
        data = pickle.dumps((run, number, Failure.current(error)))
    pipe.send_bytes(data)


def run_worker(maker, pipe, info):
    """The life of a worker: until the parent sends None or closes the pipe."""
    global _info
    _info = info
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    tasks, streams = queue.SimpleQueue(), {}
    threading.Thread(target=_receive, args=(pipe, tasks), daemon=True).start()
    while (task := tasks.get()) is not None:
        run, number, indices = task
        try:
            answer = _answer(maker, streams, run, number, indices)
        except Exception as error:
            answer = Failure.current(error)
        try:
            _send(pipe, run, number, answer)
        except OSError:  # the parent is gone
            return
