"""Peers that Tessera is measured beside, with one adapter each, which all benchmarks share.

`TESS_PEERS`, which `tools/dev bench --peers` sets, names the wanted ones by their columns, or is
"all". A peer that is not wanted, or whose package is not there, has an empty column.
"""

import importlib
import importlib.util
import os

THREADS = 2

# By column: the module and class of the adapter, and the package that it needs.
_ADAPTERS = {
    "PyTorch": ("pytorch", "PyTorch", "torch"),
    "compiled": ("pytorch", "CompiledPyTorch", "torch"),
    "ONNX Runtime": ("onnx_runtime", "OnnxRuntime", "onnxruntime"),
    "OpenVINO": ("open_vino", "OpenVino", "openvino"),
    "JAX": ("jax_functions", "Jax", "jax"),
}
COLUMNS = tuple(_ADAPTERS)


def limit_threads(count=THREADS):
    """Sets the variables that libraries read when they are loaded."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "PJRT_NPROC"):
        os.environ[name] = str(count)
    os.environ.setdefault("JAX_PLATFORMS", "cpu")


def is_wanted(column):
    """Whether TESS_PEERS asks for it, in any case and without spaces."""
    wanted = os.environ.get("TESS_PEERS", "").lower().replace(" ", "").split(",")
    return "all" in wanted or column.lower().replace(" ", "") in wanted


def load(column, threads=THREADS):
    """The adapter of a column, or of "Tessera"; None where its package is not there."""
    module, name, package = _ADAPTERS.get(column, ("own", "Tessera", "tessera"))
    if importlib.util.find_spec(package) is None:
        return None
    limit_threads(threads)
    adapter = getattr(importlib.import_module(f"{__name__}.{module}"), name)()
    adapter.threads(threads)
    return adapter


def wanted():
    """{column: adapter or None} of every peer."""
    return {column: load(column) if is_wanted(column) else None for column in COLUMNS}
