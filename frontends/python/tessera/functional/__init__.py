"""Functions of tensors: those generated from the operator records, and sugar with MegEngine's
signatures.
"""

from .._core import Tensor as _Tensor
from .._core import ops as _ops
from .._known_form import export_known_form
from .._listed import listed as _listed
from . import (
    control,
    conv,
    creation,
    debug_param,  # noqa: F401
    elemwise,
    external,  # noqa: F401
    fft,
    local_conv,
    loss,
    math,
    metric,  # noqa: F401
    nn,
    pool,
    quantized,
    quantized_conv,
    recurrent,
    statistics,
    tensor,
    truth,
    vision,
)

_PARTS = (
    control,
    conv,
    creation,
    elemwise,
    local_conv,
    math,
    nn,
    pool,
    recurrent,
    statistics,
    tensor,
    truth,
    vision,
    loss,
)

__all__ = sorted({"fft", "quantized"}.union(*(part.__all__ for part in _PARTS)))
__dir__ = _listed(*__all__, "metric", *(part.__name__.rpartition(".")[2] for part in _PARTS))

# Each is one operator and takes about a microsecond, so that another call would add a tenth.
# Their own errors are in the known form. Those of a loop's step are the user's.
_BARE = {
    "argmax",
    "argmin",
    "concat",
    "cond",
    "copy",
    "cross_entropy",
    "embedding",
    "gather",
    "gelu",
    "layer_norm",
    "linear",
    "matmul",
    "ones",
    "scan",
    "scaled_dot_product_attention",
    "scatter",
    "scatter_add",
    "scatter_max",
    "scatter_min",
    "softmax",
    "stack",
    "while_loop",
    "zeros",
}

_CHECKED = {*__all__} - _BARE
for _part in _PARTS:
    export_known_form(_part, _CHECKED & vars(_part).keys())
    globals().update({name: getattr(_part, name) for name in _part.__all__})
export_known_form(quantized, quantized_conv.__all__)
for _part in (fft, quantized, quantized_conv):  # name spaces of their own
    export_known_form(_part, _part.__all__)

# Functions written by hand that are methods of Tensor, beside those whose records say so.
_METHODS = {name: name for name in ("all", "allclose", "any", "argsort", "diag", "isclose",
                                    "nan_to_num", "quantile", "unique")}  # fmt: skip
_METHODS |= {
    name: member.__name__
    for name, member in vars(_Tensor).items()
    if type(member) is type(_ops.add)
}
for _name, _function in _METHODS.items():  # a function by hand takes the place of an operator
    if not isinstance(globals().get(_function, _ops.add), type(_ops.add)):
        setattr(_Tensor, _name, globals()[_function])
