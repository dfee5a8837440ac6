"""What a module takes: parameters, operations and activations, layer by layer."""

import functools
import math
from collections import namedtuple
from collections.abc import Mapping

import numpy as np

from .. import module as M  # noqa: N812
from .._foreign_dtypes import as_dtype, numbers_of
from ..autodiff import no_grad
from ..functional import zeros
from ..module.batchnorm import _BatchNorm
from ..module.conv import _Conv
from ..module.normalization import _Norm
from ..tensor import Tensor

__all__ = ["module_stats", "register_flops", "sizeof_fmt"]

_flops = {}  # rules by class of module

_COLUMNS = {
    "params": "name dtype shape mean std param_dim nbits size size_cum percentage size_bar",
    "flops": "name class_name input_shapes output_shapes flops flops_cum percentage bar",
    "activations": "name class_name dtype shape mean std nbits act_dim size size_cum percentage "
    "size_bar",
}

total_stats = namedtuple("total_stats", "param_size param_dims flops act_size act_dims")
stats_details = namedtuple("module_stats", "params flops activations")


def register_flops(*modules):
    """Decorates a function of (module, inputs, outputs), tuples of tensors, which counts the
    operations of a call of these classes and of those below them.

    >>> import tessera.module as M
    >>> from tessera.utils.module_stats import module_stats, register_flops
    >>> class Twice(M.Module):
    ...     def forward(self, x):
    ...         return x * 2
    >>> @register_flops(Twice)
    ... def flops_twice(module, inputs, outputs):
    ...     return inputs[0].size
    >>> module_stats(Twice(), input_shapes=(2, 3), logging_to_stdout=False)[0].flops
    6
    """

    def _register(rule):
        _flops.update(dict.fromkeys(modules, rule))
        return rule

    return _register


@register_flops(_Conv)
def _flops_of_convolution(module, _, outputs):
    each = module.in_channels // module.groups * math.prod(module.kernel_size)
    return outputs[0].size * (each + (module.bias is not None))


@register_flops(M.Linear)
def _flops_of_linear(module, _, outputs):
    bias = 0 if module.bias is None else module.out_features
    return outputs[0].size * module.in_features + bias


@register_flops(_BatchNorm, _Norm)
def _flops_of_norm(_, inputs, __):
    return inputs[0].size * 7


@register_flops(M.MaxPool2d, M.AvgPool2d)
def _flops_of_pool(module, _, outputs):
    size = module.kernel_size
    return outputs[0].size * (size * size if isinstance(size, int) else math.prod(size))


@register_flops(M.AdaptiveAvgPool2d)
def _flops_of_adaptive_pool(_, inputs, outputs):
    sizes = zip(inputs[0].shape[2:], outputs[0].shape[2:], strict=True)
    return outputs[0].size * math.prod(size - (n - 1) * (size // n) for size, n in sizes)


@register_flops(M.MultiHeadAttention)
def _flops_of_attention(module, inputs, _):
    query, key, value = inputs[:3]
    width = module.embed_dim
    projections = (2 * query.size + key.size + value.size) * width
    return projections + 2 * math.prod(query.shape[:-1]) * key.shape[-2] * width


def sizeof_fmt(num, suffix="B"):
    """`num` with a unit: powers of 1024 for bytes, of 1000 for all else.

    >>> from tessera.utils.module_stats import sizeof_fmt
    >>> sizeof_fmt(2048), sizeof_fmt(1500, suffix="OPs"), sizeof_fmt(7, suffix="")
    ('2.000 KiB', '1.500 KOPs', '7.000 ')
    """
    step, infix = (1024, "i") if suffix == "B" else (1000, "")
    units = ["", *(f"{unit}{infix}" for unit in "KMGTPEZY")]
    power = 0
    while abs(num) >= step and power + 1 < len(units):
        num, power = num / step, power + 1
    return f"{num:.3f} {units[power]}{suffix}"


def module_stats(model, inputs=None, input_shapes=None, cal_params=True, cal_flops=True,
                 cal_activations=True, logging_to_stdout=True, bar_length_max=20):  # fmt: skip
    """Runs `model` once, in inference, and counts what its layers take; prints it as tables.

    Convolutions, Linear, normalisations, poolings and attention are counted, with what
    `register_flops` adds, by MegEngine's rules: a product and its sum are one operation, an element
    normalised is 7, an element of a pooling's result is one for each element of its window.
    A layer called twice counts twice, a parameter in several places once.

    Args:
        model: a Module
        inputs: an array or tensor, or a list or tuple of these, dicts and lists of them: the
            arguments of the model
        input_shapes: instead of inputs a shape, or a list of shapes, of float32 zeros
        cal_params, cal_flops, cal_activations: what is counted
        logging_to_stdout: tables are printed
        bar_length_max: characters of the longest bar

    Returns:
        (totals, details): totals has param_size and act_size in bytes, param_dims and act_dims in
        elements, and flops; details has params, flops and activations, lists of dicts whose last
        one is named "total"

    Raises:
        ValueError: inputs or input_shapes must be given
        TypeError: model must be a Module

    Example:
        >>> import tessera.module as M
        >>> from tessera.utils.module_stats import module_stats
        >>> net = M.Sequential(M.Linear(3, 4), M.ReLU(), M.Linear(4, 1))
        >>> totals, details = module_stats(net, input_shapes=(2, 3), logging_to_stdout=False)
        >>> totals
        total_stats(param_size=84, param_dims=21, flops=37, act_size=40, act_dims=10)
        >>> [row["name"] for row in details.flops]
        ['0', '2', 'total']
    """
    if not isinstance(model, M.Module):
        raise TypeError(f"module_stats: model must be a Module, got {type(model).__name__}")
    arguments = _arguments(inputs, input_shapes)
    calls = _calls_of(model, arguments)
    rows = stats_details([], [], [])
    if cal_params:
        rows.params.extend(_param_row(*each) for each in model.named_parameters())
    for name, module, rule, given, results in calls:
        row = {"name": name, "class_name": type(module).__name__}
        if cal_flops:
            shapes = {"input_shapes": _shapes(given), "output_shapes": _shapes(results)}
            rows.flops.append({**row, **shapes, "flops_num": int(rule(module, given, results))})
        if cal_activations:
            rows.activations.append({**row, **_facts(results[0], "act_dim", inputs is not None)})
    totals = _add_up(rows, bar_length_max)
    if logging_to_stdout:
        _print_tables(rows, totals, (cal_params, cal_flops, cal_activations))
    return totals, rows


def _arguments(inputs, shapes):
    if inputs is not None:
        return [_tensors(each) for each in (inputs if type(inputs) in (list, tuple) else [inputs])]
    if not shapes:
        raise ValueError(
            f"module_stats: inputs or input_shapes must be given, got {inputs} and {shapes}"
        )
    one = not isinstance(shapes[0], (list, tuple))
    return [zeros(tuple(shape)) for shape in ([shapes] if one else shapes)]


def _tensors(value):
    if isinstance(value, Mapping):
        return {key: _tensors(each) for key, each in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_tensors, value))
    if isinstance(value, (list, tuple)):
        return type(value)(map(_tensors, value))
    return value if isinstance(value, Tensor) else Tensor(value)


def _rule_of(module):
    """What counts the operations of the module: the rule of its nearest class."""
    return next((_flops[cls] for cls in type(module).__mro__ if cls in _flops), None)


def _calls_of(model, arguments):
    """(name, module, rule, inputs, outputs) of each call of a layer that has a rule."""
    calls, modes, handles = [], {}, []

    def _note(module, given, results, name, rule):
        results = results if isinstance(results, (list, tuple)) else (results,)
        calls.append((name, module, rule, given, results))

    try:
        for name, module in model.named_modules():
            modes[module] = module.training
            if rule := _rule_of(module):
                hook = functools.partial(_note, name=name, rule=rule)
                handles.append(module.register_forward_hook(hook))
        model.eval()
        with no_grad():
            model(*arguments)
    finally:
        for handle in handles:
            handle.remove()
        for module, mode in modes.items():
            module.training = mode
    return calls


def _shapes(values):
    return [each.shape for each in values if isinstance(each, Tensor)]


def _facts(tensor, count, has_values):
    """Columns of a tensor; `count` names that of its elements."""
    dtype = as_dtype(tensor.dtype)
    bits = dtype.itemsize * 8
    facts = {"dtype": dtype, "shape": tensor.shape, count: tensor.size}
    facts.update(nbits=bits, size_num=tensor.size * bits // 8)
    if has_values and tensor.size:
        values = numbers_of(tensor).astype(np.float64)
        facts.update(mean=f"{values.mean():.3g}", std=f"{values.std():.3g}")
    return facts


def _param_row(name, tensor):
    return {"name": name, **_facts(tensor, "param_dim", True)}


def _add_up(rows, longest):
    """Fills the columns that depend on all rows, and appends the totals."""
    size = _shares(rows.params, "size", "B", "size_bar", longest)
    flops = _shares(rows.flops, "flops", "OPs", "bar", longest)
    act_size = _shares(rows.activations, "size", "B", "size_bar", longest)
    dims = sum(row["param_dim"] for row in rows.params)
    act_dims = sum(row["act_dim"] for row in rows.activations)
    rows.params.append({"name": "total", "param_dim": dims, "size": sizeof_fmt(size)})
    rows.flops.append({"name": "total", "flops": sizeof_fmt(flops, "OPs")})
    rows.activations.append({"name": "total", "act_dim": act_dims, "size": sizeof_fmt(act_size)})
    return total_stats(size, dims, flops, act_size, act_dims)


def _shares(rows, key, suffix, bar, longest):
    """Writes numbers of `key` with units, as shares and as bars; the sum."""
    numbers = [row[f"{key}_num"] for row in rows]
    total, largest, so_far = sum(numbers), max(numbers, default=0), 0
    for row, number in zip(rows, numbers, strict=True):
        so_far += number
        row[key], row[f"{key}_cum"] = sizeof_fmt(number, suffix), sizeof_fmt(so_far, suffix)
        row["ratio"] = number / total if total else 0.0
        row["percentage"] = f"{row['ratio']:.2%}"
        row[bar] = "#" * (number * longest // largest if largest else 0)
    return total


def _print_tables(rows, totals, wanted):
    for (what, columns), is_wanted in zip(_COLUMNS.items(), wanted, strict=True):
        if is_wanted:
            print(f"{what}\n{_table(getattr(rows, what), columns.split())}\n")
    print("summary")
    for name, value in totals._asdict().items():
        suffix = "B" if "size" in name else "OPs" if name == "flops" else ""
        print(f"  {name:<12}{sizeof_fmt(value, suffix).strip()}")


def _table(rows, columns):
    """The columns that any row has, aligned."""
    columns = [each for each in columns if any(each in row for row in rows)]
    cells = [columns, *([str(row.get(each, "")) for each in columns] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in cells]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])
