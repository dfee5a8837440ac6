"""Puts the generated functions into the modules that their records name."""

import copyreg
import importlib

from .. import _core

_LIBRARIES = "tessera.ops."


def operator(name, library=None):
    """The operator of a Python name: what a copy or a pickle of it becomes."""
    if library is None:
        return getattr(_core.ops, name)
    libraries = importlib.import_module(_LIBRARIES.rstrip("."))  # few programs have any
    return getattr(getattr(libraries, library), name)


def _reduced(function):
    module, name = function.__module__, function.__name__
    library = [module.removeprefix(_LIBRARIES)] if module.startswith(_LIBRARIES) else []
    return operator, (name, *library)


copyreg.pickle(type(_core.ops.add), _reduced)


def export(namespace):
    """Adds the generated functions of the module that `namespace` is; sets `__all__`.

    A function written by hand takes the place of the generated one of its name and calls it; its
    docstring gets the record's shapes, dtypes and errors.
    """
    home = namespace["__name__"]
    own = {
        name
        for name, value in namespace.items()
        if getattr(value, "__module__", None) == home and not name.startswith("_")
    }
    for name, function in vars(_core.ops).items():
        if getattr(function, "__module__", None) != home:
            continue
        if name in own:
            namespace[name].__doc__ = _with_facts(namespace[name].__doc__, function)
        else:
            namespace[name] = function
        own.add(name)
    namespace["__all__"] = sorted(own)


def check_choice(name, what, value, choices):
    """ValueError unless the argument is one of its values."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}: {what} must be one of {list(choices)}, got {value!r}")


def check_none(name, **values):
    """Refuses arguments that MegEngine takes and refuses: each must be None."""
    for argument, value in values.items():
        if value is not None:
            raise ValueError(f"{name}: {argument} must be None, got {value!r}")


def check_compute_mode(name, compute_mode):
    """ValueError unless it is one of its values, which mean the same: sums of half precision are
    float32.
    """
    check_choice(name, "compute_mode", compute_mode, ("default", "float32"))


def check_conv_modes(name, conv_mode, compute_mode):
    """ValueError unless both are among their values; a kernel is not turned around."""
    check_choice(name, "conv_mode", conv_mode, ("cross_correlation",))
    check_compute_mode(name, compute_mode)


def _with_facts(text, function):
    """A docstring, then what the generated one says of the operator from its arguments to its
    errors.
    """
    facts = function.__doc__.partition("\nArgs:")[2].partition("\nExample:")[0]
    call = function.__doc__.partition("\n")[0]
    lines = "".join(f"    {line}".rstrip() + "\n" for line in f"Args:{facts}".splitlines())
    return f"{text.rstrip()}\n\n    The operator beneath is {call}:\n\n{lines}    "
