"""Counts of what happened since the process began; differences of two readings say what some code
cost.
"""

from .. import _core


def launches():
    """Kernels launched."""
    return _core.launch_count()


def allocations():
    """Requests for memory that no pool could serve."""
    return _core.memory_stats()["system_allocations"]


def memory():
    """All figures of the allocator, in bytes and counts."""
    return _core.memory_stats()


def caches():
    """All figures of the caches of compiled code."""
    return _core.cache_stats()


def threads():
    """How many threads kernels use."""
    return _core.get_num_threads()
