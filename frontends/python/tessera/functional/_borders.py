"""Borders of elements that are there: of the nearest one, or a mirror."""

import numpy as _np

from .._core import Tensor as _Tensor
from .._core import ops as _ops

_MODES = {"replicate": "edge"}


def bordered(src, pad_width, kind):
    """`src` with (before, after) elements more along each axis; `kind`: "replicate" or NumPy's."""
    for axis, width in enumerate(pad_width):
        if any(width):
            index = _np.pad(_np.arange(src.shape[axis]), width, _MODES.get(kind, kind))
            src = _ops.index_get(src, [_Tensor(index)], [axis])
    return src
