"""The callable of an operator that has states or draws random numbers."""

from .. import random

_DRAWS = 2**32  # numbers that one call may draw


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
        return [*given, *(kwargs[name] for name in names[len(given) :] if name in kwargs)]

    def _apply(self, args, kwargs):
        if not self._row["uses_random"]:
            return self._function(*args, **kwargs)
        operands, rest = args[: self._operands], args[self._operands :]

        def call(seed, offset):
            if rest:
                return self._function(*operands, seed, offset, *rest, **kwargs)
            return self._function(*operands, seed=seed, offset=offset, **kwargs)

        return random.default_rng.on(getattr(args[0], "device", None) if args else None).draw(
            call, _DRAWS
        )

    def __call__(self, *args, **kwargs):
        results = self._apply(args, kwargs)
        if not self._row["states"]:
            return results
        returned = self._row["num_returned"]
        for state, value in zip(self._states(args, kwargs), results[returned:], strict=True):
            state._reset(value.detach())
        return results[0] if returned == 1 else results[:returned]


def callable_of(row):
    """The operator's own callable where nothing is to be added, else a CustomOperator."""
    if row["states"] or row["uses_random"]:
        return CustomOperator(row)
    return row["function"]
