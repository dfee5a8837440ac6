"""Packages beside NumPy, each needed by a part that some users never touch."""

import contextlib


@contextlib.contextmanager
def importing(tool, package, install):
    """Gives an ImportError within the form of every message: `tool` needs `package`, which
    `pip install` finds under `install`.

    >>> from tessera._extras import importing
    >>> with importing("x", "nothing", "nothing"):
    ...     import nothing
    Traceback (most recent call last):
    ImportError: x: nothing must be installed (pip install nothing), got No module named 'nothing'
    """
    try:
        yield
    except ImportError as error:
        raise ImportError(
            f"{tool}: {package} must be installed (pip install {install}), got {error}"
        ) from error
