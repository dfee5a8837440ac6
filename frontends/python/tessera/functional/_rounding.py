"""Functions of several operators that round a float16 or bfloat16 result once."""

from .._core import ops as _ops

_NARROW = {"float16", "bfloat16"}


def rounded_once(function, *operands):
    """`function` of the operands in float32 where they are narrower, its result as they were.

    None stays None. Narrow operands of two dtypes, or beside wider ones, give a wider result.
    """
    dtypes = {each.dtype.name for each in operands if each is not None}
    if not dtypes & _NARROW:
        return function(*operands)
    out = function(*(_widened(each) for each in operands))
    return _ops.astype(out, *dtypes) if len(dtypes) == 1 else out


def _widened(operand):
    if operand is None or operand.dtype.name not in _NARROW:
        return operand
    return _ops.astype(operand, "float32")
