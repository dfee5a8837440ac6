"""Functions of tensors: those generated from the operator records, and sugar with MegEngine's
signatures.
"""

from .._known_form import export_known_form
from . import elemwise, loss, math, nn, tensor

_PARTS = (elemwise, math, nn, tensor, loss)

__all__ = sorted({name for part in _PARTS for name in part.__all__})

# Each is one operator and takes about a microsecond, so that another call would add a tenth.
# Their own errors are in the known form.
_BARE = {
    "argmax",
    "argmin",
    "argsort",
    "concat",
    "cross_entropy",
    "dot",
    "embedding",
    "gather",
    "layer_norm",
    "linear",
    "matmul",
    "ones",
    "scaled_dot_product_attention",
    "scatter",
    "softmax",
    "zeros",
}

for _part in _PARTS:
    export_known_form(_part, [name for name in vars(_part) if name in {*__all__} - _BARE])
    globals().update({name: getattr(_part, name) for name in _part.__all__})
