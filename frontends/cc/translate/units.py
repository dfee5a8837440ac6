"""What every class that is translated has: arguments, members, and methods as functions."""

import ast
import re
import textwrap

from methods import Method
from names import camel, type_of_default
from python_source import UntranslatableError, parameters

_BY_REFERENCE = {"group", "state"}


class Functions:
    """Where C++ has the functions of `functional`: those with Python's arguments come first."""

    def __init__(self, own, operators):
        self._groups = {"nn::": own, "functional::": operators}

    def find(self, name):
        """(qualified name, [(argument, default)]); the second is None where there is none."""
        for space, group in self._groups.items():
            for each in (name, camel(name)):
                if each in group:
                    return space + each, group[each][1]
        return name, None


class Types:
    """Types of arguments and attributes: a table by class and name, else those of the defaults."""

    def __init__(self, source, table):
        self._source, self._table = source, table

    def of(self, owner, name, default=None):
        """The type of an argument with this default, a tree."""
        for each in [*(node.name for node in self._source.lineage(owner)), "all"]:
            if name in self._table.get(each, {}):
                return self._table[each][name]
        return type_of_default(default)


class Unit:
    """One class: what has been found of it, and the text of its functions."""

    method_class, skipped = Method, {"name"}  # arguments that C++ does not have

    def __init__(self, name, source, functions, types):
        self.name, self.source, self.functions, self.types = name, source, functions, types
        self.members, self.children, self._names, self.texts = {}, {}, {}, []
        found = source.method(name, "__init__")
        self.arguments = [] if found is None else [
            each for each in parameters(found[1]) if each[0] not in self.skipped]  # fmt: skip

    def type_of(self, name):
        """The type of an argument of the constructor."""
        default = dict(self.arguments)[name]
        found = self.types.of(self.name, name, default)
        if found is None:
            raise TypeError(f"{self.name}: the type of {name} must be in the table, got none")
        return found

    def shown(self):
        """The arguments that C++ has."""
        return [(name, default) for name, default in self.arguments if self.type_of(name) != "None"]

    def is_option(self, default):
        """Whether an argument with this default is a member of the options."""
        return default is not None

    def translate(self, owner, function):
        """The name of the function that a method becomes; its text is written once."""
        key = owner and owner.name, function.name
        if key not in self._names:
            verb = {"__init__": "init"}.get(function.name, camel(function.name))
            self._names[key] = name = f"{verb}{owner.name.strip('_')}" if owner else camel(verb)
            self.texts.append(self._text(name, self.method_class(self, owner, function), function))
        return self._names[key]

    def _text(self, name, method, function):
        lines = method.body(function.body)
        given = [f"[[maybe_unused]] auto {'&' * (each in _BY_REFERENCE)}{camel(each)}"
                 for each, _ in parameters(function)]  # fmt: skip
        if method.owner:
            given.insert(0, f"[[maybe_unused]] {self.name} &self")
        return "\n".join([f"static auto {name}({', '.join(given)}) {{", *lines, "}\n"])

    def found(self, method, target, value):
        """Notes an attribute that a method sets."""
        name = target.attr
        texts = {ast.unparse(each.func) for each in ast.walk(value) if isinstance(each, ast.Call)}
        made = [each for each in texts if each in self.source.classes]
        if made:
            self.children[name] = made[0]
            self.members[name] = f"std::unique_ptr<{made[0]}>"
        elif texts & {"Parameter", "Tensor"}:
            self.members[name] = "Tensor"
        elif name not in self.members:
            self.members[name] = self._member_type(name, value)

    def _member_type(self, name, value):
        """By the table, or as the argument of that name of a constructor, or as its value."""
        known = self.types.of(self.name, f"self.{name}", ast.Constant(None))
        known = known or self.types.of(self.name, name, ast.Constant(None))
        for each in self.source.lineage(self.name):
            found = self.source.method(each.name, "__init__")
            if known is None and found and name in dict(parameters(found[1])):
                known = type_of_default(dict(parameters(found[1]))[name])
        if known is None and isinstance(value, (ast.Constant, ast.UnaryOp)):
            known = type_of_default(value)
        if known is None and not (isinstance(value, ast.Constant) and value.value is None):
            raise UntranslatableError(value, f"the type of {self.name}.{name} must be in the table")
        return known or "Tensor"

    def construction(self, method, node, name):
        """The arguments of a call that makes an object of the class, options in braces."""
        unit = Unit(name, self.source, self.functions, self.types)
        return unit.call_of(method, node)

    def call_of(self, method, node):
        """See construction."""
        names = [name for name, _ in self.arguments]
        given = dict(zip(names, node.args, strict=False))
        given |= {each.arg: each.value for each in node.keywords if each.arg is not None}
        plain = [method.visit(given[name]) for name, default in self.arguments
                 if not self.is_option(default)]  # fmt: skip
        options = [
            f".{camel(name)} = {initial(method.visit(given[name]), self.type_of(name))}"
            for name, default in self.shown() if self.is_option(default) and name in given
        ]  # fmt: skip
        if options:
            plain.append(f"{self.name}Options{{{', '.join(options)}}}")
        return ", ".join(plain)


def passed(kind):
    """How an argument of this type is declared, up to its name."""
    return f"{kind} " if kind in ("int64_t", "double", "bool") else f"const {kind} &"


def initial(value, kind):
    """The default of a member, as C++."""
    if kind.startswith("std::array"):
        return "{" + value.removeprefix("pack(").removesuffix(")") + "}"
    if value.startswith("divide("):
        return value.removeprefix("divide(").removesuffix(")").replace(", ", ".0 / ")
    if kind == "std::string":
        return value.removeprefix("std::string(").removesuffix(")")
    return "{}" if value == "none" else value


def comment(text):
    """Lines of `///`."""
    lines, text = [], re.sub(r"`([a-z]\w*)`", lambda found: f"`{camel(found[1])}`", text)
    for paragraph in text.split("\n\n"):
        kept = (
            paragraph
            if paragraph.startswith("    ")
            else textwrap.fill(" ".join(paragraph.split()), 110)
        )
        lines += [*kept.splitlines(), ""]
    return "".join(f"/// {line}".rstrip() + "\n" for line in lines[:-1])
