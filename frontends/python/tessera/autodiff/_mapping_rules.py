"""How operators are applied to many elements at once: the elements lie along a new first axis, and
what the record says of axes says how attributes follow.
"""

import re

from .._core import ops
from ..functional._making import made

# Attributes with an entry for each axis, and that of the new one; "size": all elements.
_PER_AXIS = {"starts": 0, "stops": "size", "steps": 1, "low": 0, "high": 0}


def of(call):
    """The rules that may apply, the cheapest first."""
    record = call.record
    if record["maps_batch"]:
        return [batched]
    if record["view"]:
        return [_VIEWS[record["view"]]]
    if record["lowering"] == "elementwise":
        return [] if record["counts_elements"] else [beside, whole]
    if record["lowering"] == "reduction":
        return [reduction]
    if record["lowering"] in ("compute", "movement", "lookup", "scatter"):
        return [whole]
    if record["name"] in _INDEXED:
        return [_INDEXED[record["name"]]]
    if record["module"] == "functional.conv":
        return [folded, grouped]
    if record["module"] == "functional.pool":
        return [folded]
    return [beside, whole] if _has_leading_packs(record) else []


def _has_leading_packs(record):
    """Whether each operand and result may have any number of axes in front."""
    shapes = re.findall(r"\(([^)]*)\)", record["signature"])
    return bool(shapes) and all(shape.startswith("*") for shape in shapes)


def _shifted(call):
    """The attributes, for operands with one more axis in front."""
    attributes = dict(call.attributes)
    for fact in call.record["attrs"]:
        name, value = fact["name"], attributes[fact["name"]]
        if fact["axis_of"] >= 0 and value is not None:
            attributes[name] = [_behind(v) for v in value] if _is_list(value) else _behind(value)
        if name in _PER_AXIS and (value or name != "steps"):
            first = _PER_AXIS[name]
            attributes[name] = [call.size if first == "size" else first, *value]
    return attributes


def _is_list(value):
    return isinstance(value, (list, tuple))


def _behind(axis):
    return axis + 1 if axis >= 0 else axis


def _aligned(tensor, shape, rank):
    """A mapped operand whose elements have `rank` axes, units in front of `shape`."""
    units = (1,) * (rank - len(shape))
    return ops.reshape(tensor, (tensor.shape[0], *units, *shape)) if units else tensor


def _repeated(call, number):
    """An operand with all elements, those of one that is not mapped alike."""
    tensor, (shape, _) = call.tensors[number], call.operands[number]
    return tensor if call.mapped[number] else ops.broadcast_to(tensor, (call.size, *shape))


def beside(call):
    """Operands that are not mapped broadcast."""
    rank = max(len(shape) for shape, _ in call.operands)
    tensors = [
        _aligned(tensor, shape, rank) if mapped else tensor
        for tensor, mapped, (shape, _) in zip(call.tensors, call.mapped, call.operands, strict=True)
    ]
    return call.apply(tensors, _shifted(call))


def whole(call):
    """Operands that are not mapped are repeated."""
    rank = max(len(shape) for shape, _ in call.operands)
    tensors = [
        _aligned(_repeated(call, number), shape, rank)
        for number, (shape, _) in enumerate(call.operands)
    ]
    return call.apply(tensors, _shifted(call))


def batched(call):
    """An operator that computes elements along a new first axis by itself."""
    tensors = [_repeated(call, number) for number in range(len(call.tensors))]
    return call.apply(tensors, call.attributes)


def reduction(call):
    """Over the axes of the elements; no axes stand for all of them."""
    (shape, _) = call.operands[0]
    attributes = _shifted(call)
    if attributes.get("axes") == []:
        attributes["axes"] = list(range(1, len(shape) + 1))
    if not shape:
        return _of_numbers(call, attributes)
    return call.apply(call.tensors, attributes)


def _of_numbers(call, attributes):
    """Of elements of rank 0, which get an axis."""
    name = "axes" if "axes" in attributes else "axis"
    attributes |= {name: [1] if name == "axes" else 1, "keepdims": False}
    return call.apply([ops.expand_dims(call.tensors[0], 1)], attributes)


def reshape(call):
    """The elements keep their order."""
    return [ops.reshape(call.tensors[0], (call.size, *call.results[0][0]))]


def broadcast(call):
    """Missing axes come in front of those of the element."""
    if not call.mapped[0]:
        return None
    shape = call.results[0][0]
    x = _aligned(call.tensors[0], call.operands[0][0], len(shape))
    return [ops.broadcast_to(x, (call.size, *shape))]


def permute(call):
    """A list of axes names all of them."""
    attributes = _shifted(call)
    for name, value in attributes.items():
        if _is_list(value):
            attributes[name] = [0, *value] if value else [0, *range(len(call.results[0][0]), 0, -1)]
    return call.apply(call.tensors, attributes)


def region(call):
    """A slice takes all elements."""
    return call.apply(call.tensors, _shifted(call))


_VIEWS = {
    "reshape": reshape,
    "unit_axes": reshape,
    "broadcast": broadcast,
    "permute": permute,
    "slice": region,
}


def folded(call):
    """Elements become samples of one batch: the first two axes are one."""
    shapes = [shape for shape, _ in call.operands]
    images = _are_images(call)
    pairs = zip(call.mapped, images, strict=False)
    if not images[-1] or any(mapped and not image for mapped, image in pairs):
        return None
    tensors = [
        ops.reshape(_repeated(call, i), (call.size * shape[0], *shape[1:])) if image else tensor
        for i, (tensor, shape, image) in enumerate(zip(call.tensors, shapes, images, strict=False))
    ]
    results = call.apply(tensors)
    return [
        ops.reshape(result, (call.size, *shape))
        for result, (shape, _) in zip(results, call.results, strict=True)
    ]


def _are_images(call):
    """For each operand, then for the result, whether its first axis is that of samples."""
    if call.record["module"] != "functional.conv":
        return [True] * (len(call.operands) + 1)
    is_weight_gradient = call.record["name"].endswith("_backward_weight")
    weights = {"weight", "like"} if is_weight_gradient else {"weight"}
    return [name not in weights for name, _, _ in call.record["operands"]] + [
        not is_weight_gradient
    ]


def grouped(call):
    """Each element is a group of channels of its own."""
    images = _are_images(call)
    tensors = [
        _as_groups(_repeated(call, i), shape, image)
        for i, ((shape, _), image) in enumerate(zip(call.operands, images, strict=False))
    ]
    groups = call.attributes["groups"] * call.size
    (result,) = call.apply(tensors, {**call.attributes, "groups": groups})
    (shape, _) = call.results[0]
    if not images[-1]:
        return [ops.reshape(result, (call.size, *shape))]
    parts = ops.reshape(result, (shape[0], call.size, *shape[1:]))
    return [ops.swapaxes(parts, 0, 1)]


def _as_groups(tensor, shape, is_image):
    if is_image:
        tensor = ops.swapaxes(tensor, 0, 1)
        return ops.reshape(tensor, (shape[0], tensor.shape[1] * shape[1], *shape[2:]))
    return ops.reshape(tensor, (tensor.shape[0] * shape[0], *shape[1:]))


def _places(call, first):
    """The indices from operand `first` on, with one along the new axis; and their number of axes.

    Indices that are no neighbours stand first in the result, as those along the new axis and
    another do.
    """
    shapes = [shape for shape, _ in call.operands[first:]]
    rank = max(len(shape) for shape in shapes)
    own = ops.reshape(
        made(call.tensors[0].device, ops.arange, call.size, 0, 1, "int32"),
        (call.size, *(1,) * rank),
    )
    indices = [
        _aligned(tensor, shape, rank) if mapped else tensor
        for tensor, mapped, shape in zip(
            call.tensors[first:], call.mapped[first:], shapes, strict=True
        )
    ]
    return [own, *indices], rank


def _stand_at(call):
    """The axis of one element's result at which those of the indices begin."""
    axes, rank = call.attributes["axes"], len(call.operands[0][0])
    axes = [axis + rank if axis < 0 else axis for axis in axes]
    is_run = axes == list(range(axes[0], axes[0] + len(axes)))
    return axes, axes[0] if is_run else 0


def _order(at, rank, total):
    """Where the axes of an element's result lie when those of the indices come first."""
    return [0, *range(1 + rank, 1 + rank + at), *range(1, 1 + rank), *range(1 + rank + at, total)]


def index_get(call):
    """One more index, along the elements."""
    indices, rank = _places(call, 1)
    axes, at = _stand_at(call)
    tensors = [_repeated(call, 0), *indices]
    (result,) = call.apply(tensors, {"axes": [0, *(axis + 1 for axis in axes)]})
    if at == 0:
        return [result]
    return [ops.transpose(result, _order(at, rank, len(result.shape)))]


def index_write(call):
    """As index_get; the values lie as its result does."""
    indices, rank = _places(call, 2)
    axes, at = _stand_at(call)
    kept = [size for axis, size in enumerate(call.operands[0][0]) if axis not in axes]
    places = _broadcast_shape([shape for shape, _ in call.operands[2:]])
    full = [*kept[:at], *places, *kept[at:]]
    value = _aligned(_repeated(call, 1), call.operands[1][0], len(full))
    value = ops.broadcast_to(value, (call.size, *full))
    if at:
        order = _order(at, rank, len(full) + 1)
        value = ops.transpose(value, [order.index(axis) for axis in range(len(order))])
    tensors = [_repeated(call, 0), value, *indices]
    return call.apply(tensors, {"axes": [0, *(axis + 1 for axis in axes)]})


def _broadcast_shape(shapes):
    rank = max(len(shape) for shape in shapes)
    padded = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    return [next((size for size in sizes if size != 1), 1) for sizes in zip(*padded, strict=True)]


_INDEXED = {"index_get": index_get, "index_set": index_write, "index_add": index_write}
