"""Gradients of functions: grad, value_and_grad, vjp."""

import functools

from .. import _core
from .modes import recording


def _zeros_for_none(grads, tensors):
    return [
        _core.ops.zeros_like(tensor) if grad is None else grad
        for grad, tensor in zip(grads, tensors, strict=True)
    ]


def value_and_grad(fun, argnums=0, has_aux=False):
    """A function that returns `fun`'s value and its gradient in the arguments `argnums`.

    `fun` returns one number, and with `has_aux` the pair (number, anything).
    """

    @functools.wraps(fun)
    def with_gradient(*args, **kwargs):
        numbers = [argnums] if isinstance(argnums, int) else list(argnums)
        tensors = [args[number] for number in numbers]
        with recording(tensors) as state:
            value = fun(*args, **kwargs)
            result = value[0] if has_aux else value
            grads = _zeros_for_none(state.backward([result], None), tensors)
        return value, grads[0] if isinstance(argnums, int) else tuple(grads)

    return with_gradient


def grad(fun, argnums=0, has_aux=False):
    """A function that returns the gradient of `fun`; with `has_aux` the pair (gradient, aux)."""
    with_value = value_and_grad(fun, argnums, has_aux)

    @functools.wraps(fun)
    def gradient(*args, **kwargs):
        value, grads = with_value(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads

    return gradient


def vjp(fun, *primals):
    """`fun(*primals)` and a function from the gradient of that to the gradients of the primals.

    The second function runs `fun` again, so it may be called any number of times.
    """

    def pullback(*cotangents):
        with recording(list(primals)) as state:
            result = fun(*primals)
            outputs = list(result) if isinstance(result, (tuple, list)) else [result]
            grads = state.backward(outputs, list(cotangents))
            return tuple(_zeros_for_none(grads, primals))

    return fun(*primals), pullback
