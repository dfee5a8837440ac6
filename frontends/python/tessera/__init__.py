"""Tessera: eager tensors, and the same functions compiled whole.

>>> import tessera as ts
>>> (ts.tensor([1.0, 2.0]) + 1).tolist()
[2.0, 3.0]
"""

import atexit
import importlib
import sys
from typing import TYPE_CHECKING

from . import (
    _abi,  # noqa: F401  # the first: it says what is wrong where there is no _core
    _core,
    _foreign_dtypes,
    _strategy,
    amp,
    autodiff,
    config,
    core,
    device,
    dtr,
    dtype,
    functional,
    jit,
    logger,
    module,
    optimizer,
    random,
)
from ._core import DTypeError, ShapeError
from ._listed import listed as _listed
from ._printing import set_printoptions
from ._versions import __version__ as __version__
from ._versions import show_versions
from .autodiff import no_grad
from .device import (
    coalesce_free_memory,
    get_allocated_memory,
    get_cuda_compute_capability,
    get_cuda_device_property,
    get_cuda_driver_version,
    get_cuda_version,
    get_cudnn_version,
    get_default_device,
    get_device_count,
    get_max_allocated_memory,
    get_max_reserved_memory,
    get_mem_status_bytes,
    get_reserved_memory,
    get_tensorrt_version,
    is_atlas_available,
    is_cambricon_available,
    is_cuda_available,
    is_rocm_available,
    reset_max_memory_stats,
    set_default_device,
    set_prealloc_config,
)
from .dtype import (
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .jit import estimate
from .logger import enable_debug_log, get_logger, set_log_file, set_log_level
from .random import seed
from .serialization import load, save
from .tensor import Parameter, Tensor, asarray, tensor
from .utils.counters import cache_stats

if TYPE_CHECKING:
    from . import (
        data,
        distributions,
        hub,
        onnx,
        operator,
        ops,
        provider,
        quantization,
        traced_module,
    )
    from ._custom.decorator import custom_op
    from ._custom.records import load_records
    from ._custom.registry import load_library

_core._set_package_folder(__path__[0])
config.open_disk_cache()
config.open_warm_set()
_strategy.from_environment()


@atexit.register
def _report_at_exit():
    # A user who stops a program by Ctrl-C does not wait for queued work.
    try:
        _core._leave(wait=not isinstance(getattr(sys, "last_value", None), KeyboardInterrupt))
    except Exception as error:  # atexit would show it and end with status 0
        sys.excepthook(type(error), error, error.__traceback__)
        _core._fail_at_exit()


def sync():
    """Waits until all that was asked for is computed, and raises what failed.

    >>> import tessera as ts
    >>> ts.sync()
    """
    _core.sync()


_full_sync = sync


# Imported with their first use.
_LATE = (
    "data", "distributions", "hub", "onnx", "operator", "ops", "provider", "quantization",
    "traced_module",
)  # fmt: skip
_LATE_FUNCTIONS = {
    "custom_op": "._custom.decorator",
    "load_library": "._custom.registry",
    "load_records": "._custom.records",
}


def __getattr__(name):
    if name in _foreign_dtypes.NAMES:
        return getattr(dtype, name)
    if name in _LATE:
        return importlib.import_module(f".{name}", __name__)
    if name in _LATE_FUNCTIONS:
        return getattr(importlib.import_module(_LATE_FUNCTIONS[name], __name__), name)
    raise AttributeError(f"tessera: name must be that of a part, got {name!r}")


__all__ = [
    "DTypeError",
    "Parameter",
    "ShapeError",
    "Tensor",
    "amp",
    "asarray",
    "autodiff",
    "bfloat16",
    "bool_",
    "cache_stats",
    "coalesce_free_memory",
    "complex128",
    "complex64",
    "config",
    "core",
    "custom_op",
    "data",
    "device",
    "distributions",
    "dtr",
    "dtype",
    "enable_debug_log",
    "estimate",
    "float16",
    "float32",
    "float64",
    "float8_e4m3fn",
    "float8_e5m2",
    "functional",
    "get_allocated_memory",
    "get_cuda_compute_capability",
    "get_cuda_device_property",
    "get_cuda_driver_version",
    "get_cuda_version",
    "get_cudnn_version",
    "get_default_device",
    "get_device_count",
    "get_logger",
    "get_max_allocated_memory",
    "get_max_reserved_memory",
    "get_mem_status_bytes",
    "get_reserved_memory",
    "get_tensorrt_version",
    "hub",
    "int16",
    "int32",
    "int64",
    "int8",
    "is_atlas_available",
    "is_cambricon_available",
    "is_cuda_available",
    "is_rocm_available",
    "jit",
    "load",
    "load_library",
    "load_records",
    "logger",
    "module",
    "no_grad",
    "onnx",
    "operator",
    "ops",
    "optimizer",
    "provider",
    "quantization",
    "random",
    "reset_max_memory_stats",
    "save",
    "seed",
    "set_default_device",
    "set_log_file",
    "set_log_level",
    "set_prealloc_config",
    "set_printoptions",
    "show_versions",
    "sync",
    "tensor",
    "traced_module",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
]

__dir__ = _listed(*__all__, "__version__")
