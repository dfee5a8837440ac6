"""Operators in Python by MXNet's names.

>>> import tessera as ts
>>> class Twice(ts.operator.CustomOp):
...     def forward(self, is_train, req, in_data, out_data, aux):
...         self.assign(out_data[0], req[0], 2 * in_data[0])
...     def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
...         self.assign(in_grad[0], req[0], 2 * out_grad[0])
>>> @ts.operator.register("docs_twice")
... class TwiceProp(ts.operator.CustomOpProp):
...     def __init__(self):
...         super().__init__(need_top_grad=True)
...     def create_operator(self, ctx, in_shapes, in_dtypes):
...         return Twice()
>>> ts.operator.Custom(ts.tensor([1.0, 2.0]), op_type="docs_twice").tolist()
[2.0, 4.0]
"""

from . import ops as _ops
from ._custom.properties import CustomOp, CustomOpProp, NDArray, register

__all__ = ["Custom", "CustomOp", "CustomOpProp", "NDArray", "register"]


def Custom(*data, op_type, is_training=False, **parameters):  # noqa: N802  # MXNet's name
    """Applies a registered operator.

    Args:
        data: its inputs, then its auxiliary states, which change in place.
        op_type: the name it was registered by.
        is_training: what `forward` gets as `is_train`.
        parameters: those of its CustomOpProp; they are given as texts.

    Raises:
        AttributeError: there is no such operator.
    """
    texts = {name: str(value) for name, value in parameters.items()}
    return getattr(_ops.custom, op_type)(*data, is_training=is_training, **texts)
