"""Names that `dir` shows of a module: those that are public."""

_OF_ALL = ("__all__", "__doc__", "__file__", "__name__", "__package__", "__spec__")


def listed(*names):
    """A `__dir__` that shows these names alone, beside those that every module has."""
    shown = sorted({*names, *_OF_ALL})
    return lambda: [*shown]
