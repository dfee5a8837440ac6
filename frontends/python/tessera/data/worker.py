"""What happens in a worker process of the DataLoader.

Parent and worker talk through one pipe. The parent sends `(ticket, task)`. The worker answers with
the ticket and what the task gives: a batch, `Stream.END` or a `Failure`.
"""

import pickle
import queue
import signal
import threading
import traceback
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .. import random
from . import parcel
from .batch_maker import BatchMaker, Reader, Run, Stream
from .worker_info import set_worker_info


@dataclass
class Failure:
    """An exception on its way to the parent."""

    error: BaseException | None
    name: str
    text: str

    @classmethod
    def current(cls, error):
        """From inside an except block."""
        name, text = type(error).__name__, traceback.format_exc()
        try:
            return cls(pickle.loads(pickle.dumps(error)), name, text)
        except Exception:  # an exception class may refuse to be pickled, or to be made
            return cls(None, name, text)

    def throw(self, worker):
        """Raises a RuntimeError with the worker's traceback, caused by the worker's exception."""
        raise RuntimeError(
            f"DataLoader: batches must be made without an error, got one of worker {worker}\n"
            f"Caught {self.name} in DataLoader worker process {worker}.\n{self.text}"
        ) from self.error


class MapTask(NamedTuple):
    """Asks for batch `number`, of the samples at `indices`."""

    run: Run
    number: int
    indices: object

    def answer(self, maker: BatchMaker, reader: Reader):
        """The batch."""
        return maker.from_indices(self.run.epoch, self.number, self.indices)


class StreamTask(NamedTuple):
    """Asks for batch `number`, of the next samples of the worker's own stream."""

    run: Run
    number: int
    size: int

    def answer(self, maker: BatchMaker, reader: Reader):
        """The batch, or Stream.END."""
        samples = reader.read(self.run.iteration, self.size)
        return maker.from_samples(self.run.epoch, self.number, samples)


class ReadTask(NamedTuple):
    """Asks for samples of the stream as they are, pickled: the parent only passes them on."""

    run: Run
    size: int

    def answer(self, maker: BatchMaker, reader: Reader):
        """The bytes, or Stream.END."""
        samples = reader.read(self.run.iteration, self.size)
        if samples is Stream.END:
            return samples
        return np.frombuffer(pickle.dumps(samples, protocol=5), dtype=np.uint8)


class FinishTask(NamedTuple):
    """Asks for batch `number`, of what a ReadTask gave."""

    run: Run
    number: int
    samples: np.ndarray

    def answer(self, maker: BatchMaker, reader: Reader):
        """The batch."""
        return maker.from_samples(self.run.epoch, self.number, pickle.loads(self.samples))


def _seed_tensors(seed, task):
    """Random tensors of a batch, as NumPy's numbers, depend on seed, epoch and number alone."""
    if not hasattr(task, "number"):
        return
    words = [number & 0xFFFFFFFF for number in (seed, task.run.epoch, task.number)]
    with suppress(RuntimeError):  # of an accelerator that the parent of a fork has: none draws here
        random.seed(int(np.random.SeedSequence(words).generate_state(1)[0]))


def _receive(pipe, tasks):
    # The parent may send before it reads: take tasks off the pipe at once, or both ends could
    # block.
    try:
        while True:
            tasks.put(pipe.recv())
    except (EOFError, OSError):
        tasks.put(None)


def _send(pipe, ticket, answer):
    try:
        parcel.send(pipe, ticket, answer)
    except OSError:  # the parent is gone
        raise
    except Exception as error:  # the result of a dataset may not be picklable, or be too large
        parcel.send(pipe, ticket, Failure.current(error))


def _leave_parent():
    """Undoes what a forked process inherits: handlers of signals, and the parent's event loop."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides


def run_worker(maker, pipe, info):
    """The life of a worker: until the parent sends None or closes the pipe."""
    set_worker_info(info)
    _leave_parent()
    tasks, reader = queue.SimpleQueue(), Reader(maker.dataset)
    threading.Thread(target=_receive, args=(pipe, tasks), daemon=True).start()
    while (received := tasks.get()) is not None:
        ticket, task = received
        try:
            _seed_tensors(maker.seed, task)
            answer = task.answer(maker, reader)
        except Exception as error:
            answer = Failure.current(error)
        try:
            _send(pipe, ticket, answer)
        except OSError:
            return
