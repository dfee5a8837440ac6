"""From a list of samples to one batch."""

from collections.abc import Mapping

import numpy as np


def _is_namedtuple(value):
    return isinstance(value, tuple) and hasattr(value, "_fields")


class Collator:
    """Stacks arrays and numbers along a new first axis, through tuples, lists and dicts.

    >>> import numpy as np
    >>> Collator().apply([(np.zeros(2), 3), (np.ones(2), 4)])
    (array([[0., 0.],
           [1., 1.]]), array([3, 4]))
    """

    def apply(self, inputs):
        """One batch of the samples in `inputs`."""
        first = inputs[0]
        if isinstance(first, np.ndarray):
            return np.ascontiguousarray(np.stack(inputs))
        if isinstance(first, (bool, int, float, complex, np.generic)):
            return np.array(inputs)
        if isinstance(first, (str, bytes)):
            return list(inputs)
        if isinstance(first, Mapping):
            return type(first)({key: self.apply([item[key] for item in inputs]) for key in first})
        if isinstance(first, (tuple, list)):
            return self._sequence(first, inputs)
        if hasattr(first, "__array__"):
            return np.stack([np.asarray(item) for item in inputs])
        raise TypeError(
            f"Collator: samples must be arrays, numbers or containers, got {type(first)}"
        )

    def _sequence(self, first, inputs):
        lengths = sorted({len(item) for item in inputs})
        if len(lengths) > 1:
            raise ValueError(f"Collator: samples must have one number of fields, got {lengths}")
        fields = [self.apply(list(column)) for column in zip(*inputs, strict=True)]
        return type(first)(*fields) if _is_namedtuple(first) else type(first)(fields)
