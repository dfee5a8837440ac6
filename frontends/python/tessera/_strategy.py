"""Execution strategies: by which kernels are chosen, under MegEngine's names."""

import enum
import os

from . import _core

__all__ = ["Strategy", "from_environment", "get_strategy", "set_strategy"]


class Strategy(enum.Flag):
    """Parts of an execution strategy, which `|` combines; see set_execution_strategy.

    >>> from tessera.functional.debug_param import Strategy
    >>> Strategy.PROFILE | Strategy.REPRODUCIBLE
    <Strategy.PROFILE|REPRODUCIBLE: 6>
    """

    HEURISTIC = 1
    PROFILE = 2
    REPRODUCIBLE = 4
    OPTIMIZED = 8


def get_strategy():
    """The strategy of this process."""
    return Strategy(_core.get_strategy())


def set_strategy(strategy):
    """Sets it; where times of kernels count, those of former processes are loaded first."""
    if not strategy & (Strategy.HEURISTIC | Strategy.PROFILE):
        strategy |= Strategy.HEURISTIC
    if strategy & (Strategy.PROFILE | Strategy.OPTIMIZED):
        from .utils.persistent_cache import get_manager  # it needs all of the package

        get_manager().open()
    _core.set_strategy(strategy.value)


def parsed(caller, option):
    """The strategy of a Strategy, or of names that "_" joins."""
    names = option.split("_") if isinstance(option, str) else [None]
    if isinstance(option, Strategy) and option:
        return option
    if not all(name in Strategy.__members__ for name in names):
        raise ValueError(
            f"{caller}: strategy must be names of {list(Strategy.__members__)} joined by '_', "
            f"got {option!r}"
        )
    strategy = Strategy(0)
    for name in names:
        strategy |= Strategy[name]
    return strategy


def from_environment():
    """Sets the strategy of TESS_EXECUTION_STRATEGY, where the environment has one."""
    if option := os.environ.get("TESS_EXECUTION_STRATEGY"):
        set_strategy(parsed("TESS_EXECUTION_STRATEGY", option))
