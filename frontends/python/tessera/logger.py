"""The package's log."""

import logging

_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def get_logger(name="tessera"):
    """A logger below "tessera" with the package's format.

    >>> get_logger("part").name
    'tessera.part'
    """
    root = logging.getLogger("tessera")
    if not root.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter(_FORMAT))
        root.addHandler(handler)
        root.propagate = False
    below = name == "tessera" or name.startswith("tessera.")
    return logging.getLogger(name if below else f"tessera.{name}")


def set_log_level(level):
    """What is logged from now on: "DEBUG", "INFO", "WARNING", "ERROR" or a number; returns the old
    one.

    >>> old = set_log_level("INFO")
    >>> set_log_level(old)
    20
    """
    logger = get_logger()
    old = logger.level
    logger.setLevel(level)
    return old
