"""Where a network that will be quantized begins and ends."""

from .module import Module


class QuantStub(Module):
    """Gives its input: a network that is quantized has the step to integers here.

    >>> from tessera import tensor
    >>> QuantStub()(tensor([1.5])).tolist()
    [1.5]
    """

    def forward(self, inp):
        """See the class."""
        return inp


class DequantStub(Module):
    """Gives its input: a network that is quantized has the step back to floats here.

    >>> from tessera import tensor
    >>> DequantStub()(tensor([1.5])).tolist()
    [1.5]
    """

    def forward(self, inp):
        """See the class."""
        return inp
