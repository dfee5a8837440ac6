"""Switches of the QAT modules of a network."""

from ..module import qat


def disable_fake_quant(module):
    """Lets QAT modules at and below `module` compute in floats."""
    _set_all(module, "set_fake_quant", False)


def enable_fake_quant(module):
    """Lets QAT modules at and below `module` simulate quantization."""
    _set_all(module, "set_fake_quant", True)


def disable_observer(module):
    """Lets QAT modules at and below `module` keep their scales."""
    _set_all(module, "set_observer", False)


def enable_observer(module):
    """Lets QAT modules at and below `module` observe."""
    _set_all(module, "set_observer", True)


def hook_qat_module(module, func):
    """Registers a forward hook with all QAT modules at and below `module`; gives the handles."""
    return [each.register_forward_hook(func) for each in qat_modules(module)]


def _set_all(module, method, value):
    for each in qat_modules(module):
        getattr(each, method)(value)


def is_qat(module):
    """Whether it is a QATModule."""
    return isinstance(module, qat.QATModule)


def qat_modules(module):
    """List of the QATModules at and below `module`."""
    return [each for each in module.modules() if is_qat(each)]
