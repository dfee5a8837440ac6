"""Steps that bring what older files name to the version of today.

A call of a function, a method or an operator, and a module of a class, is saved with the version of
what it names: 1, and 1 more for each version that a step here starts from.
"""

FUNCTION, METHOD, MODULE, OPDEF, WRAPPED, BUILTIN, TYPE, PLAIN = range(8)  # Name.Kind in the file
_steps = {}  # by kind, name and version: what makes the next version of it


def register_functional_loader(*names, version=1):
    """Registers a function that brings calls of functions from `version` to the next one.

    Args:
        names: functions, as "functional.nn.pad"; also those that are there no more
        version: an int, the version that the function starts from

    Returns:
        a decorator of a function that gets the expression, a CallFunction, and changes it: `func`,
        `set_arguments(args, kwargs)`; other expressions that it appends to
        `expr.top_graph.own_exprs` stand before it

    Raises:
        TypeError: names must be strings, version an int
        ValueError: version must be at least 1; a version has one step

    Example:
        >>> import tessera.traced_module as tm
        >>> @tm.compat.register_functional_loader("functional.nn.older")
        ... def step(expr):
        ...     expr.set_arguments(expr.args[:1], expr.kwargs)
        >>> tm.compat.version_of(tm.compat.FUNCTION, "functional.nn.older")
        2
    """
    return _register("register_functional_loader", FUNCTION, names, version)


def register_tensor_method_loader(*names, version=1):
    """As `register_functional_loader`, for methods of tensors: "__add__".

    >>> import tessera.traced_module as tm
    >>> @tm.compat.register_tensor_method_loader("older")
    ... def step(expr):
    ...     expr.method = "reshape"
    """
    return _register("register_tensor_method_loader", METHOD, names, version)


def register_opdef_loader(*names, version=1):
    """As `register_functional_loader`, for operators by their names, "Softmax". Attributes of
    operators need no step: their records know older versions.

    >>> import tessera.traced_module as tm
    >>> @tm.compat.register_opdef_loader("Older")
    ... def step(expr):
    ...     expr.set_arguments(expr.args[:1], {})
    """
    return _register("register_opdef_loader", OPDEF, names, version)


def register_module_loader(*names, version=1):
    """As `register_functional_loader`, for classes of modules, "module.Conv2d": the function gets
    the dict of a module's attributes, and changes it.

    >>> import tessera.traced_module as tm
    >>> @tm.compat.register_module_loader("module.Older")
    ... def step(state):
    ...     state.setdefault("eps", 1e-5)
    """
    return _register("register_module_loader", MODULE, names, version)


def _register(caller, kind, names, version):
    if not names or not all(isinstance(name, str) for name in names):
        raise TypeError(f"{caller}: names must be strings, got {names!r}")
    if type(version) is not int:
        raise TypeError(f"{caller}: version must be an int, got {version!r}")
    if version < 1:
        raise ValueError(f"{caller}: version must be at least 1, got {version}")
    for name in names:
        if (kind, name, version) in _steps:
            raise ValueError(
                f"{caller}: a version must have one step, got another from {name} version {version}"
            )

    def _take(step):
        _steps.update(((kind, name, version), step) for name in names)
        return step

    return _take


def version_of(kind, name):
    """The version of today."""
    return 1 + max((at for k, n, at in _steps if (k, n) == (kind, name)), default=0)


def steps_from(kind, name, version):
    """The steps from `version` of a name to that of today.

    ValueError: the version must be known.
    """
    newest = version_of(kind, name)
    if not 1 <= version <= newest:
        raise ValueError(f"load: version of {name} must be 1 to {newest}, got {version}")
    found = (_steps.get((kind, name, each)) for each in range(version, newest))
    return [step for step in found if step is not None]
