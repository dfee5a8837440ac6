"""Which worker this process is."""

from dataclasses import dataclass

_info = None


@dataclass(frozen=True)
class WorkerInfo:
    """Worker `idx` of `worker` workers, whose sampler has `seed`."""

    idx: int
    worker: int
    seed: int = 0

    @property
    def num_workers(self):
        """How many workers there are."""
        return self.worker


def get_worker_info():
    """The WorkerInfo of this process; None outside a worker, and in the process that reads a
    stream for all of them.

    >>> from tessera.data import get_worker_info
    >>> get_worker_info() is None
    True
    """
    return _info


def set_worker_info(info):
    """Tells this process which worker it is; `info` is a WorkerInfo or None."""
    global _info
    _info = info
