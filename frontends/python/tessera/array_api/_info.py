"""What the namespace can do."""

from .. import _core
from .. import device as _device
from ._dtypes import DEFAULTS, INDEX, KINDS, bool

_ALL = (bool, *KINDS["numeric"])
_MOST_AXES = 8


class ArrayNamespaceInfo:
    """Answers of `__array_namespace_info__()`.

    >>> from tessera import array_api as xp
    >>> xp.__array_namespace_info__().capabilities()["max dimensions"]
    8
    """

    def capabilities(self):
        """Masks as keys, shapes that data decide, the largest number of axes, the extensions."""
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": _MOST_AXES,
            "extensions": ("fft", "linalg"),
        }

    def default_device(self):
        """The device that new tensors are made on."""
        return _device.get_default_device()

    def devices(self):
        """All devices: `sim0` is emulated, `null0` keeps shapes and no values."""
        return [_device.Device(name) for name in _core.device_names()]

    def default_dtypes(self, *, device=None):
        """The dtypes of results where neither operands nor arguments decide."""
        return {
            "real floating": DEFAULTS[float],
            "complex floating": DEFAULTS[complex],
            "integral": DEFAULTS[int],
            "indexing": INDEX,
        }

    def dtypes(self, *, device=None, kind=None):
        """The dtypes of a kind, or of several, by name; all without one. They are the same on every
        device. ValueError: kind must be one of isdtype's.
        """
        kinds = kind if isinstance(kind, tuple) else (kind,)
        for each in kinds:
            if each is not None and each not in KINDS:
                raise ValueError(f"dtypes: kind must be one of {list(KINDS)}, got {each!r}")
        chosen = [dtype for each in kinds for dtype in (KINDS[each] if each else _ALL)]
        return {str(dtype): dtype for dtype in chosen}


def __array_namespace_info__():  # noqa: N807  # the standard's name
    """An object that says what the namespace can do.

    >>> from tessera import array_api as xp
    >>> xp.__array_namespace_info__().default_dtypes()["integral"]
    dtype('int32')
    """
    return ArrayNamespaceInfo()
