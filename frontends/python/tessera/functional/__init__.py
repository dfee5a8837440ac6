"""Functions of tensors: those generated from the operator records, and sugar with MegEngine's
signatures.
"""

from .._known_form import export_known_form
from . import elemwise, loss, math, nn, tensor

_PARTS = (elemwise, math, nn, tensor, loss)

__all__ = sorted({name for part in _PARTS for name in part.__all__})

for _part in _PARTS:
    export_known_form(_part, [name for name in vars(_part) if name in __all__])
    globals().update({name: getattr(_part, name) for name in _part.__all__})
