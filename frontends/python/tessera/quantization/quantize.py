"""Networks converted: from floats to simulated quantization, and from there to integers."""

from copy import copy, deepcopy

from .. import module as float_modules
from ..logger import get_logger
from ..module import qat, quantized
from ..module.module import Module
from ..utils.module_utils import set_expand_structure
from .easy_quant import apply_easy_quant
from .qconfig import QConfig, ema_fakequant_qconfig
from .switches import (
    disable_fake_quant,
    disable_observer,
    enable_fake_quant,
    enable_observer,
    hook_qat_module,
    is_qat,
    qat_modules,
)

__all__ = [
    "apply_easy_quant",
    "disable_fake_quant",
    "disable_observer",
    "enable_fake_quant",
    "enable_observer",
    "hook_qat_module",
    "propagate_qconfig",
    "quantize",
    "quantize_qat",
    "reset_qconfig",
]

_ROLES = ("weight", "act")


def _get_quantable_module_names():
    """Names of the classes that `module`, `module.qat` and `module.quantized` have in common."""
    base = quantized.QuantizedModule
    classes = ((name, getattr(quantized, name)) for name in dir(quantized))
    return [
        name
        for name, kind in classes
        if isinstance(kind, type) and issubclass(kind, base) and kind is not base
    ]


def _conversions(source, target):
    names = _get_quantable_module_names()
    return {getattr(source, name): getattr(target, name) for name in names}


def quantize_qat(module, inplace=True, qconfig=ema_fakequant_qconfig, mapping=None):
    """Replaces layers by their counterparts of the same name in `tessera.module.qat`, which
    simulate quantization, and gives these the observers and fake-quantization of `qconfig`.

    Modules with `quantize_disabled` stay, and so do parts of a layer that has a counterpart. So do
    subclasses of such layers, which a warning names. Nothing changes when it raises.

    Args:
        module: Module, the network; where it has a counterpart itself, only the result is converted
        inplace: whether the network itself changes; else a copy does
        qconfig: QConfig
        mapping: dict of further classes and their counterparts, which have `from_float_module`

    Returns:
        Module, the network

    Raises:
        TypeError: qconfig must be a QConfig

    >>> import tessera.module as M
    >>> from tessera.quantization import quantize_qat
    >>> net = quantize_qat(M.Sequential(M.QuantStub(), M.Linear(4, 2)))
    >>> type(net[1]) is M.qat.Linear
    True
    """
    _check("quantize_qat", qconfig)
    kinds = {**_conversions(float_modules, qat), **(mapping or {})}
    module = module if inplace else deepcopy(module)

    def _is_left(each):
        return each.quantize_disabled or is_qat(each)

    def _make(old):
        new = kinds[type(old)].from_float_module(old)
        propagate_qconfig(new, qconfig)
        return new

    others = qat_modules(module)
    _configure(map(copy, others), qconfig)
    module = _convert("quantize_qat", module, kinds, _make, _is_left)
    _configure(others, qconfig)
    return module


def quantize(module, inplace=True, mapping=None):
    """Replaces layers of `tessera.module.qat` by their counterparts of the same name in
    `tessera.module.quantized`, which compute with integers.

    Nothing changes when it raises.

    Args:
        module: Module, the network; where it has a counterpart itself, only the result is converted
        inplace: whether the network itself changes; else a copy does
        mapping: dict of further classes and their counterparts, which have `from_qat_module`

    Returns:
        Module, the network

    Raises:
        RuntimeError: observers must have seen numbers, unless the fake-quantization has a scale of
            its own

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> from tessera.quantization import quantize, quantize_qat
    >>> net = quantize_qat(M.Sequential(M.QuantStub(), M.Linear(4, 2)))
    >>> _ = net(ts.functional.ones((3, 4)))
    >>> type(quantize(net)[1]) is M.quantized.Linear
    True
    """
    kinds = {**_conversions(qat, quantized), **(mapping or {})}
    module = module if inplace else deepcopy(module)
    _check_observed("quantize", module)

    def _make(old):
        return kinds[type(old)].from_qat_module(old)

    return _convert("quantize", module, kinds, _make, lambda each: False)


def reset_qconfig(module, qconfig, inplace=True):
    """Gives QAT modules new observers and fake-quantization, which begin at the scales that were
    found so far where they can (`set_qparams`: PassiveObserver, TQT, LSQ).

    Nothing changes when it raises.

    Args:
        module: Module, the network
        qconfig: QConfig
        inplace: whether the network itself changes; else a copy does

    Returns:
        Module, the network

    Raises:
        TypeError: qconfig must be a QConfig
        RuntimeError: observers must have seen numbers where new ones begin at their scales

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> from tessera.quantization import passive_qconfig, quantize_qat, reset_qconfig
    >>> net = quantize_qat(M.Sequential(M.QuantStub(), M.Linear(4, 2)))
    >>> _ = net(ts.functional.ones((3, 4)))
    >>> round(reset_qconfig(net, passive_qconfig)[0].act_observer.scale.item() * 127.5, 5)
    1.0
    """
    _check("reset_qconfig", qconfig)
    module = module if inplace else deepcopy(module)
    rows = [(name, each) for name, each in module.named_modules() if is_qat(each)]
    changes = [(each, _made_anew(name, each, qconfig)) for name, each in rows]
    for each, parts in changes:
        for name, part in parts.items():
            setattr(each, name, part)
    return module


def _made_anew(name, module, qconfig):
    """{attribute: new part} of a QAT module."""
    parts = {}
    for role, get_qparams in (
        ("weight", module.get_weight_qparams),
        ("act", module.get_activation_qparams),
    ):
        if not getattr(module, f"with_{role}"):
            continue
        for attribute in (f"{role}_observer", f"{role}_fake_quant"):
            make = getattr(qconfig, attribute)
            parts[attribute] = part = None if make is None else make()
            if hasattr(part, "set_qparams"):
                _refuse_unseen("reset_qconfig", _unseen(name, module, [role]))
                part.set_qparams(_scale_of(f"{name}.{attribute}".lstrip("."), get_qparams()))
    _give_channels(module, parts.get("weight_observer"))
    return parts


def _scale_of(name, qparams):
    if qparams is None:
        raise RuntimeError(
            f"reset_qconfig: {name} has no scale to begin at (the configuration so far has no "
            "observer there)"
        )
    return qparams


def propagate_qconfig(module, qconfig):
    """Gives all QAT modules at and below `module` new observers and fake-quantization.

    TypeError: qconfig must be a QConfig.

    >>> import tessera.module as M
    >>> from tessera.quantization import propagate_qconfig, quantize_qat, tqt_qconfig
    >>> net = quantize_qat(M.Sequential(M.Linear(4, 2)))
    >>> propagate_qconfig(net, tqt_qconfig)
    >>> type(net[0].weight_fake_quant).__name__
    'TQT'
    """
    _check("propagate_qconfig", qconfig)
    modules = qat_modules(module)
    _configure(map(copy, modules), qconfig)
    _configure(modules, qconfig)


def _configure(modules, qconfig):
    """Gives QAT modules their parts. Copies get theirs first: what fails changes nothing then."""
    for each in modules:
        each.set_qconfig(qconfig)
        _give_channels(each, each.weight_observer)


def _check(caller, qconfig):
    """TypeError unless it is a QConfig. Makes each part once, so that what fails does so first."""
    if not isinstance(qconfig, QConfig):
        raise TypeError(f"{caller}: qconfig must be a QConfig, got {qconfig!r}")
    for make in qconfig:
        if make is not None:
            make()


def _check_observed(caller, module):
    rows = [(name, each) for name, each in module.named_modules() if is_qat(each)]
    _refuse_unseen(caller, [path for name, each in rows for path in _unseen(name, each)])


def _refuse_unseen(caller, paths):
    if paths:
        raise RuntimeError(
            f"{caller}: {', '.join(paths)} observed nothing (the network must run on data while "
            "they are enabled)"
        )


def _unseen(name, module, roles=_ROLES):
    """Paths of the observers of a QAT module that are asked for a scale and have none."""
    paths = []
    for role in roles:
        has_own = hasattr(getattr(module, f"{role}_fake_quant"), "get_qparams")
        observer = getattr(module, f"{role}_observer")
        is_asked = not has_own and getattr(module, f"with_{role}") and observer is not None
        if is_asked and not observer.is_observed():
            paths.append(f"{name}.{role}_observer".lstrip("."))
    return paths


def _give_channels(module, observer):
    """Gives the observer of a weight its channels where it has an axis, so that the first call can
    be traced.
    """
    if getattr(observer, "axis", None) is None:
        return
    layers = (each for each in module.modules() if not each._has_flat_state)  # no normalisation
    weights = (getattr(each, "weight", None) for each in layers)
    weight = next((each for each in weights if each is not None), None)
    if weight is not None:
        observer.set_channels(weight.shape)


def _convert(caller, module, kinds, make, is_left):
    """The network after each module of `kinds` became, wherever it stands, what `make` gives for
    it. Those that are left stay.
    """
    known = tuple(kinds)
    all_places = _places(module, known)
    if isinstance(module, known):
        all_places = [("", None, "", module)]
    places = [each for each in all_places if isinstance(each[3], known) and not is_left(each[3])]
    _tell_subclasses(caller, [place for place in places if type(place[3]) not in kinds])
    places = [place for place in places if type(place[3]) in kinds]
    results = {id(old): old for _, _, _, old in places}
    results = {key: make(old) for key, old in results.items()}
    if places and places[0][3] is module:
        return results[id(module)]
    _put([(*place[1:], results[id(place[3])]) for place in places])
    return module


def _put(changes):
    """Puts new modules in the place of old ones; where one cannot be put, all are as before."""
    done = []
    try:
        for owner, key, old, new in changes:
            set_expand_structure(owner, key, new)
            done.append((owner, key, old))
    except Exception:
        for row in done:
            set_expand_structure(*row)
        raise


def _places(module, kinds, prefix="", seen=None):
    """(name, owner, key, module) of every place below, but for those within modules of `kinds`."""
    seen = seen or {id(module)}
    for key, each in module._members():
        if not isinstance(each, Module):
            continue
        yield prefix + key, module, key, each
        if not isinstance(each, kinds) and id(each) not in seen:
            seen.add(id(each))
            yield from _places(each, kinds, f"{prefix}{key}.", seen)


def _tell_subclasses(caller, places):
    """Warns of modules that have no counterpart of their own class."""
    if places:
        names = ", ".join(f"{name} ({type(each).__name__})" for name, _, _, each in places)
        text = "%s: classes without a counterpart stay as they are (mapping gives one): %s"
        get_logger(__name__).warning(text, caller, names)
