"""How much memory a traced call may take: `memory_limit`, and MegEngine's settings."""

import os

from .._memory_limits import limit_in_bytes
from ..config import get_traced_memory_limit
from ..device import memory_of_device

MEMORY_CONFIGS = "sublinear_memory_config", "dtr_config"  # options of `trace`


def memory_options(owner, memory_limit, sublinear_memory_config=None, dtr_config=None):
    """The options of a program that say how much memory it may take.

    ValueError: the limit must be bytes above 0, a fraction of the device's memory, or a text.
    """
    if memory_limit is not None:
        limit = limit_in_bytes(owner, "memory_limit", memory_limit, memory_of_device)
        return {"memory_limit": limit}
    if dtr_config is not None:
        return {"memory_goal": dtr_config.eviction_threshold}
    if sublinear_memory_config is not None:
        return {"memory_goal": max(sublinear_memory_config.lb_memory_mb << 20, 1)}
    return {}


def is_limited(options):
    """Whether the options of a program ask for a plan of its memory."""
    return "memory_limit" in options or "memory_goal" in options


def options_of_device(tensors):
    """The options of memory of a call with these tensors, where its trace has none."""
    limit = get_traced_memory_limit(tensors[0].device if tensors else None)
    return {} if limit is None else {"memory_limit": limit}


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
    """For `trace(sublinear_memory_config=...)`: the program keeps little and computes the rest
    again, each kernel once more at most, as far as that saves memory (T. Chen et al., "Training
    Deep Nets with Sublinear Memory Cost", 2016). `trace(memory_limit=...)` asks for a number.

    Args:
        thresh_nr_try, genetic_nr_iter, genetic_pool_size, num_worker: of MegEngine's search; the
            planner here has no use for them
        lb_memory_mb: the memory in MiB at which the search stops

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
    rematerialisation, https://arxiv.org/abs/2006.09616, decided when the call is compiled.

    Args:
        eviction_threshold: bytes that a call may take beside its arguments, as far as possible;
            `trace(memory_limit=...)` makes an error of what is not
        evictee_minimum_size, recomp_memory_factor, recomp_time_factor: of MegEngine's heuristic,
            which decides while it runs; the planner here has no use for them

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
