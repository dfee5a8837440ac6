"""Recorded calls in half precision."""

from .. import _core
from .._tree import flatten, unflatten
from ..autodiff.modes import cast_as
from ..tensor import Tensor


def in_half_precision(call, function):
    """`call` of `function`, recorded again with the precisions of `amp.autocast`; its results of
    float32 are float16."""

    def _halved(*args, **kwargs):
        leaves, structure = flatten(function(*args, **kwargs))
        return unflatten(structure, [_half(leaf) for leaf in leaves])

    tensors = call.recording.valueless_arguments()
    arguments = call.given(tensors)
    with cast_as(_core.autocast_of(True, "float16", "float32")):
        return call.record_again(_halved, tensors, *arguments)[1]


def _half(leaf):
    is_single = isinstance(leaf, Tensor) and leaf.dtype == "float32"
    return leaf.astype("float16") if is_single else leaf
