"""How repr and print show the elements of tensors."""

import numpy as np

_OPTIONS = {}  # arguments of NumPy's array2string that differ from NumPy's own settings
_NAMES = {"linewidth": "max_line_width", "suppress": "suppress_small"}


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, suppress=None):
    """How tensors are printed from now on, by NumPy's names; None is NumPy's own setting, that of
    `numpy.set_printoptions`.

    Args:
        precision: digits behind the point
        threshold: how many elements are shown before a tensor is shortened
        edgeitems: how many are shown at each end of a shortened axis
        linewidth: characters of a line
        suppress: whether small numbers are never shown with an exponent

    Raises:
        TypeError: suppress must be a bool, the others integers
        ValueError: integers must not be negative

    Example:
        >>> import tessera as ts
        >>> ts.set_printoptions(precision=2)
        >>> ts.tensor([1 / 3])
        Tensor([0.33], dtype=float32, device=cpu0)
        >>> ts.set_printoptions()
    """
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems,
             "linewidth": linewidth}  # fmt: skip
    for name, value in given.items():
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            raise TypeError(f"set_printoptions: {name} must be an int or None, got {value!r}")
        if value is not None and value < 0:
            raise ValueError(f"set_printoptions: {name} must not be negative, got {value}")
    if suppress is not None and not isinstance(suppress, bool):
        raise TypeError(f"set_printoptions: suppress must be a bool or None, got {suppress!r}")
    given["suppress"] = suppress
    _OPTIONS.clear()
    _OPTIONS.update({_NAMES.get(k, k): v for k, v in given.items() if v is not None})


def text_of(array, has_few_digits):
    """The elements of an array, as repr shows them; `has_few_digits`: it stands for a dtype that
    NumPy lacks, whose digits are fewer than those of float32.

    >>> import numpy as np
    >>> from tessera._printing import text_of
    >>> text_of(np.float32([0.1, 2]), True), text_of(np.float32([0.1, 2]), False)
    ('[0.1, 2]', '[0.1, 2. ]')
    """
    is_short = has_few_digits and "precision" not in _OPTIONS
    formatter = {"float_kind": "{:g}".format} if is_short else None
    return np.array2string(array, separator=", ", formatter=formatter, **_OPTIONS)
