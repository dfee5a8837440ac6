"""Devices: what there is, and which one new tensors are made on."""

from typing import NamedTuple

from . import _core
from ._listed import listed as _listed
from ._memory_limits import limit_in_bytes

__all__ = [
    "Device",
    "coalesce_free_memory",
    "get_allocated_memory",
    "get_cuda_compute_capability",
    "get_cuda_device_property",
    "get_cuda_driver_version",
    "get_cuda_version",
    "get_cudnn_version",
    "get_default_device",
    "get_device_count",
    "get_max_allocated_memory",
    "get_max_reserved_memory",
    "get_mem_status_bytes",
    "get_reserved_memory",
    "get_tensorrt_version",
    "is_atlas_available",
    "is_cambricon_available",
    "is_cuda_available",
    "is_rocm_available",
    "reset_max_memory_stats",
    "set_default_device",
    "set_memory_limit",
    "set_prealloc_config",
]

__dir__ = _listed(*__all__)


class Device(str):
    """The name of a device. Names that mean one device are equal: `"cpu1"` and `"xpux"` are the
    host where there is no accelerator. `physical_name` is the device, `logical_name` the name with
    the number and the stream that it says or leaves open, `target` what code for it is compiled
    for. ValueError: there must be such a device.

    >>> import tessera as ts
    >>> ts.device.Device("xpux") == "cpu0", ts.device.Device("sim0") == "cpu0"
    (True, False)
    >>> ts.device.Device("cpu1").logical_name, ts.device.Device("cpu1").physical_name
    ('cpu1:0', 'cpu0:0')
    >>> ts.device.Device("cpu0").target, ts.device.Device("sim0").target
    ('host', 'sim')
    """

    def __new__(cls, name="xpux"):
        home = _core.device_named(str(name), "device")
        self = super().__new__(cls, name)
        self.__dict__["physical_name"] = home + ":0"
        return self

    @property
    def logical_name(self):
        """The whole name."""
        return _core.logical_name(str(self), "device")

    @property
    def target(self):
        """What code for it is compiled for, as `dump(targets=...)` takes it."""
        return _core.device_target(str(self), "device")

    def __eq__(self, other):
        if not isinstance(other, str):
            return NotImplemented
        if not isinstance(other, Device):
            try:
                other = Device(other)
            except ValueError:  # no device has the name
                return False
        return self.physical_name == other.physical_name

    def __ne__(self, other):
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    def __hash__(self):
        return hash(self.physical_name.partition(":")[0])

    def __str__(self):
        return str.__str__(self)

    def __reduce__(self):
        return Device, (str(self),)


_core.set_device_class(Device)
_default = Device("cpu0")
_when_chosen = []  # functions that get the default device


def _named(function, device):
    """The physical name of a device, by default of the default one."""
    return _core.device_named(str(_default if device is None else device), function)


def is_cuda_available():
    """An NVIDIA GPU can be used.

    >>> import tessera as ts
    >>> ts.is_cuda_available() == (ts.get_device_count("gpu") > 0)
    True
    """
    return get_device_count("gpu") > 0


def is_cambricon_available():
    """False: there is no such device here.

    >>> import tessera as ts
    >>> ts.is_cambricon_available()
    False
    """
    return False


def is_atlas_available():
    """False: there is no such device here.

    >>> import tessera as ts
    >>> ts.is_atlas_available()
    False
    """
    return False


def is_rocm_available():
    """False: there is no such device here.

    >>> import tessera as ts
    >>> ts.is_rocm_available()
    False
    """
    return False


def get_device_count(device_type):
    """How many devices of a kind ("cpu", "gpu", "sim") there are; "xpu" is the kind of accelerator
    that there is, else the host. ValueError for another kind.

    >>> import tessera as ts
    >>> ts.get_device_count("cpu"), ts.get_device_count("xpu")
    (1, 1)
    """
    count = _core.device_count(str(device_type))
    if count is None:
        raise ValueError(
            f"get_device_count: kind must be cpu, gpu, xpu, sim or null, got {device_type!r}"
        )
    return count


def get_default_device():
    """The device of tensors made without one, by the name that was set.

    >>> import tessera as ts
    >>> ts.get_default_device()
    'cpu0'
    """
    return _default


def set_default_device(device="xpux"):
    """Makes new tensors on `device` from now on. ValueError: the device must exist.

    >>> import tessera as ts
    >>> ts.set_default_device("cpu0")
    """
    global _default
    _core.set_default_device(str(device))
    _default = Device(device)
    for function in _when_chosen:
        function(_default)


def call_when_chosen(function):
    """Calls `function(device)` for the default device, now and whenever another one is chosen."""
    _when_chosen.append(function)
    function(_default)


def get_mem_status_bytes(device=None):
    """(bytes in all, bytes free) of the machine, or of a device with memory of its own.

    >>> import tessera as ts
    >>> total, free = ts.get_mem_status_bytes()
    >>> total >= free
    True
    """
    name = _named("get_mem_status_bytes", device)
    if not _core.shares_memory_with_host(name):
        stats = _core.memory_stats(name)
        return stats["limit"], stats["limit"] - stats["in_use"]
    with open("/proc/meminfo") as file:
        sizes = dict(line.split(":") for line in file)
    return tuple(int(sizes[key].split()[0]) * 1024 for key in ("MemTotal", "MemAvailable"))


def get_allocated_memory(device=None):
    """Bytes that tensors hold.

    >>> import tessera as ts
    >>> ts.get_allocated_memory() >= 0
    True
    """
    return _core.memory_stats(_named("get_allocated_memory", device))["in_use"]


def get_reserved_memory(device=None):
    """Bytes that the allocator holds, free ones included.

    >>> import tessera as ts
    >>> ts.get_reserved_memory() >= ts.get_allocated_memory()
    True
    """
    stats = _core.memory_stats(_named("get_reserved_memory", device))
    return stats["in_use"] + stats["cached"]


def get_max_allocated_memory(device=None):
    """The most bytes that tensors held since the last reset; a thread's blocks of at most 4 KiB
    count when they reach 64 KiB together, or when someone asks.

    >>> import tessera as ts
    >>> ts.get_max_allocated_memory() >= 0
    True
    """
    return _core.memory_stats(_named("get_max_allocated_memory", device))["peak"]


def get_max_reserved_memory(device=None):
    """The most bytes that the allocator held since the last reset, free ones included.

    >>> import tessera as ts
    >>> ts.get_max_reserved_memory() >= ts.get_reserved_memory()
    True
    """
    return _core.memory_stats(_named("get_max_reserved_memory", device))["peak_reserved"]


def coalesce_free_memory():
    """Gives memory that no tensor needs back to the system, of every device, but for the blocks of
    at most 4 KiB that other threads keep.

    >>> import tessera as ts
    >>> ts.coalesce_free_memory()
    """
    _core.sync()
    _core.give_back_free_memory()


def reset_max_memory_stats(device=None):
    """Starts both maxima anew.

    >>> import tessera as ts
    >>> ts.reset_max_memory_stats()
    """
    _core.reset_peak_memory(_named("reset_max_memory_stats", device))


_memory = {}  # by name of a device: the bytes that it has


def memory_of_device(device=None):
    """Bytes of the memory of a device; None: it has no bound, as that of an emulated one.

    >>> from tessera.device import memory_of_device
    >>> memory_of_device("cpu0") > 0, memory_of_device("null0")
    (True, None)
    """
    name = _named("device", device)
    size = _memory.setdefault(name, get_mem_status_bytes(name)[0])
    return size if size < 1 << 62 else None


def set_memory_limit(size, device=None):
    """The most that tensors on the device may take: bytes, a float as a fraction of its memory, or
    a text such as "2 GiB"; more is a MemoryError. ValueError: it must be one of these, above 0.

    >>> import tessera as ts
    >>> ts.device.set_memory_limit(1 << 40)
    """
    name, what = _named("set_memory_limit", device), "set_memory_limit"
    limit = limit_in_bytes(what, "size", size, lambda: memory_of_device(name))
    _core.set_memory_limit(name, min(limit, (1 << 64) - 1))


class _CudaDeviceProperty(NamedTuple):
    """A CUDA device: the name of its model, its memory in bytes, and its compute capability."""

    name: str
    total_memory: int
    major: int
    minor: int


def _cuda_device(function, device):
    """The properties of CUDA device number `device`."""
    gpus = _core.gpu_system(function)[2]
    if device not in range(len(gpus)):
        raise ValueError(
            f"{function}: device must be the number of a GPU (of {len(gpus)}), got {device!r}"
        )
    return _CudaDeviceProperty(*gpus[device])


def get_cuda_compute_capability(device):
    """10 times the major plus the minor compute capability of CUDA device number `device`.
    RuntimeError: there must be a GPU. ValueError: the number must be that of one.

    >>> import tessera as ts
    >>> ts.is_cuda_available() and ts.get_cuda_compute_capability(0) < 10
    False
    """
    gpu = _cuda_device("get_cuda_compute_capability", device)
    return 10 * gpu.major + gpu.minor


def get_cuda_device_property(device):
    """`name`, `total_memory` (bytes, free or not), `major` and `minor` (of the compute capability)
    of CUDA device number `device`. RuntimeError: there must be a GPU. ValueError: the number must
    be that of one.

    >>> import tessera as ts
    >>> ts.is_cuda_available() and ts.get_cuda_device_property(0).total_memory < 1 << 20
    False
    """
    return _cuda_device("get_cuda_device_property", device)


def get_cuda_version():
    """1000 times the major plus 10 times the minor version of CUDA whose headers the package was
    built with. RuntimeError: there must be a GPU.

    >>> import tessera as ts
    >>> ts.is_cuda_available() and ts.get_cuda_version() < 1000
    False
    """
    return _core.gpu_system("get_cuda_version")[0]


def get_cuda_driver_version():
    """The newest CUDA that the driver runs, in the unit of get_cuda_version. RuntimeError: there
    must be a GPU.

    >>> import tessera as ts
    >>> ts.is_cuda_available() and ts.get_cuda_driver_version() < 1000
    False
    """
    return _core.gpu_system("get_cuda_driver_version")[1]


def get_cudnn_version():
    """RuntimeError: cuDNN is not used, so there is no version of it.

    >>> import tessera as ts
    >>> ts.get_cudnn_version()
    Traceback (most recent call last):
    RuntimeError: get_cudnn_version: there is no cuDNN (this package does not use it)
    """
    raise RuntimeError("get_cudnn_version: there is no cuDNN (this package does not use it)")


def get_tensorrt_version():
    """RuntimeError: TensorRT is not used, so there is no version of it.

    >>> import tessera as ts
    >>> ts.get_tensorrt_version()
    Traceback (most recent call last):
    RuntimeError: get_tensorrt_version: there is no TensorRT (this package does not use it)
    """
    raise RuntimeError("get_tensorrt_version: there is no TensorRT (this package does not use it)")


def set_prealloc_config(alignment=1, min_req=32 << 20, max_overhead=0, growth_factor=2.0,
                        device_type="gpu"):  # fmt: skip
    """How memory of CUDA devices would be reserved ahead of its use: multiples of `alignment`
    bytes, at least `min_req`, at most `max_overhead` bytes beyond what is asked for, growing by
    `growth_factor`. RuntimeError: no device reserves memory ahead of its use. ValueError: alignment
    and min_req must be positive, max_overhead not negative, growth_factor at least 1.

    >>> import tessera as ts
    >>> ts.set_prealloc_config(alignment=0)
    Traceback (most recent call last):
    ValueError: set_prealloc_config: alignment must be at least 1, got 0
    """
    least = {"alignment": 1, "min_req": 1, "max_overhead": 0, "growth_factor": 1}
    given = (alignment, min_req, max_overhead, growth_factor)
    for (name, bound), value in zip(least.items(), given, strict=True):
        if value < bound:
            raise ValueError(f"set_prealloc_config: {name} must be at least {bound}, got {value}")
    raise RuntimeError(
        "set_prealloc_config: no memory is reserved ahead (devices take it when it is needed)"
    )
