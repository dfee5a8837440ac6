"""Execution strategies: how the kernels of products and convolutions are chosen.

>>> from tessera.functional.debug_param import get_execution_strategy, set_execution_strategy
>>> set_execution_strategy("PROFILE_REPRODUCIBLE")
>>> get_execution_strategy()
<Strategy.PROFILE|REPRODUCIBLE: 6>
>>> set_execution_strategy("HEURISTIC")
"""

from .. import _strategy
from .._strategy import Strategy  # noqa: F401


def get_execution_strategy():
    """The strategy by which kernels are chosen; see set_execution_strategy.

    >>> from tessera.functional.debug_param import get_execution_strategy
    >>> get_execution_strategy()
    <Strategy.HEURISTIC: 1>
    """
    return _strategy.get_strategy()


def set_execution_strategy(option):
    """Chooses kernels of products and convolutions so from now on, eagerly and in traced functions.

    * `HEURISTIC`, the default: by rules of the operator and its sizes.
    * `PROFILE`: the fastest one, which is measured once for an operator, its sizes, dtypes and
      threads on this kind of processor, and is then remembered, by later processes too
      (`utils.persistent_cache.get_manager`).
    * `PROFILE_HEURISTIC`: what is remembered, else by the rules; nothing is measured.
    * `OPTIMIZED`: the same. Plain loops are never taken where another kernel computes the operator.
    * `REPRODUCIBLE`, beside one of these: only kernels with the bits of the rules.

    Kernels whose bits differ are candidates only in functions that `jit.numerics("fast")` holds
    for: there Winograd's products beside direct sums. Everywhere else the candidates have the same
    bits: right operands of products in place or packed, transposed products, all threads or one.
    What there was to choose from, and why a kernel was chosen, `explain()` of a trace tells.

    The environment's TESS_EXECUTION_STRATEGY says it at first.

    Args:
        option: a `Strategy`, of which `|` combines several, or their names joined by "_"

    Raises:
        ValueError: strategy must be of these names

    >>> from tessera.functional.debug_param import Strategy, set_execution_strategy
    >>> set_execution_strategy(Strategy.PROFILE | Strategy.HEURISTIC)
    >>> set_execution_strategy("HEURISTIC")
    """
    _strategy.set_strategy(_strategy.parsed("set_execution_strategy", option))
