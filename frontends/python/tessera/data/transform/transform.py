"""Transform: what the loader asks of a change of samples."""

from abc import ABC, abstractmethod


class Transform(ABC):
    """A change of samples. A subclass gives `apply`, for one sample."""

    @abstractmethod
    def apply(self, input):
        """The changed sample; `input` is one sample of the dataset, usually a tuple."""

    def apply_batch(self, inputs):
        """The changed samples of one batch, as a tuple; `inputs` is a sequence of samples."""
        return tuple(self.apply(each) for each in inputs)

    def __repr__(self):
        return type(self).__name__


class PseudoTransform(Transform):
    """Leaves samples as they are.

    >>> from tessera.data import PseudoTransform
    >>> PseudoTransform().apply((1, 2))
    (1, 2)
    """

    def apply(self, input):
        """`input` itself."""
        return input
