"""Where a network that will be quantized begins and ends."""

from .module import Module


class QuantStub(Module):
    """Gives its input: a network that is quantized has the step to integers here.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> M.QuantStub()(ts.tensor([1.5])).tolist()
    [1.5]
    """

    def forward(self, inp):
        """See the class."""
        return inp


class DequantStub(Module):
    """Gives its input: a network that is quantized has the step back to floats here.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> M.DequantStub()(ts.tensor([1.5])).tolist()
    [1.5]
    """

    def forward(self, inp):
        """See the class."""
        return inp
