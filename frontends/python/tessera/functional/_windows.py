"""What functions over windows share."""

from ..core.symint import SymInt


def each(value, axes):
    """A list with `value` for each axis, or the numbers that it already holds."""
    return [value] * axes if isinstance(value, (int, SymInt)) else list(value)
