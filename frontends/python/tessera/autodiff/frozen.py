"""Parameters that are left as they are: they get no gradient, and optimizers pass them by."""

from .. import _core, effects

_settings = {"changes": 0}  # of what is frozen, which a trace must see


def note():
    """Tells the call that is recorded, if there is one, that it depends on what is frozen."""
    _core.note_item(_settings, "changes", "Module.freeze")


def set_frozen(parameters, frozen):
    """Freezes parameters, whose gradients go, or ends that."""
    if effects.current() is not None:
        raise RuntimeError(
            "freeze: a module must be frozen outside of traced functions, got a call within one"
        )
    for parameter in parameters:
        parameter._is_frozen = frozen
        if frozen:
            parameter.grad = None
    _settings["changes"] += 1


def trained(tensors):
    """The tensors that are not frozen."""
    return [tensor for tensor in tensors if not tensor._is_frozen]
