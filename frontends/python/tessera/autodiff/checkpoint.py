"""checkpoint: a call that runs again for its gradient, so that nothing of it is kept till then."""

import functools

from .. import _core
from .._tree import flatten, unflatten
from ..tensor import Tensor


def checkpoint(function, *args, **kwargs):
    """`function(*args, **kwargs)`, of which a recording keeps the arguments alone.

    Backward calls the function again and takes what it needs from that: less memory is held, for
    one more computation (T. Chen, B. Xu, C. Zhang, C. Guestrin: Training Deep Nets with Sublinear
    Memory Cost, arXiv:1604.06174). With arguments it is the call, as PyTorch's; without any it is
    the function that makes such calls, as JAX's, and a decorator.

    Results and gradients are those of the plain call, bit by bit: what the function draws, updates
    (a running mean) or reads from outside has for the second call the values of the first, and the
    values of now after it; autocast is as it was. Tensors from outside get their gradients, too.
    Python's own state is not set back. In the body of a loop within a traced function (scan), and
    where nothing records, it is the plain call.

    Args:
        function: a function, or a module
        args, kwargs: anything; tensors, any[*D] each, in nested tuples, lists and dicts

    Returns:
        what the function returns, with its shapes and dtypes

    Raises:
        ValueError: tensors that the function reads must not be written in place until the gradient
            is taken; the function must return the same shapes and dtypes when it runs again

    Example:
        >>> import tessera as ts
        >>> from tessera.autodiff import checkpoint
        >>> from tessera.autodiff import grad
        >>> grad(lambda x: checkpoint(lambda t: t * t * t, x))(ts.tensor(2.0)).item()
        12.0
    """
    if args or kwargs:
        return _call(function, args, kwargs)

    @functools.wraps(function)
    def _checkpointed(*args, **kwargs):
        return _call(function, args, kwargs)

    return _checkpointed


def _call(function, args, kwargs):
    if not _core.num_tapes():
        return function(*args, **kwargs)
    leaves, structure = flatten((args, kwargs))
    is_tensor = [isinstance(leaf, Tensor) for leaf in leaves]
    call = _core.Recomputation([leaf for leaf in leaves if isinstance(leaf, Tensor)])
    others = [None if each else leaf for leaf, each in zip(leaves, is_tensor, strict=True)]
    try:
        results, shape = flatten(function(*args, **kwargs))
        call.read(_tensors(results))
        results = [leaf.detach() if isinstance(leaf, Tensor) else leaf for leaf in results]
    finally:
        call.end()

    def _again():
        given = iter(call.begin())
        try:
            pairs = zip(others, is_tensor, strict=True)
            new_args, new_kwargs = unflatten(
                structure, [next(given) if each else leaf for leaf, each in pairs]
            )
            value = function(*new_args, **new_kwargs)
        finally:
            call.finish()
        return _tensors(flatten(value)[0])

    call.record(_tensors(results), _again)
    return unflatten(shape, results)


def _tensors(leaves):
    return [leaf for leaf in leaves if isinstance(leaf, Tensor)]
