"""Derivatives of functions of several values: jvp, jacobian, hessian."""

import functools
import math

from .. import _core
from .._core import ops
from .._tree import flatten, tensor_leaves, unflatten
from ..functional._making import made
from .modes import no_grad, recording
from .vmap import vmap

_DIFFERENTIABLE = "fc"  # kinds of dtypes, beside bfloat16


def _is_differentiable(tensor):
    return tensor.dtype.kind in _DIFFERENTIABLE or tensor.dtype.name == "bfloat16"


def _is_real(tensor):
    return _is_differentiable(tensor) and tensor.dtype.kind != "c"


def _variables(name, what, tree):
    """As tensor_leaves, as variables of their own through which gradients from outside go."""
    leaves, structure = tensor_leaves(name, what, tree)
    for leaf in leaves:
        if not _is_differentiable(leaf):
            raise TypeError(f"{name}: {what} must be floats or complex, got {_meta(leaf)}")
    return _core.apart(leaves), structure


def _meta(tensor):
    return f"{tensor._dtype_key}{list(map(int, tensor.shape))}"


def jvp(fun, primals, tangents):
    """`fun(*primals)`, and its derivative along `tangents`.

    There is no forward mode: the gradient of vjp is linear in what it is given, and its own
    gradient by that, along the tangents, is the derivative (J. Townsend: A new trick for
    calculating Jacobian vector products, 2017). It takes what two gradients take.

    Args:
        fun: a function of tensors in nested tuples, lists and dicts, that returns such
        primals: its arguments, as a tuple or list: float[*D] each
        tangents: one for each tensor of primals, in the same containers, of its shape and dtype

    Returns:
        the results of fun, and the derivatives in the same containers: of an integer's or bool's
        result zeros

    Raises:
        TypeError: primals must be floats or complex; tangents must have their containers
        ValueError: tangents must have the shapes and dtypes of primals
        NotImplementedError: an operator on the way has no gradient, or its gradient has none

    Example:
        >>> import tessera as ts
        >>> from tessera.autodiff import jvp
        >>> one = ts.tensor([1.0])
        >>> y, dy = jvp(lambda a, b: a * b, (ts.tensor([2.0]), ts.tensor([5.0])), (one, one))
        >>> y.tolist(), dy.tolist()
        ([10.0], [7.0])
    """
    _check_sequence("primals", primals)
    _check_sequence("tangents", tangents)
    inputs, structure = _variables("jvp", "primals", tuple(primals))
    along, own = tensor_leaves("jvp", "tangents", tuple(tangents))
    if own != structure:
        raise TypeError(
            f"jvp: tangents must have the containers of primals, got {own} for {structure}"
        )
    if [_meta(t) for t in along] != [_meta(x) for x in inputs]:
        raise ValueError(
            "jvp: tangents must have the shapes and dtypes of primals, got "
            f"{', '.join(map(_meta, along))} for {', '.join(map(_meta, inputs))}"
        )
    with recording([]) as outer:
        results, seeds, grads = _gradients_of_seeds(fun, inputs, structure, outer)
        pairs = [(g, t) for g, t in zip(grads, along, strict=True) if g is not None]
        derivatives = outer.backward([g for g, _ in pairs], [t for _, t in pairs])
    return _with_derivatives(results, seeds, derivatives)


def _check_sequence(what, given):
    if not isinstance(given, (tuple, list)):
        raise TypeError(f"jvp: {what} must be a tuple or list, got {type(given).__name__}")


def _gradients_of_seeds(fun, inputs, structure, outer):
    """(results with containers, seeds, gradients of inputs), which `outer` records of the seeds."""
    with recording(inputs) as inner:
        results = tensor_leaves("jvp", "results", fun(*unflatten(structure, inputs)))
        floats = [leaf for leaf in results[0] if _is_differentiable(leaf)]
        with no_grad():
            # Seeds of 0 would leave out infinite slopes.
            seeds = [ops.ones_like(leaf) for leaf in floats]
        outer.attach(seeds)
        return results, seeds, inner.backward(floats, seeds)


def _with_derivatives(results, seeds, derivatives):
    leaves, structure = results
    known = iter(zip(seeds, derivatives, strict=True))
    tangents = []
    for leaf in leaves:
        derivative = next(known)[1] if _is_differentiable(leaf) else None
        tangents.append(ops.zeros_like(leaf) if derivative is None else derivative)
    return unflatten(structure, leaves), unflatten(structure, tangents)


def jacobian(fun, argnums=0):
    """A function that returns the derivatives of all results of `fun` by all elements of arguments.

    By gradients: `vmap` of the gradient along each element of the results, for which `fun` runs
    once. A function that draws random numbers, updates tensors or looks at values runs for each
    element, with the draws and the values of the first time; it changes what it changes once.

    Args:
        fun: a function of tensors in nested tuples, lists and dicts, that returns such
        argnums: which arguments, an int or several: float[*D] each

    Returns:
        a function with the arguments of fun. In the place of each tensor of fun's result it has the
        containers of the argument (a tuple for several argnums) with tensors of the shape of the
        result's tensor, then that of the argument's, and the dtype of the latter

    Raises:
        TypeError: results and the arguments must be floats
        NotImplementedError: an operator on the way has no gradient

    Example:
        >>> import tessera as ts
        >>> from tessera.autodiff import jacobian
        >>> jacobian(lambda x: x * x.sum())(ts.tensor([1.0, 2.0])).tolist()
        [[4.0, 1.0], [2.0, 5.0]]
    """

    @functools.wraps(fun)
    def _with_jacobian(*args, **kwargs):
        numbers = [argnums] if isinstance(argnums, int) else list(argnums)
        chosen = args[argnums] if isinstance(argnums, int) else tuple(args[n] for n in numbers)
        inputs, structure = _variables("jacobian", "arguments", chosen)

        def _of_inputs():
            new = unflatten(structure, inputs)
            new = dict(zip(numbers, [new] if isinstance(argnums, int) else new, strict=True))
            return fun(*[new.get(n, each) for n, each in enumerate(args)], **kwargs)

        return _Jacobian(_of_inputs, inputs, structure).tensors()

    return _with_jacobian


class _Jacobian:
    """The derivatives of `fun()` by `inputs`, variables that it reads."""

    def __init__(self, fun, inputs, structure):
        self.fun, self.inputs, self.structure = fun, inputs, structure
        self.first = None  # the first call, where others must repeat it
        leaves, self.own = self._inferred() or self._called()
        self.shapes = [tuple(map(int, leaf.shape)) for leaf in leaves]
        for leaf in [*leaves, *inputs]:
            if not _is_real(leaf):
                what = "arguments" if any(leaf is each for each in inputs) else "results"
                raise TypeError(f"jacobian: {what} must be floats, got {_meta(leaf)}")

    def _inferred(self):
        """The results without values; None: the function does more than its operators."""
        body = _core.Body([])
        try:
            leaves = tensor_leaves("jacobian", "results", self.fun())
            return leaves if body.end(leaves[0]) else None
        except Exception:  # the second call says what of this is an error
            return None
        finally:
            body.abandon()

    def _called(self):
        self.first = _core.Recomputation([])
        try:
            return tensor_leaves("jacobian", "results", self.fun())
        finally:
            self.first.end()

    def _again(self):
        if self.first is None:
            return flatten(self.fun())[0]
        self.first.begin()
        try:
            return flatten(self.fun())[0]
        finally:
            self.first.finish()

    def _gradients(self, number):
        """Of the element with this number of all results' elements."""
        with recording(self.inputs) as state:
            leaves = self._again()
            with no_grad():
                seeds = _one_hot(leaves, number)
            grads = state.backward(leaves, seeds)
        return [
            ops.zeros_like(x) if grad is None else grad
            for x, grad in zip(self.inputs, grads, strict=True)
        ]

    def _rows(self, count):
        """The gradients of all elements of the results, for each input."""
        if not count:
            return [ops.reshape(ops.zeros_like(x), (1, *x.shape))[:0] for x in self.inputs]
        if self.first is not None:
            rows = [self._gradients(number) for number in range(count)]
            return [ops.stack(list(column), 0) for column in zip(*rows, strict=True)]
        numbers = made(self.inputs[0].device, ops.arange, count, 0, 1, "int32")
        return vmap(self._gradients)(numbers)

    def tensors(self):
        """In the containers of the results, those of the arguments."""
        counts = [math.prod(shape) for shape in self.shapes]
        rows = self._rows(sum(counts))
        parts, first = [], 0
        for shape, count in zip(self.shapes, counts, strict=True):
            leaves = [
                ops.reshape(row[first : first + count], (*shape, *x.shape))
                for row, x in zip(rows, self.inputs, strict=True)
            ]
            parts.append(unflatten(self.structure, leaves))
            first += count
        return unflatten(self.own, parts)


def _one_hot(leaves, number):
    """Tensors like the leaves, all zeros but for the element with this number."""
    seeds, first = [], 0
    for leaf in leaves:
        count = math.prod(leaf.shape)
        places = made(leaf.device, ops.arange, count, first, 1, "int32")
        seeds.append(ops.reshape((places == number).astype(leaf.dtype), leaf.shape))
        first += count
    return seeds


def hessian(fun, argnums=0):
    """A function that returns the second derivatives of `fun`: the jacobian of its jacobian.

    Args:
        fun, argnums: as of jacobian

    Returns:
        a function with the arguments of fun. For each tensor of fun's result, and each two tensors
        of the arguments in their containers, it has a tensor whose shape is those of the three, in
        this order, and the dtype of the last

    Raises:
        TypeError: results and the arguments must be floats
        NotImplementedError: an operator on the way has no gradient, or its gradient has none

    Example:
        >>> import tessera as ts
        >>> from tessera.autodiff import hessian
        >>> hessian(lambda x: (x * x * x).sum())(ts.tensor([1.0, 2.0])).tolist()
        [[6.0, 0.0], [0.0, 12.0]]
    """
    return jacobian(jacobian(fun, argnums), argnums)
