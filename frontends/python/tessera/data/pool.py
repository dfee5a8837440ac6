"""The worker processes of one DataLoader iteration, from the parent's side."""

import os
import select
import time
import warnings
import weakref
from collections import deque
from contextlib import contextmanager, suppress
from itertools import count
from multiprocessing import connection
from pickle import PicklingError

from . import parcel
from .batch_maker import Stream
from .start_method import advice
from .timeout import LoaderTimeoutError
from .worker import Failure, FinishTask, MapTask, ReadTask, StreamTask, run_worker
from .worker_info import WorkerInfo

_AHEAD = 2  # batches that each worker makes ahead of their use
_PATIENCE = 2.0  # seconds until a worker that does not end by itself is killed


class Worker:
    """One process and its pipe."""

    def __init__(self, context, maker, number, info):
        self.number, self.has_answered = number, False
        self.method = context.get_start_method()
        self.pipe, other = context.Pipe()
        _inherited.add(self)
        self.process = context.Process(
            target=run_worker, args=(maker, other, info), daemon=True, name=f"DataLoader-{number}"
        )
        try:
            with _quiet_fork():
                self.process.start()
        except BaseException:
            self.pipe.close()
            raise
        finally:
            other.close()

    def __str__(self):
        return f"worker {self.number} (process {self.process.pid})"

    def send(self, message):
        """A ticket and its task, or None to end. A dead worker shows when it is waited for."""
        with suppress(OSError):
            self.pipe.send(message)

    def forget(self):
        """Lets go of the worker in a child of a fork: it ends when nobody holds this pipe."""
        self.pipe.close()

    def check_alive(self):
        """RuntimeError where the process has ended."""
        if connection.wait([self.process.sentinel], 0):
            self.process.join(_PATIENCE)
            hint = "" if self.has_answered or self.method == "fork" else f" ({advice(self.method)})"
            raise RuntimeError(
                f"DataLoader: workers must live as long as the loader, got exit code "
                f"{self.process.exitcode} of {self}{hint}"
            )


class WorkerPool:
    """Workers that serve one iteration at a time and stay for the next.

    `total` of them make batches; with `reads` one more reads a stream for them, and is not told to
    be one of several.
    """

    def __init__(self, context, maker, total, timeout, reads=False):
        self.timeout = timeout or None
        self.workers, self._watches = [], {}
        self._end = "the loader was closed"
        self._tickets = count()
        self._first = 0  # answers to earlier tickets belong to an iteration that was given up
        self._arrived = {}  # answers that came before they were waited for, by ticket
        infos = [WorkerInfo(number, total, maker.seed) for number in range(total)]
        _inherited.add(self)
        try:
            for number, info in enumerate([*infos, *[None] * reads]):
                self.workers.append(Worker(context, maker, number, info))
        except BaseException as error:
            self.close()
            _raise_start_error(error, context.get_start_method())
        self._watches = {worker: self._watch(worker) for worker in self.workers}

    def batches(self, run, sampler):
        """The batches of the index lists of `sampler`, in their order."""
        self._start()
        workers, pending = self.workers, deque()
        for number, indices in enumerate(sampler):
            if len(pending) >= _AHEAD * len(workers):
                yield self._take(*pending.popleft())
            worker = workers[number % len(workers)]
            pending.append(self._ask(worker, MapTask(run, number, indices)))
        while pending:
            yield self._take(*pending.popleft())

    def parallel_stream(self, run, size):
        """The batches of a stream, in turn from each worker until every one is at its end."""
        self._start()
        total, numbers = len(self.workers), count()
        pending = deque()
        for number in range(_AHEAD * total):
            task = StreamTask(run, next(numbers), size)
            pending.append(self._ask(self.workers[number % total], task))
        while pending:
            worker, ticket = pending.popleft()
            batch = self._take(worker, ticket)
            if batch is Stream.END:
                pending = deque(entry for entry in pending if entry[0] is not worker)
                continue
            pending.append(self._ask(worker, StreamTask(run, next(numbers), size)))
            yield batch

    def shared_stream(self, run, size):
        """The batches of a stream, in order: the last worker reads, all others transform."""
        self._start()
        *makers, reader = self.workers
        limit = _AHEAD * len(makers)
        reads = deque(self._ask(reader, ReadTask(run, size)) for _ in range(_AHEAD))
        pending, numbers = deque(), count()
        while reads or pending:
            while reads and len(pending) < limit and (not pending or self._has(*reads[0])):
                samples = self._take(*reads.popleft())
                if samples is Stream.END:
                    reads.clear()
                    break
                number = next(numbers)
                task = FinishTask(run, number, samples)
                pending.append(self._ask(makers[number % len(makers)], task))
                reads.append(self._ask(reader, ReadTask(run, size)))
            if pending:
                yield self._take(*pending.popleft())

    def _start(self):
        self._first = next(self._tickets)
        self._arrived.clear()

    def _watch(self, worker):
        """Tells when the worker has answered, and when any worker has died."""
        watch = select.poll()
        for descriptor in (worker.pipe, *(each.process.sentinel for each in self.workers)):
            watch.register(descriptor, select.POLLIN)
        return watch

    def _ask(self, worker, task):
        self._check_open()
        ticket = next(self._tickets)
        worker.send((ticket, task))
        return worker, ticket

    def _check_open(self):
        if not self.workers:
            raise RuntimeError(f"DataLoader: workers are gone ({self._end})")

    def _has(self, worker, ticket):
        """Whether the answer has come."""
        self._check_open()
        while ticket not in self._arrived and worker.pipe.poll():
            self._receive(worker)
        return ticket in self._arrived

    def _receive(self, worker):
        try:
            ticket, answer = parcel.receive(worker.pipe)
        except (EOFError, ConnectionResetError):
            connection.wait([worker.process.sentinel], _PATIENCE)
            worker.check_alive()
            raise
        worker.has_answered = True
        if ticket >= self._first:
            self._arrived[ticket] = answer

    def _take(self, worker, ticket):
        """The answer, when it comes; a worker that dies meanwhile is noticed at once."""
        self._check_open()
        watch, pipe = self._watches[worker], worker.pipe.fileno()
        end = time.monotonic() + (self.timeout or 0)
        while ticket not in self._arrived:
            left = self.timeout and 1000 * max(0.0, end - time.monotonic())
            ready = [descriptor for descriptor, _ in watch.poll(left)]
            if not ready:
                raise LoaderTimeoutError.after(self.timeout, worker)
            if pipe in ready:
                self._receive(worker)
                continue
            for each in self.workers:
                each.check_alive()
        answer = self._arrived.pop(ticket)
        if isinstance(answer, Failure):
            answer.throw(worker.number)
        return answer

    def close(self):
        """Ends every worker."""
        for worker in self.workers:
            worker.send(None)
        end = time.monotonic() + _PATIENCE
        for worker in self.workers:
            worker.pipe.close()
            worker.process.join(max(0.0, end - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
        self.workers = []

    def forget(self):
        """Lets go of the workers in a child of a fork: they are the parent's."""
        self.workers, self._end = [], "the iteration began before a fork, in the parent"


_inherited = weakref.WeakSet()  # workers and pools, which are none of a child's


def _forget_inherited():
    for each in list(_inherited):
        each.forget()


os.register_at_fork(after_in_child=_forget_inherited)


@contextmanager
def _quiet_fork():
    """Without Python's warning of threads that a fork loses: the library starts its own anew."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
        yield


def _raise_start_error(error, method):
    if not isinstance(error, Exception):
        raise error
    if isinstance(error, (PicklingError, TypeError, AttributeError)):  # what pickling raises
        raise TypeError(
            f"DataLoader: dataset, transform and collator must be picklable for workers that "
            f"start by {method}, got {error} ({advice(method)})"
        ) from error
    cause = f"{type(error).__name__}: {error}"
    if method != "fork" and isinstance(error, (OSError, EOFError, RuntimeError)):
        cause += f"; {advice(method)}"
    raise RuntimeError(f"DataLoader: workers did not start ({cause})") from error
