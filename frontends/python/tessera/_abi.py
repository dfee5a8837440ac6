"""The extension, of which each version of Python needs its own. An import without it names those
that are here.
"""

import importlib.machinery
import pathlib
import sys

# Versions that there are wheels of: pyproject.toml and tools/commands/wheel.sh name them, too.
VERSIONS = ("3.11", "3.12", "3.13")


def missing(folder):
    """The ImportError of a package in `folder` without an extension for this Python; None: it has
    one, so that another cause must tell.

    >>> import pathlib
    >>> import tessera as ts
    >>> from tessera._abi import missing
    >>> missing(pathlib.Path(ts.__file__).parent) is None
    True
    """
    suffixes = importlib.machinery.EXTENSION_SUFFIXES
    if any((folder / f"_core{suffix}").exists() for suffix in suffixes):
        return None
    names = sorted(path.name for path in folder.glob("_core.*.so"))
    there = ", ".join(name.split(".")[1] for name in names) or "none at all"
    version = ".".join(map(str, sys.version_info[:2]))
    advice = f"install the wheel of Python {version}"
    if version not in VERSIONS:
        advice = f"there are wheels of Python {', '.join(VERSIONS)}, and none of {version}"
    return ImportError(
        f"tessera: no extension for {suffixes[0].split('.')[1]} in {folder} (there is {there}); "
        f"{advice}"
    )


try:
    from . import _core  # noqa: F401
except ImportError as cause:
    if error := missing(pathlib.Path(__file__).parent):
        raise error from cause
    raise
