"""The limit on the time that a batch may take."""

import queue
import threading


class LoaderTimeoutError(TimeoutError, RuntimeError):
    """Tells that a batch took longer than the loader's timeout."""

    @classmethod
    def after(cls, seconds, maker):
        """The error for `maker`, which had `seconds` seconds for a batch."""
        return cls(
            f"DataLoader: a batch must arrive within the timeout of {seconds} s, "
            f"got none from {maker}"
        )


def watched(batches, seconds):
    """The batches of an iterator of this process, each made in a thread.

    A batch that takes longer than `seconds` raises LoaderTimeoutError. Its thread cannot be
    stopped: it is left behind, and does not keep the process from ending.
    """
    while True:
        answers = queue.SimpleQueue()
        threading.Thread(target=_next, args=(batches, answers), daemon=True).start()
        try:
            batch, error = answers.get(timeout=seconds)
        except queue.Empty:
            raise LoaderTimeoutError.after(seconds, "this process") from None
        if isinstance(error, StopIteration):
            return
        if error is not None:
            raise error
        yield batch


def _next(batches, answers):
    try:
        answers.put((next(batches), None))
    except BaseException as error:
        answers.put((None, error))
