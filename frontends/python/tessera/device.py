"""Devices: what there is, and which one new tensors are made on."""

from . import _core

__all__ = [
    "get_allocated_memory",
    "get_default_device",
    "get_device_count",
    "get_max_allocated_memory",
    "get_mem_status_bytes",
    "get_reserved_memory",
    "is_atlas_available",
    "is_cambricon_available",
    "is_cuda_available",
    "is_rocm_available",
    "reset_max_memory_stats",
    "set_default_device",
    "set_memory_limit",
]

_default = "cpu0"
_KINDS = ("cpu", "gpu", "xpu")


def _devices():
    return [_core.doctor()["device"]]


def _check_device(name, device):
    """None is the default one."""
    known = _devices()
    if device is not None and str(device) not in known:
        raise ValueError(f"{name}: device must be one of {known}, got {device!r}")


def is_cuda_available():
    """An NVIDIA GPU can be used.

    >>> is_cuda_available() == (get_device_count("gpu") > 0)
    True
    """
    return any(name.startswith("gpu") for name in _devices())


def is_cambricon_available():
    """False: there is no such device here.

    >>> is_cambricon_available()
    False
    """
    return False


def is_atlas_available():
    """False: there is no such device here.

    >>> is_atlas_available()
    False
    """
    return False


def is_rocm_available():
    """False: there is no such device here.

    >>> is_rocm_available()
    False
    """
    return False


def get_device_count(device_type):
    """How many devices of a kind ("cpu", "gpu") there are; ValueError for another kind.

    >>> get_device_count("cpu")
    1
    """
    if device_type not in _KINDS:
        raise ValueError(f"get_device_count: kind must be one of {_KINDS}, got {device_type!r}")
    return sum(name.startswith(device_type) for name in _devices())


def get_default_device():
    """The device of tensors made without one.

    >>> get_default_device()
    'cpu0'
    """
    return _default


def set_default_device(device="cpu0"):
    """Makes new tensors on `device` from now on. ValueError: the device must exist.

    >>> set_default_device("cpu0")
    """
    global _default
    name = "cpu0" if device in ("cpu", "cpux", "xpux") else device
    if name not in _devices():
        raise ValueError(f"set_default_device: device must be one of {_devices()}, got {device!r}")
    _default = name


def get_mem_status_bytes(device=None):
    """(bytes in all, bytes free) of the machine.

    >>> total, free = get_mem_status_bytes()
    >>> total >= free
    True
    """
    _check_device("get_mem_status_bytes", device)
    with open("/proc/meminfo") as file:
        sizes = dict(line.split(":") for line in file)
    return tuple(int(sizes[key].split()[0]) * 1024 for key in ("MemTotal", "MemAvailable"))


def get_allocated_memory(device=None):
    """Bytes that tensors hold.

    >>> get_allocated_memory() >= 0
    True
    """
    _check_device("get_allocated_memory", device)
    return _core.memory_stats()["in_use"]


def get_reserved_memory(device=None):
    """Bytes that the allocator holds, free ones included.

    >>> get_reserved_memory() >= get_allocated_memory()
    True
    """
    _check_device("get_reserved_memory", device)
    stats = _core.memory_stats()
    return stats["in_use"] + stats["cached"]


def get_max_allocated_memory(device=None):
    """The most bytes that tensors held since the last reset; a thread's blocks of at most 4 KiB
    count when they reach 64 KiB together, or when someone asks.

    >>> get_max_allocated_memory() >= 0
    True
    """
    _check_device("get_max_allocated_memory", device)
    return _core.memory_stats()["peak"]


def reset_max_memory_stats(device=None):
    """Starts the maximum anew.

    >>> reset_max_memory_stats()
    """
    _check_device("reset_max_memory_stats", device)
    _core.reset_peak_memory()


def set_memory_limit(size):
    """Bytes that tensors may take; more is a MemoryError.

    >>> set_memory_limit(1 << 40)
    """
    _core.set_memory_limit(size)
