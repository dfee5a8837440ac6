"""Gradients of functions: grad, value_and_grad, vjp."""

import functools

from .. import _core
from .._tree import flatten, unflatten
from .modes import recording


def _zeros_for_none(grads, tensors):
    return [
        _core.ops.zeros_like(tensor) if grad is None else grad
        for grad, tensor in zip(grads, tensors, strict=True)
    ]


def _distinct(tensors):
    """The tensors; one that was there before as a variable of its own."""
    known, result = set(), []
    for tensor in tensors:
        result.append(_core.apart([tensor])[0] if id(tensor) in known else tensor)
        known.add(id(tensor))
    return result


def value_and_grad(fun, argnums=0, has_aux=False):
    """A function that returns `fun`'s value and its gradient in the arguments `argnums`.

    Args:
        fun: a function of tensors that returns float[], with `has_aux` the pair (float[], anything)
        argnums: which arguments, an int or several: float[*D] each, or tuples, lists and dicts of
            such

    Returns:
        a function with the arguments of fun and the results (value, gradients); a gradient has the
        containers, shapes and dtypes of its argument

    Raises:
        ValueError: the value of fun must have one element
        NotImplementedError: an operator on the way has no gradient

    Example:
        >>> import tessera as ts
        >>> from tessera.autodiff import value_and_grad
        >>> value, slope = value_and_grad(lambda x: (x * x).sum())(ts.tensor([1.0, 2.0]))
        >>> value.item(), slope.tolist()
        (5.0, [2.0, 4.0])
    """

    @functools.wraps(fun)
    def with_gradient(*args, **kwargs):
        numbers = [argnums] if isinstance(argnums, int) else list(argnums)
        leaves, structure = flatten(tuple(args[number] for number in numbers))
        tensors = _distinct(leaves)
        given = list(args)
        for number, tree in zip(numbers, unflatten(structure, tensors), strict=True):
            given[number] = tree
        with recording(tensors) as state:
            value = fun(*given, **kwargs)
            result = value[0] if has_aux else value
            grads = _zeros_for_none(state.backward([result], None), tensors)
        grads = unflatten(structure, grads)
        return value, grads[0] if isinstance(argnums, int) else grads

    return with_gradient


def grad(fun, argnums=0, has_aux=False):
    """A function that returns the gradient of `fun`; with `has_aux` the pair (gradient, aux).

    Arguments, shapes, dtypes and errors are those of value_and_grad.

    >>> import tessera as ts
    >>> from tessera.autodiff import grad
    >>> grad(grad(lambda x: x**3))(ts.tensor(2.0)).item()
    12.0
    """
    with_value = value_and_grad(fun, argnums, has_aux)

    @functools.wraps(fun)
    def gradient(*args, **kwargs):
        value, grads = with_value(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads

    return gradient


def vjp(fun, *primals):
    """`fun(*primals)` and a function from the gradient of that to the gradients of the primals.

    The second function runs `fun` again, so it may be called any number of times.

    Args:
        fun: a function of tensors that returns a tensor or several
        primals: float[*D] each

    Returns:
        the results of fun, and a function of one tensor for each of them, of its shape and dtype,
        that returns one for each primal

    Raises:
        ValueError: there must be a gradient for each result, of its shape
        NotImplementedError: an operator on the way has no gradient

    Example:
        >>> import tessera as ts
        >>> from tessera.autodiff import vjp
        >>> y, pullback = vjp(lambda x: x * x, ts.tensor([3.0]))
        >>> y.tolist(), pullback(ts.tensor([10.0]))[0].tolist()
        ([9.0], [60.0])
    """

    def pullback(*cotangents):
        tensors = _distinct(primals)
        with recording(tensors) as state:
            result = fun(*tensors)
            outputs = list(result) if isinstance(result, (tuple, list)) else [result]
            grads = state.backward(outputs, list(cotangents))
            return tuple(_zeros_for_none(grads, tensors))

    return fun(*primals), pullback
