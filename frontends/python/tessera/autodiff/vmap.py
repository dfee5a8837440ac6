"""vmap: a function of elements as one of whole tensors."""

import functools

from .. import _core
from .._core import ops
from .._tree import flatten, tensor_leaves, unflatten
from ..tensor import Tensor
from ._mapping import Mapping
from .modes import cast_as


def vmap(fun, in_axes=0, out_axes=0):
    """A function that applies `fun` to each element of its arguments, and stacks the results.

    `fun` is called once, on tensors that have shapes and no values; its operators are then applied
    to all elements at once, by what the records say of axes. An operator for which no rule is known
    runs element by element. So does the whole function, which is called again for that, where it
    draws random numbers, updates tensors, looks at values or contains loops. The results are those
    of the loop; matrix products and convolutions, which libraries compute, may differ by rounding.

    It works within grad, jvp and traced functions, and on functions that use these, or vmap:
    `vmap(grad(loss), in_axes=(None, 0))` gives a gradient for each sample. Meaning and names are
    those of JAX's vmap.

    Args:
        fun: a function of tensors, in nested tuples, lists and dicts, that returns such
        in_axes: the axis of the elements, or a tuple or list with one for each argument; None: the
            argument is the same for each element. In the place of a number there may be the
            containers of the argument. Keyword arguments have axis 0; what is no tensor is the same
            for each
        out_axes: the axis of the elements in the results, as a number or in the containers of the
            result; None: of a result that is the same for each element

    Returns:
        a function of the same arguments, any[*D] each with one more axis, whose results have one
        more axis, too, and the dtypes of fun's

    Raises:
        ValueError: arguments must have equally many elements, one at least must be mapped, axes
            must be those of the tensors; results must have one shape
        TypeError: results must be tensors; in_axes and out_axes must have the containers of what
            they stand for

    Example:
        >>> import tessera as ts
        >>> from tessera.autodiff import vmap
        >>> vmap(lambda x, y: (x * y).sum(), in_axes=(0, None))(
        ...     ts.tensor([[1.0, 2.0], [3.0, 4.0]]), ts.tensor([1.0, 10.0])
        ... ).tolist()
        [21.0, 43.0]
    """

    @functools.wraps(fun)
    def _mapped(*args, **kwargs):
        axes = in_axes if isinstance(in_axes, (tuple, list)) else (in_axes,) * len(args)
        if len(axes) != len(args):
            raise ValueError(
                f"vmap: in_axes must have an entry for each argument, got {len(axes)} for "
                f"{len(args)}"
            )
        leaves, structure = flatten((args, kwargs))
        places = [_spread("in_axes", a, structure_of) for a, structure_of in
                  zip(axes, structure[2][0][2], strict=True)]  # fmt: skip
        places = [axis for each in places for axis in each]
        places += [0] * (len(leaves) - len(places))
        return _Elements(fun, leaves, structure, places).map(out_axes)

    return _mapped


def _spread(name, axes, structure):
    """The axis of each leaf of `structure`, of which `axes` has the outer containers."""
    if axes is None or isinstance(axes, int):
        return [axes] * _count(structure)
    kind, keys, children = structure if isinstance(structure, tuple) else (None, None, ())
    items = list(axes.values()) if isinstance(axes, dict) else axes
    same = tuple(axes) == keys if isinstance(axes, dict) else isinstance(axes, (tuple, list))
    if kind is None or not same or len(items) != len(children):
        raise TypeError(f"vmap: {name} must have the containers of its arguments, got {axes!r}")
    return [a for item, child in zip(items, children, strict=True)
            for a in _spread(name, item, child)]  # fmt: skip


def _count(structure):
    return sum(map(_count, structure[2])) if isinstance(structure, tuple) else 1


class _Elements:
    """One call: its arguments, of which those that are mapped have the elements along axis 0."""

    def __init__(self, fun, leaves, structure, places):
        self.fun, self.structure = fun, structure
        self.mapped = [
            axis is not None and isinstance(leaf, Tensor)
            for leaf, axis in zip(leaves, places, strict=True)
        ]
        self.leaves = [
            _to_front(leaf, axis) if is_mapped else leaf
            for leaf, axis, is_mapped in zip(leaves, places, self.mapped, strict=True)
        ]
        self.tensors = [
            t for t, is_mapped in zip(self.leaves, self.mapped, strict=True) if is_mapped
        ]
        sizes = [int(tensor.shape[0]) for tensor in self.tensors]
        if not sizes:
            raise ValueError("vmap: at least one tensor must be mapped, got none")
        if len(set(sizes)) != 1:
            raise ValueError(f"vmap: arguments must have equally many elements, got {sizes}")
        self.size = sizes[0]

    def map(self, out_axes):
        """The results, stacked."""
        recorded = self._record()
        if recorded is None:
            results, structure = self._loop()
        else:
            mapping, structure = recorded
            with cast_as((False, *_core.autocast()[1:])):  # its casts are recorded
                results = mapping.apply(self.tensors, self.size)
        axes = _spread("out_axes", out_axes, structure)
        stacked = [
            _placed(tensor, is_mapped, axis, self.size)
            for (tensor, is_mapped), axis in zip(results, axes, strict=True)
        ]
        return unflatten(structure, stacked)

    def _record(self):
        """What the function does to one element, and the containers of its results; None: that
        cannot be told without values.
        """
        arguments = [
            _core.valueless_tensor(list(map(int, t.shape[1:])), t.dtype, str(t.device))
            for t in self.tensors
        ]
        body = _core.Body(arguments)
        try:
            results, structure = _called(self.fun, self._given(arguments))
            recording = body.end(results)
            mapping = recording and Mapping(recording)
        except Exception:  # the loop says what of this is an error
            return None
        finally:
            body.abandon()
        return (mapping, structure) if mapping and mapping.is_possible() else None

    def _given(self, elements):
        """The arguments of the function, with `elements` in the places of what is mapped."""
        rest = iter(elements)
        pairs = zip(self.leaves, self.mapped, strict=True)
        return unflatten(self.structure, [next(rest) if m else leaf for leaf, m in pairs])

    def _loop(self):
        if not self.size:
            raise ValueError(
                "vmap: there must be an element for a function that needs values, got none"
            )
        rows, structure = [], None
        for index in range(self.size):
            leaves, own = _called(self.fun, self._given([t[index] for t in self.tensors]))
            if structure is not None and own != structure:
                raise ValueError(
                    f"vmap: results must be in the same containers for each element, got "
                    f"{structure} and {own}"
                )
            rows, structure = [*rows, leaves], own
        return [(_stacked(column), True) for column in zip(*rows, strict=True)], structure


def _called(fun, given):
    args, kwargs = given
    return tensor_leaves("vmap", "results", fun(*args, **kwargs))


def _stacked(elements):
    shapes = {tuple(each.shape) for each in elements}
    if len(shapes) != 1:
        raise ValueError(
            f"vmap: results must have one shape for each element, got {sorted(shapes)}"
        )
    return ops.stack(list(elements), 0)


def _axis_of(name, axis, rank):
    if not -rank <= axis < rank:
        raise ValueError(f"vmap: {name} must be in [{-rank}, {rank - 1}], got {axis}")
    return axis % rank


def _to_front(tensor, axis):
    axis = _axis_of("in_axes", axis, tensor.ndim)
    return _moved(tensor, axis, 0)


def _placed(tensor, is_mapped, axis, size):
    """A result with its elements along `axis`."""
    if axis is None:
        if is_mapped:
            raise ValueError(
                "vmap: out_axes must be a number for a result that depends on the element, got None"
            )
        return tensor
    if not is_mapped:
        tensor = ops.broadcast_to(tensor, (size, *tensor.shape))
    return _moved(tensor, 0, _axis_of("out_axes", axis, tensor.ndim))


def _moved(tensor, source, target):
    if source == target:
        return tensor
    order = [axis for axis in range(tensor.ndim) if axis != source]
    order.insert(target, source)
    return ops.transpose(tensor, order)
