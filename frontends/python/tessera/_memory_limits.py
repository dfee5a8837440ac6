"""Limits of memory as users write them."""

import operator
import re

_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_TEXT = re.compile(r"\s*(\d+(?:\.\d*)?)\s*([KMGT]iB|B)\s*")


def limit_in_bytes(owner, name, limit, memory_of_device):
    """Bytes of a limit: an int, a float as a fraction of what `memory_of_device()` gives, or a text
    such as "512 MiB".

    ValueError: it must be one of these, and above 0; a fraction is one of a known memory.

    >>> from tessera._memory_limits import limit_in_bytes
    >>> [limit_in_bytes("f", "size", each, lambda: 1 << 30) for each in (7, 0.5, "1.5 KiB")]
    [7, 536870912, 1536]
    """
    number, unit = None, 1
    if isinstance(limit, str):
        text = _TEXT.fullmatch(limit)
        number, unit = (float(text[1]), _UNITS[text[2]]) if text else (None, 1)
    elif isinstance(limit, float):
        number, unit = (limit, memory_of_device()) if 0 < limit <= 1 else (None, 1)
    elif not isinstance(limit, bool) and hasattr(limit, "__index__"):
        number = operator.index(limit)
    if unit is None:
        raise ValueError(
            f"{owner}: {name} must be bytes or a text for a device whose memory has no bound, "
            f"got {limit!r}"
        )
    if number is None or not number * unit >= 1:
        raise ValueError(
            f"{owner}: {name} must be bytes above 0, a float up to 1.0 (of the device's"
            f" memory) or a text such as '512 MiB', got {limit!r}"
        )
    return int(number * unit)
