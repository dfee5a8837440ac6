"""The callable of an operator that has states or draws random numbers."""

from .. import random
from ..device import get_default_device
from ..tensor import Tensor

_DRAWS = 2**32  # numbers that one call may draw
_operators = {}  # "library::name": CustomOperator


class CustomOperator:
    """Calls an operator of a library: gives it random state, and writes its states in place."""

    def __init__(self, row):
        self._row = row
        self._function = row["function"]
        self._operands = row["num_inputs"] + len(row["states"])
        self.__name__ = self.__qualname__ = self._function.__name__
        self.__module__ = self._function.__module__
        self.__doc__ = self._function.__doc__
        self.name = row["name"]

    def __repr__(self):
        return f"<operator {self._row['name']}>"

    def _states(self, args, kwargs):
        first = self._row["num_inputs"]
        names = self._row["states"]
        given = args[first : first + len(names)]
        given = [*given, *(kwargs[name] for name in names[len(given) :] if name in kwargs)]
        for name, state in zip(names, given, strict=False):
            if not isinstance(state, Tensor):
                raise TypeError(
                    f"{self.__name__}: {name} must be a Tensor, which the call changes, got "
                    f"{type(state).__name__}"
                )
        return given

    def _apply(self, args, kwargs):
        if not self._row["uses_random"]:
            return self._function(*args, **kwargs)
        operands, rest = args[: self._operands], args[self._operands :]

        def _call(seed, offset):
            if rest:
                return self._function(*operands, seed, offset, *rest, **kwargs)
            return self._function(*operands, seed=seed, offset=offset, **kwargs)

        given = next((each for each in (*args, *kwargs.values()) if isinstance(each, Tensor)), None)
        device = get_default_device() if given is None else given.device
        return random.default_rng.on(device).draw(_call, _DRAWS)

    def __call__(self, *args, **kwargs):
        return call_operator(self._row["name"], *args, **kwargs)

    def run(self, args, kwargs):
        """The results; states have their new values then."""
        states = self._states(args, kwargs)
        results = self._apply(args, kwargs)
        if not self._row["states"]:
            return results
        returned = self._row["num_returned"]
        for state, value in zip(states, results[returned:], strict=True):
            state._reset(value.detach())
        return results[0] if returned == 1 else results[:returned]


def call_operator(operator, /, *args, **kwargs):
    """Calls the CustomOperator of the name "library::name": one call for those who record calls.

    Raises:
        LookupError: no library that is loaded has it.
        TypeError: a state is no Tensor.
    """
    if operator not in _operators:
        raise LookupError(f"ops: the library must be loaded that has it, got {operator!r}")
    return _operators[operator].run(args, kwargs)


def callable_of(row):
    """The operator's own callable where nothing is to be added, else a CustomOperator."""
    if row["states"] or row["uses_random"]:
        return _operators.setdefault(row["name"], CustomOperator(row))
    return row["function"]
