"""Counts of what happened since the process began; differences of two readings say what some code
cost.
"""

from .. import _core


def launches():
    """Kernels launched.

    >>> import tessera as ts
    >>> from tessera.utils.counters import launches
    >>> before, x = launches(), ts.tensor([1.0]) + 1
    >>> ts.sync()
    >>> launches() > before
    True
    """
    return _core.launch_count()


def allocations():
    """Requests for memory that no pool could serve.

    >>> from tessera.utils.counters import allocations
    >>> allocations() >= 0
    True
    """
    return _core.memory_stats()["system_allocations"]


def memory():
    """All figures of the allocator, in bytes and counts.

    >>> from tessera.utils.counters import memory
    >>> memory()["peak"] >= memory()["in_use"] - memory()["cached"]
    True
    """
    return _core.memory_stats()


def cache_stats():
    """What compiled code cost and where results came from: a dict of counts, bytes and seconds.

    Operators: `hits`, `misses`, `evictions`, `entries`, `bytes`, `limit` of the cache of compiled
    operators. A miss is answered `from_warm_set`, `from_disk`, or by one of the `compilations`.
    Compiler: `programs` (mini-graphs and traces), `kernels_compiled`, `kernels_from_memory`,
    `kernels_from_disk`, `compile_seconds`. Library primitives created: `primitives`, with
    `primitive_seconds`, `_hits`, `_evictions`, `_entries`, `_bytes`, `_limit`. Eager `results` are
    `results_of_kernels` that the compiler made (`results_in_place`: in the memory of an operand),
    `results_of_libraries` that its programs call, `results_of_loops` where they call loops of
    Tessera's own (small products, float64, sorting and indexing; a program that calls both counts
    as both), or `views`; beside them, tensors made of `host_values`, and `copies` that a layout
    asked for: of strided operands of kernels that want rows, and of results into strided memory.
    `inferences`: how often dtypes and shapes of results were inferred, or an error instead.

    >>> import tessera as ts
    >>> before, x = ts.cache_stats(), ts.tensor([1.0]) + 1
    >>> after = ts.cache_stats()
    >>> after["results_of_kernels"] - before["results_of_kernels"]
    1
    >>> after["bytes"] <= after["limit"]
    True
    """
    return _core.cache_stats()


def threads():
    """How many threads kernels use.

    >>> from tessera.utils.counters import threads
    >>> threads() >= 1
    True
    """
    return _core.get_num_threads()
