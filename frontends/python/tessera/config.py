"""Settings of the whole process: functions, and attributes by MegEngine's names.

AttributeError: only those attributes can be set. ValueError: a value must be one that holds here.

>>> import tessera as ts
>>> ts.config.async_level, ts.config.deterministic_kernel
(2, False)
"""

import os
import sys
import types

from . import _core
from ._listed import listed as _listed
from ._memory_limits import limit_in_bytes as _limit_in_bytes
from ._strategy import Strategy, get_strategy, set_strategy
from .device import Device as _Device
from .device import get_default_device as _get_default_device
from .device import memory_of_device as _memory_of_device

__all__ = [
    "get_async_level",
    "get_cache_limit",
    "get_check_finite",
    "get_disk_cache",
    "get_num_threads",
    "get_trace_limit",
    "get_traced_memory_limit",
    "get_workspace_limit",
    "open_disk_cache",
    "open_warm_set",
    "set_async_level",
    "set_cache_limit",
    "set_check_finite",
    "set_disk_cache",
    "set_num_threads",
    "set_trace_limit",
    "set_traced_memory_limit",
    "set_workspace_limit",
]

__dir__ = _listed(*__all__)

_DEFAULT_CACHE_MB = 1024
_traced_limits = {}  # bytes by Device


def get_num_threads():
    """How many threads a kernel uses.

    >>> import tessera as ts
    >>> ts.config.get_num_threads() >= 1
    True
    """
    return _core.get_num_threads()


def set_num_threads(count):
    """How many threads a kernel uses from now on. ValueError: 1 to 1024.

    >>> import tessera as ts
    >>> ts.config.set_num_threads(ts.config.get_num_threads())
    """
    _core.set_num_threads(count)


def get_async_level():
    """See set_async_level.

    >>> import tessera as ts
    >>> ts.config.get_async_level()
    2
    """
    return _core.get_async_level()


def set_async_level(level):
    """How far kernels run behind the program, and where their errors come out.

    2, the default: kernels run behind. What only the data can show, an index out of range, comes
    out of the next call that waits for a value (numpy, item, sync, the end of the program), naming
    operator, operands and the line of its call.
    1: a call that only its data can refuse waits for it and raises itself; other kernels run
    behind, and could fail for want of memory alone.
    0: each call waits for its kernel.

    Values, and the order of all that a program shows, are the same. Waits for queued work.
    ValueError: the level must be 0, 1 or 2.

    >>> import tessera as ts
    >>> ts.config.set_async_level(0)
    >>> ts.config.set_async_level(2)
    """
    _core.set_async_level(level)


def get_check_finite():
    """See set_check_finite.

    >>> import tessera as ts
    >>> ts.config.get_check_finite()
    False
    """
    return _core.get_check_finite()


def set_check_finite(enabled):
    """Makes the operator that makes the first NaN or infinity raise ValueError.

    The error names operator, operands and the line of the call, which for a gradient is that of
    backward. Where an operand holds a NaN, or an infinity, it was made elsewhere: those of data and
    of arguments, such as a mask's -inf, are no error. Every call then waits for its result; traced
    functions run operator by operator; programs from files are not looked into. Holds for all
    threads; off by default, when it costs nothing.

    >>> import tessera as ts
    >>> ts.config.set_check_finite(True)
    >>> try:
    ...     ts.functional.log(ts.tensor([1.0, 0.0]))
    ... except ValueError as error:
    ...     print(str(error).split(", at ")[0])
    log: result out must be finite, got -inf at [1] of f32[2] (x f32[2])
    >>> ts.config.set_check_finite(False)
    """
    _core.set_check_finite(enabled)


def get_cache_limit():
    """Bytes that compiled operators may take in memory.

    >>> import tessera as ts
    >>> ts.config.get_cache_limit() >= 1 << 20
    True
    """
    return _core.cache_stats()["limit"]


def set_cache_limit(max_bytes):
    """Keeps at most `max_bytes` of compiled operators in memory; those used least recently go.

    A multiple of 16 bytes: each of 16 parts has its share, and keeps its latest operator whatever
    its size. ValueError: bytes must be at least 0.

    >>> import tessera as ts
    >>> limit = ts.config.get_cache_limit()
    >>> ts.config.set_cache_limit(1 << 20)
    >>> ts.config.get_cache_limit()
    1048576
    >>> ts.config.set_cache_limit(limit)
    """
    _core.set_cache_limit(max_bytes)


def get_trace_limit():
    """Bytes that recordings and programs of traced functions may take in memory.

    >>> import tessera as ts
    >>> ts.config.get_trace_limit() >= 1 << 20
    True
    """
    return _core.get_trace_limit()


def set_trace_limit(max_bytes):
    """Keeps at most `max_bytes` of what `jit.trace` recorded and compiled, over all functions.

    Signatures used least recently go, with a RuntimeWarning, and are recorded anew when they are
    called again; the latest stays whatever its size. ValueError: bytes must be at least 0.

    >>> import tessera as ts
    >>> limit = ts.config.get_trace_limit()
    >>> ts.config.set_trace_limit(1 << 20)
    >>> ts.config.get_trace_limit()
    1048576
    >>> ts.config.set_trace_limit(limit)
    """
    _core.set_trace_limit(max_bytes)


def get_traced_memory_limit(device=None):
    """Bytes that a traced call on the device may take; None: there is no limit.

    >>> import tessera as ts
    >>> ts.config.get_traced_memory_limit() is None
    True
    """
    if not _traced_limits:
        return None
    return _traced_limits.get(_get_default_device() if device is None else _Device(device))


def set_traced_memory_limit(size, device=None):
    """The `memory_limit` of each `jit.trace` on the device that has none of its own, nor one of
    MegEngine's settings: what a call may take beside its arguments and variables, from the next
    call on. Bytes, a float as a fraction of the device's memory, or a text such as "512 MiB"; None,
    as at first, is no limit. The device of a call is that of its first tensor, without one the
    default device. ValueError: the size must be one of these, above 0.

    >>> import tessera as ts
    >>> ts.config.set_traced_memory_limit("512 MiB")
    >>> ts.config.get_traced_memory_limit()
    536870912
    >>> ts.config.set_traced_memory_limit(None)
    """
    home = _get_default_device() if device is None else _Device(device)
    if size is None:
        _traced_limits.pop(home, None)
        return
    name = "set_traced_memory_limit"
    _traced_limits[home] = _limit_in_bytes(name, "size", size, lambda: _memory_of_device(home))


def get_workspace_limit():
    """Bytes that a kernel may need beside its operands; None: as many as it does.

    >>> import tessera as ts
    >>> ts.config.get_workspace_limit() is None
    True
    """
    return _core.get_workspace_limit()


def set_workspace_limit(max_bytes):
    """Leaves out kernels of products and convolutions that need more than `max_bytes` of workspace.

    Others with the same bits take their place, or, in functions with `jit.numerics("fast")`, any
    others; where none needs so little, that which needs least. None: no limit. So a convolution by
    Winograd's products, whose direct sum has other bits, keeps its workspace unless its numerics
    are "fast" or `config.winograd` is False. ValueError: bytes must be at least 0.

    >>> import tessera as ts
    >>> ts.config.set_workspace_limit(1 << 20)
    >>> ts.config.get_workspace_limit()
    1048576
    >>> ts.config.set_workspace_limit(None)
    """
    _core.set_workspace_limit(max_bytes)


def get_disk_cache():
    """Folder and limit in bytes of the cache on disk; the folder is "" where there is none.

    >>> import tessera as ts
    >>> folder, max_bytes = ts.config.get_disk_cache()
    >>> max_bytes > 0
    True
    """
    return _core.disk_cache()


def set_disk_cache(folder, max_bytes=_DEFAULT_CACHE_MB << 20):
    """Keeps compiled operators and kernels in `folder`, `max_bytes` at most; "" keeps none.

    Files used least recently go first. A file that is damaged, or that another version or another
    processor wrote, counts for nothing. ValueError: bytes must be at least 0.

    >>> import tessera as ts
    >>> ts.config.set_disk_cache("")
    >>> ts.config.get_disk_cache()[0]
    ''
    >>> ts.config.open_disk_cache()
    """
    _core.set_disk_cache(os.fspath(folder), max_bytes)


def open_disk_cache():
    """The cache that the environment asks for: TESS_CACHE_DIR, TESS_CACHE_MB.

    ValueError: TESS_CACHE_MB must be a number of MiB.

    >>> import tessera as ts
    >>> ts.config.open_disk_cache()
    """
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = os.environ.get("TESS_CACHE_DIR", os.path.join(home, "tessera"))
    size = os.environ.get("TESS_CACHE_MB", str(_DEFAULT_CACHE_MB))
    if not size.isdecimal():
        raise ValueError(f"set_disk_cache: TESS_CACHE_MB must be a number of MiB, got {size!r}")
    set_disk_cache(folder, int(size) << 20)


def open_warm_set():
    """Opens the operators compiled with the package; TESS_WARM_SET names another folder, "" none.

    A set of another version, or damaged, is ignored: `tessera.doctor` says why.

    >>> import tessera as ts
    >>> ts.config.open_warm_set()
    """
    own = os.path.join(os.path.dirname(__file__), "warm_set")
    _core.open_warm_set(os.environ.get("TESS_WARM_SET", own))


def _choice(name, *values, why):
    """An attribute that has one of the values, the first to begin with."""
    chosen = [values[0]]

    def _set(_, given):
        if not any(type(given) is type(value) and given == value for value in values):
            raise ValueError(f"config: {name} must be one of {list(values)}, got {given!r}: {why}")
        chosen[0] = given

    return property(lambda _: chosen[0], _set, doc=f"One of {list(values)}: {why}.")


def _checked_bool(name, value):
    if type(value) is not bool:
        raise ValueError(f"config: {name} must be True or False, got {value!r}")
    return value


def _set_part(name, on, part, other):
    """Puts a part into the strategy and takes another one out of it, or the reverse."""
    added, removed = (part, other) if _checked_bool(name, on) else (other, part)
    set_strategy(get_strategy() & ~removed | added)


class _Config(types.ModuleType):
    """The module, whose attributes are checked when they are set."""

    async_level = property(
        lambda _: get_async_level(),
        lambda _, level: set_async_level(level),
        doc="See set_async_level.",
    )
    winograd = property(
        lambda _: _core.get_winograd(),
        lambda _, allowed: _core.set_winograd(_checked_bool("winograd", allowed)),
        doc="""Whether convolutions of 3 x 3 may go by Winograd's products; True, the default,
        unless the environment's TESS_WINOGRAD is 0.

        They take about a third of the time of direct sums, and are off by more: results of unit
        variance by 8e-6 to 1.2e-5 at most (rms 0.8e-6 to 1.4e-6), direct sums by 1.6e-6 (rms
        0.3e-6). Eager operators, traced functions and loaded programs follow at their next call.
        """,
    )
    benchmark_kernel = property(
        lambda _: bool(get_strategy() & Strategy.PROFILE),
        lambda _, on: _set_part("benchmark_kernel", on, Strategy.PROFILE, Strategy.HEURISTIC),
        doc="Whether the fastest kernels are measured; see debug_param.set_execution_strategy.",
    )
    deterministic_kernel = property(
        lambda _: bool(get_strategy() & Strategy.REPRODUCIBLE),
        lambda _, on: _set_part("deterministic_kernel", on, Strategy.REPRODUCIBLE, Strategy(0)),
        doc="""Whether only kernels with the bits of the rules are candidates where others are
        measured. Each kernel gives the same bits again in any case.""",
    )
    disable_memory_forwarding = _choice(
        "disable_memory_forwarding", False, why="whether views share memory changes no value"
    )
    _compute_mode = _choice(
        "_compute_mode",
        "default",
        "float32",
        why="half precision is computed in float32 in any case",
    )

    def __setattr__(self, name, value):
        if not name.startswith("__") and not isinstance(getattr(_Config, name, None), property):
            known = [each for each, it in vars(_Config).items() if isinstance(it, property)]
            raise AttributeError(f"config: name must be one of {known}, got {name!r}")
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Config
