"""What of a call's arguments decides which recording serves it."""

import numpy as np

from .. import _core
from .._tree import flatten
from ..tensor import Tensor


def signature(args, kwargs):
    """The tensors among the arguments, and a key that can be hashed.

    TypeError: an argument that is no tensor must be hashable.
    """
    leaves, structure = flatten((args, kwargs))
    tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    if _core.use_symbolic_shape():  # the function meets other shapes
        structure = structure, "symbolic shapes"
    if _core.autocast()[0]:
        structure = structure, _core.autocast()
    return tensors, (structure, *map(_leaf_key, leaves), _core.identity(tensors))


def _leaf_key(leaf):
    """Shape and dtype of a tensor; other values by type and bits, every NaN the same."""
    if isinstance(leaf, Tensor):
        return leaf._dtype_key, leaf.shape
    if isinstance(leaf, np.ndarray):
        return "array", leaf.dtype.str, leaf.shape, leaf.tobytes()
    if isinstance(leaf, float):
        return type(leaf), float.hex(leaf)
    if isinstance(leaf, complex):
        return type(leaf), leaf.real.hex(), leaf.imag.hex()
    if isinstance(leaf, np.generic):
        return type(leaf), leaf.dtype.str, "nan" if leaf != leaf else leaf.tobytes()
    if isinstance(leaf, frozenset):
        return type(leaf), frozenset(map(_leaf_key, leaf))
    try:
        hash(leaf)
    except TypeError:
        kind = type(leaf).__name__
        raise TypeError(f"trace: arguments must be tensors or hashable, got {kind}") from None
    return type(leaf), leaf
