"""Types of the package's functions, which name none themselves: a table says them by the names of
parameters, and the rest follows from defaults and bodies.

What neither says is `Incomplete`; a test holds that nothing public has such a type.
"""

import ast
import tomllib
from pathlib import Path

# Literals whose types are theirs.
_PLAIN = (bool, int, float, complex, str, bytes)
_RESULTS = {
    "__new__": "Self", "__init__": "None",
    "__len__": "int", "__repr__": "str", "__str__": "str", "__bool__": "bool",
    "__contains__": "bool", "__exit__": "None", "__hash__": "int", "__setattr__": "None",
    "__delattr__": "None", "__setitem__": "None", "__delitem__": "None", "__eq__": "bool",
    "__ne__": "bool", "__iter__": "Iterator[Any]", "__dir__": "list[str]",
    "__setstate__": "None", "__reduce__": "tuple[Any, ...]", "__getstate__": "Any",
    "__getattr__": "Any", "__fspath__": "str", "__format__": "str", "__int__": "int",
    "__float__": "float", "__index__": "int",
}  # fmt: skip
_QUESTIONS = ("is_", "has_")
UNKNOWN = "Incomplete"


class Table:
    """The files in types/, and the rows of the arguments of layers."""

    def __init__(self, folder, arguments=None):
        forms, parameters, results = (
            tomllib.loads(Path(folder, f"{name}.toml").read_text())
            for name in ("forms", "parameters", "results")
        )
        self.homes, self._results = _by_name(forms["homes"]), _by_name(results["results"])
        self.verbatim = {
            path: _with_shared(text, forms["shared"]) for path, text in forms["verbatim"].items()
        }
        self.additions = forms["additions"]
        self._parameters = {path: _by_name(rows) for path, rows in parameters.items()}
        self._layers = arguments

    def parameter(self, path, lineage, name, default):
        """The type of the parameter `name` of a function, which is known by its dotted path."""
        if type_of_default(default) == "bool" and name not in self._parameters.get(path, {}):
            return "bool"
        return (
            self._of_layer(path, lineage, name)
            or _longest(self._parameters, path, name)
            or type_of_default(default)
            or UNKNOWN
        )

    def _of_layer(self, path, lineage, name):
        if self._layers is None or not path.startswith("module.") or not path.endswith("__init__"):
            return None
        row = self._layers(lineage, name)
        return row and row[0]

    def result(self, path, node):
        """The type of a function's result."""
        name = node.name
        said = self._results.get(path) or _RESULTS.get(name) or self._results_of(path, name)
        return said or result_of_body(node) or UNKNOWN

    def _results_of(self, path, name):
        for part in _outwards(path):
            if rows := self._results.get(f"{part}.*"):
                return rows
        return self._results.get(f"*.{name}")


def _with_shared(text, shared):
    """A stub with the lists of parameters that it names in braces."""
    for name, parameters in shared.items():
        text = text.replace(f"{{{name}}}", " ".join(parameters.split()))
    return text


def _by_name(rows):
    """{name: what is said of it} of rows that list names."""
    return {name: said for said, names in rows.items() for name in names.split()}


def _outwards(path):
    """ "a.b.c" gives "a.b" and "a": where a function stands."""
    parts = path.split(".")[:-1]
    return [".".join(parts[:count]) for count in range(len(parts), 0, -1)]


def _longest(rows, path, name):
    """The row of a name that stands nearest to the function."""
    for part in [path, *_outwards(path), ""]:
        if name in (own := rows.get(part, {})):
            return own[name]
    return None


def type_of_default(node):
    """The type that a default shows; None where it shows none."""
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    if isinstance(node, ast.Constant) and type(node.value) in _PLAIN:
        return type(node.value).__name__
    return None


def result_of_body(node):
    """The type that the returns of a function show; None where they show none."""
    if any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in own_nodes(node)):
        return "Iterator[Any]"
    values = [each.value for each in own_nodes(node) if isinstance(each, ast.Return)]
    values = [value for value in values if value is not None]
    if not values:
        return "None"
    if all(ast.unparse(value) == "self" for value in values):
        return "Self"
    types = {type_of_default(value) or _made(value) for value in values}
    if len(types) == 1 and None not in types:
        return types.pop()
    return "bool" if node.name.startswith(_QUESTIONS) else None


def _made(value):
    if isinstance(value, (ast.Compare,)) or (
        isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not)
    ):
        return "bool"
    return "str" if isinstance(value, ast.JoinedStr) else None


def _is_none(node):
    return isinstance(node, ast.Constant) and node.value is None


def _takes_none(kind):
    return any(part in ("None", "Any", UNKNOWN) for part in kind.split(" | "))


def own_nodes(node):
    """The nodes of a function without those of functions within."""
    found, rest = [], list(ast.iter_child_nodes(node))
    while rest:
        each = rest.pop()
        found.append(each)
        if not isinstance(each, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            rest += ast.iter_child_nodes(each)
    return found


def annotate(table, path, node, lineage=(), skip=0):
    """Gives the parameters from number `skip` on, and the result, their types."""
    arguments = node.args
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(plain) - len(arguments.defaults)) + arguments.defaults
    rows = [*zip(plain, defaults, strict=True)][skip:]
    rows += zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    rows += [(each, None) for each in (arguments.vararg, arguments.kwarg) if each]
    for each, default in rows:
        if each.annotation is None:
            kind = table.parameter(path, lineage, each.arg, default)
            kind += " | None" if _is_none(default) and not _takes_none(kind) else ""
            each.annotation = ast.parse(kind, mode="eval").body
    if node.returns is None:
        node.returns = ast.parse(table.result(path, node), mode="eval").body


def without_values(arguments):
    """Defaults that are no literals are of no use to a reader of types."""
    plain = [each if _is_literal(each) else ast.Constant(...) for each in arguments.defaults]
    only = [
        each if each is None or _is_literal(each) else ast.Constant(...)
        for each in arguments.kw_defaults
    ]
    arguments.defaults, arguments.kw_defaults = plain, only
    return arguments


def _is_literal(node):
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True
