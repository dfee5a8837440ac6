"""The steps from a float model to a quantized one."""

import copy

from ... import _core
from ...autodiff.modes import no_grad
from ...logger import get_logger
from ...module.module import Module
from ...traced_module import optimize, trace_module
from ...traced_module.traced_module import TracedModule
from ...traced_module.unchanged import Unchanged
from .calibration import correct_biases, dtypes_of, measure
from .equalizing import equalize
from .layers import folded
from .plan import Plan
from .programs import is_program, traced_program
from .report import LayerReport, QuantizationReport
from .rewriting import Rewriting
from .samples import calls_of


def converted(model, samples, config):
    """See quantize_model."""
    if not isinstance(model, Module) and not is_program(model):
        raise TypeError(
            f"quantize_model: model must be a Module, a Network or a model of onnx.load (a file's "
            f"program is read by Network.load), got {type(model).__name__}"
        )
    calls = calls_of(samples)
    with no_grad():
        traced, calls = _prepared(model, calls)
        return _quantized(traced, calls, config)


def _prepared(model, calls):
    """(a TracedModule of one graph without batch norms behind layers, which shares nothing with the
    model, in inference; its calls)
    """
    if is_program(model):
        traced, calls = traced_program(model, calls)
        return optimize(traced, "FuseConvBn"), calls
    args, kwargs = calls[0]
    model = folded(copy.deepcopy(model).eval())
    traced = model if isinstance(model, TracedModule) else trace_module(model, *args, **kwargs)
    return optimize(traced.flatten(), "FuseConvBn"), calls


def _quantized(traced, calls, config):
    plan = Plan(traced, config)
    _check_names(plan, traced, config)
    if config.equalize:
        equalize(traced, {unit.layer.name for unit in plan.units.values()})
        plan = Plan(traced, config)
    with Unchanged(traced):
        dtypes = dtypes_of(traced, plan, calls, config)
        if config.correct_bias:
            correct_biases(traced, plan, calls, config, dtypes)
    rewriting = Rewriting(traced, plan, config, dtypes)
    module = rewriting.run()
    with Unchanged(traced), Unchanged(module):
        noise = measure(traced, plan, rewriting, calls)
    if not plan.units:
        get_logger(__name__).warning("quantize_model: no layer has a quantized form")
    return module, _report(plan, rewriting, noise)


def _check_names(plan, traced, config):
    known = set(plan.names) | {path for path, _ in traced.named_modules()}
    unknown = [each for each in config.keep_float if each not in known]
    if unknown:
        raise ValueError(
            f"quantize_model: keep_float must name layers, {', '.join(plan.names)}, got "
            f"{', '.join(unknown)}"
        )


def _report(plan, rewriting, noise):
    rows = []
    for unit in plan.units.values():
        key = id(unit.result)
        whole, own = noise[key]
        found = _core.quantization(rewriting.exprs[key].result.dtype)
        scale, zero_point = (None, None) if found is None else found[1:3]
        rows.append(LayerReport(rewriting.names[key], unit.kind, whole.decibels, own.decibels,
                                scale, zero_point))  # fmt: skip
    return QuantizationReport(tuple(rows), tuple(plan.kept))
