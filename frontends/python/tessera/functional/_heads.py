"""What multi_head_attention makes of its arguments."""

import numpy as _np

from .._core import ops as _ops


def split_heads(x, num_heads):
    """[*B, L, E] as [*B, num_heads, L, E / num_heads]."""
    split = (*x.shape[:-1], num_heads, x.shape[-1] // num_heads)
    return _ops.swapaxes(_ops.reshape(x, split), -3, -2)


def join_masks(masks):
    """One mask in attention's sense of masks that say what is left out; None of none."""
    if not masks:
        return None
    if all(mask.dtype == bool for mask in masks):
        return _ops.logical_not(masks[0] if len(masks) == 1 else _ops.logical_or(*masks))
    added = [_ops.where(m, -_np.inf, 0.0) if m.dtype == bool else m for m in masks]
    return added[0] if len(added) == 1 else added[0] + added[1]
