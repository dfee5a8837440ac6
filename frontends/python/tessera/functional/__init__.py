"""Functions of tensors: those generated from the operator records, and sugar with MegEngine's
signatures.
"""

from . import elemwise, loss, math, nn, tensor

_PARTS = (elemwise, math, nn, tensor, loss)

__all__ = sorted({name for part in _PARTS for name in part.__all__})

for _part in _PARTS:
    globals().update({name: getattr(_part, name) for name in _part.__all__})
