"""Help of layers: signatures of classes and of modules, and a table of arguments in docstrings.

Both are made when somebody asks, because a program that does not pays nothing then.
"""


class Signature:
    """The signature of a class is that of its constructor, of a module that of its forward.

    The keywords that a layer passes on to Module are Module's own: its name.
    """

    def __get__(self, module, kind):
        import inspect

        if module is not None:
            return inspect.signature(module.forward)
        made = inspect.signature(kind.__init__)
        own = [*made.parameters.values()][1:]
        if own and own[-1].kind is inspect.Parameter.VAR_KEYWORD and _is_layer(kind):
            own[-1] = inspect.Parameter("name", inspect.Parameter.KEYWORD_ONLY, default=None)
        return made.replace(parameters=own)


class Documented:
    """A docstring with the table of the arguments before its example."""

    def __init__(self, text):
        self._text = text

    def __get__(self, module, kind):
        import inspect

        text, example, rest = f"{inspect.cleandoc(self._text)}\n".partition("\n>>> ")
        parts = [text.strip(), _table(kind), (example + rest).strip()]
        return "\n\n".join(part for part in parts if part) + "\n"


def add_tables(kinds):
    """Gives the docstring of each class its table."""
    for kind in kinds:
        kind.__doc__ = Documented(kind.__doc__)


def _is_layer(kind):
    """Whether the constructor is one of this package."""
    return kind.__init__.__module__.startswith(__package__)


def _table(kind):
    """The section of the arguments; empty where there is none but the name."""
    import inspect

    from ._arguments import argument

    lines, lineage = ["Args:"], [base.__name__ for base in kind.__mro__]
    for each in inspect.signature(kind).parameters.values():
        type_, meaning = argument(lineage, each.name) or ("any", "see above")
        default = "" if each.default is each.empty else f"; default {each.default!r}"
        stars = "*" if each.kind is each.VAR_POSITIONAL else ""
        lines.append(f"    {stars}{each.name}: {type_}, {meaning}{default}")
    return "\n".join(lines) if len(lines) > 2 else ""
