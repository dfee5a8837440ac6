"""Puts the generated functions into the modules that their records name."""

from .. import _core


def export(namespace, *modules):
    """Adds the functions of the records' `modules` that `namespace` has not; sets `__all__`.

    A function written by hand in the namespace has the record's name and calls the generated one.
    """
    own = [
        name
        for name, value in namespace.items()
        if getattr(value, "__module__", None) == namespace["__name__"] and not name.startswith("_")
    ]
    for record in _core.op_table():
        name = record["python"]
        if record["module"] in modules and name not in own:
            namespace[name] = getattr(_core.ops, name)
            own.append(name)
    namespace["__all__"] = sorted(own)
