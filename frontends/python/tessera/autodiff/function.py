"""Function: an operation with a gradient of the user's own."""

from contextlib import contextmanager

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

    A gradient of this gradient goes through what forward keeps for backward, too. Forward must not
    write its inputs: it makes new tensors.

    Raises:
        ValueError: forward must not write its inputs while a gradient is recorded; backward must
            return a gradient of the shape and dtype of each input, or None
        TypeError: backward must return tensors
        NotImplementedError: forward and backward must be given
    """

    def forward(self, *inputs):
        """One tensor, or several as a tuple."""
        raise NotImplementedError(f"{type(self).__name__}: forward must be given, got none")

    def backward(self, *output_grads):
        """One gradient, or None, for each input that is a tensor."""
        raise NotImplementedError(f"{type(self).__name__}: backward must be given, got none")

    def __call__(self, *inputs):
        tensors = [each for each in inputs if isinstance(each, Tensor)]
        is_nested, values = _core.num_tapes() > 1, _Values(tensors)
        with _recorded_outside():
            outputs = self.forward(*inputs)
        values.check_unwritten(type(self).__name__)
        single = isinstance(outputs, Tensor)
        outputs = [outputs] if single else list(outputs)
        # The results are new variables: the outputs that the user keeps for backward stay
        # unchanged. Where a gradient of the gradient may come, it goes through those as well.
        fresh = [y.detach() for y in outputs]
        kept = [y for y in outputs if is_nested and not any(y is each for each in tensors)]
        places = [i for i, y in enumerate(outputs) if any(y is each for each in kept)]
        gradients = _Gradients(self, len(fresh), places)
        results = _core.custom_function(tensors, fresh + kept, gradients)[: len(fresh)]
        return results[0] if single else tuple(results)


class _Gradients:
    """The gradients of the inputs from those of the results, and of the kept outputs among them."""

    def __init__(self, function, count, places):
        self._function, self._count, self._places = function, count, places

    def __call__(self, *grads):
        sums = list(grads[: self._count])
        for place, grad in zip(self._places, grads[self._count :], strict=True):
            if grad is not None:
                sums[place] = grad if sums[place] is None else sums[place] + grad
        given = self._function.backward(*sums)
        return list(given) if isinstance(given, (tuple, list)) else [given]


class _Values:
    """The values of tensors before a call that must not write them; none where none is recorded."""

    def __init__(self, tensors):
        self._tensors = tensors if _core.num_tapes() else []
        self._state = _core.GradState()
        self._state.attach(self._tensors)

    def check_unwritten(self, name):
        """ValueError: a tensor has another value by now."""
        for number, tensor in enumerate(self._tensors):
            if not self._state.has_value_of_then(tensor):
                raise ValueError(
                    f"{name}: forward must not write its inputs, got a write to tensor {number} of "
                    "them; make a new tensor, as by y = x + 1"
                )


@contextmanager
def _recorded_outside():
    """Nothing is recorded for the gradient that the user gives, but for gradients of that."""
    if _core.num_tapes() < 2:
        with no_grad():
            yield
        return
    hidden = _core.InnermostHidden()
    try:
        yield
    finally:
        hidden.end()
