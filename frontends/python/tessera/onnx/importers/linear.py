"""Matrix products."""

from ..._core import ops as _ops
from ..registry import importer
from .elementwise import cast, is_float


@importer("MatMul")
def _matmul(node, x, y):
    return product(x, y)


def product(x, y):
    """The matrix product, of integers too: exact, as far as float64 has them."""
    if is_float(x) or x.dtype.kind == "c":
        return _ops.matmul(x, y)
    return cast(_ops.matmul(cast(x, "float64"), cast(y, "float64")), x.dtype.name)


@importer("Gemm")
def _gemm(node, a, b, c=None):
    a = _ops.transpose(a, [1, 0]) if node["transA"] else a
    b = _ops.transpose(b, [1, 0]) if node["transB"] else b
    out = product(a, b)
    if node["alpha"] != 1:
        out = out * node["alpha"]
    if c is None:
        return out
    return out + (c if node["beta"] == 1 else c * node["beta"])
