"""MegEngine's settings of what trades time for memory, for `trace`; their effect arrives later."""

import os


def _checked(owner, name, value, kind, holds, bound):
    """`value`; ValueError unless it is a number of the kind and `holds`."""
    kinds = (int,) if kind is int else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not holds(value):
        raise ValueError(f"{owner}: {name} must be {bound}, got {value!r}")
    return value


def _from_0(number):
    return number >= 0


def _from_1(number):
    return number > 0


class SublinearMemoryConfig:
    """How checkpoints are searched, for `trace(sublinear_memory_config=...)`. Programs do not drop
    values yet to compute them again: `autodiff.checkpoint` does, where it is called.

    Args:
        thresh_nr_try, genetic_nr_iter, genetic_pool_size: how many are tried, in each way
        lb_memory_mb: the memory in MB at which the search stops
        num_worker: threads of the search; half of the processors by default

    ValueError: all must be integers of at least 0, `num_worker` of at least 1.

    >>> from tessera.jit import SublinearMemoryConfig
    >>> SublinearMemoryConfig(lb_memory_mb=512).lb_memory_mb
    512
    """

    def __init__(self, thresh_nr_try=10, genetic_nr_iter=0, genetic_pool_size=20, lb_memory_mb=0,
                 num_worker=None):  # fmt: skip
        owner = type(self).__name__
        workers = max(1, (os.cpu_count() or 1) // 2) if num_worker is None else num_worker
        whole = "an integer of at least 0"
        self.thresh_nr_try = _checked(owner, "thresh_nr_try", thresh_nr_try, int, _from_0, whole)
        self.genetic_nr_iter = _checked(
            owner, "genetic_nr_iter", genetic_nr_iter, int, _from_0, whole
        )
        self.genetic_pool_size = _checked(
            owner, "genetic_pool_size", genetic_pool_size, int, _from_0, whole
        )
        self.lb_memory_mb = _checked(owner, "lb_memory_mb", lb_memory_mb, int, _from_0, whole)
        self.num_worker = _checked(
            owner, "num_worker", workers, int, _from_1, "an integer of at least 1"
        )


class DTRConfig:
    """When tensors are dropped to be computed again, for `trace(dtr_config=...)`: dynamic tensor
    rematerialisation, https://arxiv.org/abs/2006.09616. Programs do not drop values yet.

    Args:
        eviction_threshold: bytes in use from which on tensors are dropped
        evictee_minimum_size: bytes of a tensor below which it stays
        recomp_memory_factor, recomp_time_factor: weights of the memory and of the time that
            computing it again takes

    ValueError: the threshold must be above 0, the others at least 0.

    >>> from tessera.jit import DTRConfig
    >>> DTRConfig(eviction_threshold=1 << 30).evictee_minimum_size
    1048576
    """

    def __init__(self, eviction_threshold=0, evictee_minimum_size=1 << 20, recomp_memory_factor=1,
                 recomp_time_factor=1):  # fmt: skip
        owner, least = type(self).__name__, "a number of at least 0"
        self.eviction_threshold = _checked(
            owner, "eviction_threshold", eviction_threshold, int, _from_1, "bytes above 0"
        )
        self.evictee_minimum_size = _checked(
            owner, "evictee_minimum_size", evictee_minimum_size, int, _from_0, "bytes from 0 on"
        )
        self.recomp_memory_factor = _checked(
            owner, "recomp_memory_factor", recomp_memory_factor, float, _from_0, least
        )
        self.recomp_time_factor = _checked(
            owner, "recomp_time_factor", recomp_time_factor, float, _from_0, least
        )
