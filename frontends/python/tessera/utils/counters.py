"""Counts of what happened since the process began; differences of two readings say what some code
cost.
"""

from .. import _core


def launches():
    """Kernels launched.

    >>> import tessera
    >>> before, x = launches(), tessera.tensor([1.0]) + 1
    >>> tessera.sync()
    >>> launches() > before
    True
    """
    return _core.launch_count()


def allocations():
    """Requests for memory that no pool could serve.

    >>> allocations() >= 0
    True
    """
    return _core.memory_stats()["system_allocations"]


def memory():
    """All figures of the allocator, in bytes and counts.

    >>> memory()["peak"] >= memory()["in_use"] - memory()["cached"]
    True
    """
    return _core.memory_stats()


def caches():
    """All figures of the caches of compiled code.

    >>> caches()["bytes"] <= caches()["limit"]
    True
    """
    return _core.cache_stats()


def threads():
    """How many threads kernels use.

    >>> threads() >= 1
    True
    """
    return _core.get_num_threads()
