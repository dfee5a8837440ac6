"""The worker processes of one DataLoader iteration, from the parent's side."""

import multiprocessing
import pickle
import time
from collections import deque
from contextlib import suppress
from multiprocessing import connection

from .worker import END, Failure, WorkerInfo, run_worker

_AHEAD = 2  # batches that each worker makes ahead of their use
_PATIENCE = 2.0  # seconds until a worker that does not end by itself is killed


class Worker:
    """One process and its pipe."""

    def __init__(self, context, maker, number, count):
        self.number = number
        self.pipe, other = context.Pipe()
        info = WorkerInfo(number, count)
        self.process = context.Process(
            target=run_worker, args=(maker, other, info), daemon=True, name=f"DataLoader-{number}"
        )
        self.process.start()
        other.close()

    def receive(self, timeout):
        """The next answer, or an error when none comes in `timeout` seconds (None: no limit)."""
        ready = connection.wait([self.pipe, self.process.sentinel], timeout)
        try:
            if self.pipe in ready or (ready and self.pipe.poll()):
                return pickle.loads(self.pipe.recv_bytes())
        except (EOFError, ConnectionResetError):
            pass
        else:
            if not ready:
                raise TimeoutError(
                    f"DataLoader: a batch must arrive within {timeout} s, "
                    f"got none from {self.who()}"
                )
        self.process.join(_PATIENCE)
        raise RuntimeError(
            f"DataLoader: workers must live as long as the loader, got exit code "
            f"{self.process.exitcode} of {self.who()}"
        )

    def who(self):
        """For messages."""
        return f"worker {self.number} (process {self.process.pid})"

    def send(self, task):
        """A task, or None to end. A dead worker shows when its answer is awaited."""
        with suppress(OSError):
            self.pipe.send(task)


class WorkerPool:
    """Workers that serve one iteration at a time and stay for the next."""

    def __init__(self, maker, count, timeout):
        context = multiprocessing.get_context("forkserver")
        self.timeout = timeout or None
        self.run = 0
        self.workers = []
        try:
            for number in range(count):
                self.workers.append(Worker(context, maker, number, count))
        except Exception as error:  # pickling raises TypeError, AttributeError, PicklingError
            self.close()
            raise TypeError(
                f"DataLoader: dataset, transform and collator must be picklable for workers, "
                f"got {error}"
            ) from error

    def batches(self, run, tasks):
        """The batches of the index lists `tasks`, in their order."""
        self.run = run
        pending = deque()
        for number, indices in enumerate(tasks):
            worker = self.workers[number % len(self.workers)]
            if len(pending) >= _AHEAD * len(self.workers):
                yield self._take(*pending.popleft())
            worker.send((run, number, indices))
            pending.append((worker, number))
        while pending:
            yield self._take(*pending.popleft())

    def stream(self, run, size):
        """The batches of a stream, in turn from each worker until every one is at its end."""
        self.run = run
        pending = deque((worker, ahead) for ahead in range(_AHEAD) for worker in self.workers)
        for worker, number in pending:
            worker.send((run, number, size))
        while pending:
            worker, number = pending.popleft()
            batch = self._take(worker, number)
            if isinstance(batch, str) and batch == END:
                pending = deque(entry for entry in pending if entry[0] is not worker)
                continue
            worker.send((run, number + _AHEAD, size))
            pending.append((worker, number + _AHEAD))
            yield batch

    def _take(self, worker, number):
        end = None if self.timeout is None else time.monotonic() + self.timeout
        while True:
            left = None if end is None else max(0.0, end - time.monotonic())
            try:
                run, got, answer = worker.receive(left)
            except TimeoutError as error:
                raise TimeoutError(str(error).replace(f"{left} s", f"{self.timeout} s")) from None
            if (run, got) == (self.run, number):
                break  # other answers belong to an iteration that was given up
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
