"""How worker processes start: by fork where that is safe, else as fresh processes."""

import multiprocessing
import sys

from .. import _core

_MULTIPROCESSING = "DataLoader: multiprocessing_context must be a context of multiprocessing, or"


def context_of(asked):
    """The multiprocessing context of workers: the one asked for, by name or itself; for None that
    of `multiprocessing.set_start_method` where it is not Python's default; else fork, or a fork
    server where fork is not safe.
    """
    if asked is not None and not isinstance(asked, str):
        if not hasattr(asked, "Process"):
            raise TypeError(f"{_MULTIPROCESSING} its name, got {asked!r}")
        return asked
    known = multiprocessing.get_all_start_methods()  # Python's default is the first
    if asked is not None and asked not in known:
        raise ValueError(f"{_MULTIPROCESSING} one of {known}, got {asked!r}")
    chosen = asked or multiprocessing.get_start_method(allow_none=True)
    if asked is None and chosen in (None, known[0]):
        chosen = _own_choice(known)
    return multiprocessing.get_context(chosen)


def _own_choice(known):
    if sys.platform == "linux" and not why_not_fork():
        return "fork"
    return "forkserver" if "forkserver" in known else "spawn"


def why_not_fork():
    """The reason for which a forked child could not compute; None: there is none."""
    accelerators = [
        name for name in _core.devices_in_use() if not _core.shares_memory_with_host(name)
    ]
    if accelerators:
        return f"{accelerators[0]} is in use, which no child of a fork can share"
    if _core.is_recording():
        return "a trace is being recorded, which a child of a fork would go on with"
    return None


def advice(method):
    """The end of a message on workers that could not be started by `method`: a way out."""
    text = (
        f"{method} imports the main module anew: its code must stand under "
        f'`if __name__ == "__main__":`, and the dataset in a module that can be imported'
    )
    reason = why_not_fork()
    return f"{text}; {reason}" if reason else f'{text}; or pass multiprocessing_context="fork"'
