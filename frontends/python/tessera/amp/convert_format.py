"""Images and weights that are called channels-last."""

import copy

from .. import _core

_RANKS = (4, 5)  # of images and volumes in batches, and of the weights of their convolutions


def convert_tensor_format(x, inplace=True):
    """`x` with the format "nhwc"; one that has not 4 or 5 axes stays as it is.

    A format says which order of axes a user means by the memory. Results of operators that keep the
    meaning of axes take it over; shapes are those of the default order [N, C, ...], and no value
    changes. How a library lays a convolution's operands out is its own choice for either format.

    Args:
        x: any[*D]
        inplace: whether x itself gets the format, or a new tensor that its gradient goes through

    Returns:
        x, or the new tensor

    Example:
        >>> import tessera.functional as F
        >>> from tessera.amp import convert_tensor_format
        >>> convert_tensor_format(F.ones((1, 3, 2, 2))).format
        'nhwc'
    """
    if x.ndim not in _RANKS:
        return x
    if not inplace:
        x = _core.ops.copy(x)
    x.format = "nhwc"
    return x


def convert_module_format(module, inplace=True):
    """`module`, or without `inplace` a copy of it, whose parameters and buffers have the format
    "nhwc": see convert_tensor_format.

    >>> import tessera.module as M
    >>> from tessera.amp import convert_module_format
    >>> convert_module_format(M.Conv2d(3, 8, 3)).weight.format
    'nhwc'
    """
    module = module if inplace else copy.deepcopy(module)
    for tensor in module.tensors():
        convert_tensor_format(tensor)
    return module
