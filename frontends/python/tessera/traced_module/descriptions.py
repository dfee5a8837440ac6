"""Modules of the package as calls of their classes: what writes a module without its code."""

import inspect

from ..module import (
    ConvBn2d,
    ConvTransposeBn2d,
    Dilation,
    InstanceNorm1d,
    InstanceNorm2d,
    LinearBn1d,
    LocalConv2d,
    Module,
    MultiHeadAttention,
    TransformerDecoderLayer,
    TransformerEncoderLayer,
)
from ..module.qat import QATModule
from ..module.quantized import QuantizedModule
from ..random import RNG
from ..tensor import Tensor

# Arguments that say how tensors begin, or name the module: a state replaces them.
_BEGINNINGS = frozenset(("init", "initial_weight", "name", "kwargs"))
_ABSENT = object()


def description_of(module):
    """(class, args, kwargs) of a call that makes a module like `module`, of its settings; tensors
    may begin with other values, and are those of a state.

    Arguments that have no default are `args`, in order; others are in `kwargs` where they are not
    their defaults. A generator is described by its seed, without its place in the sequence.

    ValueError: each argument of the class must be an attribute of that name; modules of
    `module.qat` have observers that no call gives.

    >>> import tessera.module as M
    >>> from tessera.traced_module.descriptions import description_of
    >>> kind, args, kwargs = description_of(M.Linear(4, 2, bias=False))
    >>> kind.__name__, args, kwargs
    ('Linear', (4, 2), {'bias': False})
    """
    kind, args, kwargs = type(module), [], {}
    if isinstance(module, QATModule):
        raise ValueError(
            f"description_of: a module must be made by a call of its class alone, got "
            f"{kind.__module__}.{kind.__name__}"
        )
    values = _settings(module)
    for each in list(inspect.signature(kind.__init__).parameters.values())[1:]:
        if each.name in _BEGINNINGS or each.kind is each.VAR_POSITIONAL:
            continue
        value = _value(module, values, each)
        if each.default is each.empty:
            args.append(value)
        elif not _is_equal(value, each.default):
            kwargs[each.name] = value
    return kind, tuple(args), kwargs


def _value(module, values, parameter):
    name = parameter.name
    value = values.get(name, _ABSENT)
    if value is _ABSENT:
        if parameter.default is None or parameter.default is False:  # one that does nothing
            return parameter.default
        raise ValueError(
            f"description_of: each argument of {type(module).__name__} must be an attribute of "
            f"that name, got none for {name!r}"
        )
    if isinstance(parameter.default, bool) and (value is None or isinstance(value, Tensor)):
        return value is not None  # whether there is such a tensor
    if isinstance(parameter.default, (int, float)) and isinstance(value, Module):
        return value.drop_prob
    return value


def _is_equal(value, default):
    if isinstance(value, Tensor) or isinstance(default, Tensor):
        return value is default
    if type(value) is tuple and type(default) is int:  # one size for all axes
        return all(type(item) is int and item == default for item in value)
    return type(value) is type(default) and value == default


def _settings(module):
    """Attributes by the names of arguments."""
    values = dict(vars(module))
    generator = values.get("_rng")
    if isinstance(generator, RNG):
        values["seed"] = generator.seed
    if any(values.get("_behind") or ()):
        values["padding"] = "same"
    for kind, more in _FURTHER.items():
        if isinstance(module, kind):
            values.update(more(module))
    return values


def _fused(part):
    def _of(module):
        return {**_settings(getattr(module, part)), **_of_norm(module.bn)}

    return _of


def _of_norm(norm):
    return {key: getattr(norm, key) for key in ("eps", "momentum", "affine", "track_running_stats")}


def _of_attention(module):
    return {
        "bias": module.q_proj.bias,
        "kdim": _unless(module.k_proj.in_features, module.embed_dim),
        "vdim": _unless(module.v_proj.in_features, module.embed_dim),
    }


def _unless(value, default):
    return None if value == default else value


def _of_layer(module):
    return {
        "d_model": module.self_attn.embed_dim,
        "nhead": module.self_attn.num_heads,
        "dim_feedforward": module.linear1.out_features,
        "layer_norm_eps": module.norm1.eps,
        "bias": module.linear1.bias,
    }


_FURTHER = {
    ConvBn2d: _fused("conv"),
    ConvTransposeBn2d: _fused("conv_transpose2d"),
    LinearBn1d: _fused("linear"),
    QuantizedModule: lambda module: {"dtype": module.output_dtype},
    Dilation: lambda module: {"border_type": f"BORDER_{module.border_type}"},
    InstanceNorm1d: lambda module: {"num_features": module.num_channels},
    InstanceNorm2d: lambda module: {"num_features": module.num_channels},
    LocalConv2d: lambda module: dict(
        zip(("input_height", "input_width"), module._image, strict=True)
    ),
    MultiHeadAttention: _of_attention,
    TransformerDecoderLayer: _of_layer,
    TransformerEncoderLayer: _of_layer,
}
