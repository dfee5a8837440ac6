"""From a list of samples to one batch."""

from collections.abc import Mapping

import numpy as np


def _is_namedtuple(value):
    return isinstance(value, tuple) and hasattr(value, "_fields")


class UnequalSamplesError(ValueError):
    """Samples of one batch differ in `what`; `path` leads to the field."""

    def __init__(self, what, found, path=()):
        super().__init__(what, found, path)
        self.what, self.found, self.path = what, found, path

    def within(self, field):
        """Returns the error of samples that have the present ones as `field`."""
        return UnequalSamplesError(self.what, self.found, (field, *self.path))

    def __str__(self):
        field = "".join(f"[{key!r}]" for key in self.path)
        return (
            f"Collator: samples of a batch must have one {self.what}, got "
            f"{' and '.join(self.found)}{f' in field {field}' if field else ''} "
            f"(pad them to one, or pass a collator that does)"
        )


class Collator:
    """Stacks arrays and numbers along a new first axis, through tuples, lists and dicts.

    ValueError: samples must have equal shapes, numbers of fields and keys. TypeError: they must be
    arrays, numbers or containers.

    >>> from tessera.data import Collator
    >>> import numpy as np
    >>> Collator().apply([(np.zeros(2), 3), (np.ones(2), 4)])
    (array([[0., 0.],
           [1., 1.]]), array([3, 4]))
    """

    def apply(self, inputs):
        """One batch of the samples in `inputs`."""
        first = inputs[0]
        if isinstance(first, np.ndarray):
            return np.ascontiguousarray(_stacked(inputs))
        if isinstance(first, (bool, int, float, complex, np.generic)):
            return np.array(inputs)
        if isinstance(first, (str, bytes)):
            return list(inputs)
        if isinstance(first, Mapping):
            _check_same("set of keys", [sorted(map(str, item)) for item in inputs])
            columns = {key: [item[key] for item in inputs] for key in first}
            return type(first)({key: self._field(key, each) for key, each in columns.items()})
        if isinstance(first, (tuple, list)):
            return self._sequence(first, inputs)
        if hasattr(first, "__array__"):
            return _stacked([np.asarray(item) for item in inputs])
        raise TypeError(
            f"Collator: samples must be arrays, numbers or containers, got {type(first)}"
        )

    def _sequence(self, first, inputs):
        _check_same("number of fields", [len(item) for item in inputs])
        columns = enumerate(zip(*inputs, strict=True))
        fields = [self._field(number, list(column)) for number, column in columns]
        return type(first)(*fields) if _is_namedtuple(first) else type(first)(fields)

    def _field(self, name, inputs):
        try:
            return self.apply(inputs)
        except UnequalSamplesError as error:
            raise error.within(name) from None


def _check_same(what, values):
    if any(value != values[0] for value in values):
        raise UnequalSamplesError(what, list(dict.fromkeys(map(str, values)))[:3])


def _stacked(arrays):
    _check_same("shape", [np.shape(array) for array in arrays])
    return np.stack(arrays)
