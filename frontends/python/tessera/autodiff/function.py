"""Function: an operation with a gradient of the user's own."""

from .. import _core
from ..tensor import Tensor
from .modes import no_grad


class Function:
    """A subclass gives `forward(*inputs)` and `backward(*output_grads)`; an instance is called
    once.

        class Sigmoid(Function):
            def forward(self, x):
                self.y = 1 / (1 + functional.exp(-x))
                return self.y

            def backward(self, dy):
                return dy * self.y * (1 - self.y)
    """

    def forward(self, *inputs):
        """One tensor, or several as a tuple."""
        raise NotImplementedError(f"{type(self).__name__}: forward must be given, got none")

    def backward(self, *output_grads):
        """One gradient, or None, for each input."""
        raise NotImplementedError(f"{type(self).__name__}: backward must be given, got none")

    def __call__(self, *inputs):
        with no_grad():
            outputs = self.forward(*inputs)
        single = isinstance(outputs, Tensor)
        tensors = [each for each in inputs if isinstance(each, Tensor)]
        outputs = [outputs] if single else list(outputs)
        # The results are new variables: the outputs that the user keeps for backward stay
        # unchanged.
        outputs = _core.custom_function(tensors, [y.detach() for y in outputs], self._gradients)
        return outputs[0] if single else tuple(outputs)

    def _gradients(self, *output_grads):
        grads = self.backward(*output_grads)
        return list(grads) if isinstance(grads, (tuple, list)) else [grads]
