"""A Python module as a class of C++: its declaration, and its methods as functions."""

import ast

from methods import Method
from names import camel, type_of_default
from python_source import parameters
from units import Unit, comment, initial, passed


class ModuleClass(Unit):
    """A module."""

    def __init__(self, *args):
        super().__init__(*args)
        self.made = self.source.method(self.name, "__init__")
        self.init = self.translate(*self.made) if self.made else None
        self.reset = self.source.method(self.name, "reset_parameters")
        if self.reset:
            self.translate(*self.reset)
        self.forward = self.source.method(self.name, "forward")
        self.forward_name = self.translate(*self.forward)

    # The constructor.

    def _required(self):
        return [(camel(n), self.type_of(n)) for n, default in self.shown() if default is None]

    def _optional(self):
        values = [(n, default) for n, default in self.shown() if default is not None]
        method = Method(self, *self.made) if self.made else None
        return [(camel(n), self.type_of(n), method.visit(default)) for n, default in values]

    def _signature(self, defaults):
        given = [f"{passed(kind)}{name}" for name, kind in self._required()]
        if self._optional():
            given.append(f"const {self.name}Options &options" + (" = {}" if defaults else ""))
        return ", ".join(given)

    def options(self):
        """The struct of optional arguments; empty where there are none."""
        fields = [
            f"{kind} {name} = {initial(value, kind)};" for name, kind, value in self._optional()
        ]
        if not fields:
            return ""
        text = f"/// The optional arguments of {self.name}; see there.\n"
        return text + f"struct {self.name}Options {{\n" + "\n".join(fields) + "\n};\n"

    def _calls(self):
        """(result, arguments as declared, their names) of the ways to call it; the first computes a
        tensor of one tensor, if there is such a way.
        """
        result = self.types.of(self.name, "forward", ast.Constant(None)) or "Tensor"
        given = [(camel(name), self._call_type(name, default), default)
                 for name, default in parameters(self.forward[1])]  # fmt: skip
        return result, given

    def _call_type(self, name, default):
        known = self.types.of(self.name, f"forward.{name}", ast.Constant(None))
        plain = type_of_default(default) if isinstance(default, ast.Constant) else None
        return known or plain or "Tensor"

    def declaration(self):
        """The class, for the header."""
        result, given = self._calls()
        lines = [f"explicit {self.name}({self._signature(True)});"]
        if self._overrides():
            lines.append(f"Tensor forward(const Tensor &{given[0][0]}) override;")
        if self._has_call():
            lines += ["using Module::operator();"] * self._overrides() + [
                "/// Computes the module within its scope."
            ]
            lines.append(f"{result} operator()({self._call_signature(True)});")
        if self.reset:
            lines += ["/// Draws new initial values.", "void resetParameters();"]
        for name, kind in self.members.items():
            lines.append(f"{kind} {camel(name)}{{}};")
        flat = self.source.constant(self.name, "_has_flat_state")
        if flat is not None and flat.value:
            lines += ["", "private:", "bool hasFlatState() const override { return true; }"]
        about = comment(self.source.docstring(self.name))
        body = "\n".join(lines)
        return f"{about}class {self.name} : public Module {{\npublic:\n{body}\n}};\n"

    def _overrides(self):
        result, given = self._calls()
        return result == "Tensor" and given[0][1] == "Tensor" and all(d for _, _, d in given[1:])

    def _call_signature(self, has_defaults):
        """The arguments of a call. The second has no default where forward() takes one tensor."""
        parts, (_, given) = [], self._calls()
        for number, (name, kind, default) in enumerate(given):
            value = ""
            if has_defaults and default is not None and not (number == 1 and self._overrides()):
                plain = kind in ("bool", "int64_t", "double")
                value = f" = {Method(self, *self.forward).visit(default) if plain else '{}'}"
            parts.append(f"{passed(kind)}{name}{value}")
        return ", ".join(parts)

    def definition(self):
        """The functions, for the source file."""
        functions = "\n".join([f"namespace of{self.name} {{", *self.texts, "}"])
        parts = [functions, self._constructor()]
        parts += [self._forward()] if self._overrides() else []
        parts += [self._call()] if self._has_call() else []
        if self.reset:
            call = f"of{self.name}::{self.translate(*self.reset)}(*this)"
            parts.append(f"void {self.name}::resetParameters() {{ {call}; }}")
        return "\n".join(parts) + "\n"

    def _has_call(self):
        return len(parameters(self.forward[1])) > 1 or not self._overrides()

    def _constructor(self):
        given = ["*this"]
        for name, default in self.arguments:
            text = camel(name) if default is None else f"options.{camel(name)}"
            given.append("none" if self.type_of(name) == "None" else text)
        init = f"of{self.name}::{self.init}({', '.join(given)});" if self.made else ""
        return f"{self.name}::{self.name}({self._signature(False)}) {{ {init} }}"

    def _forward(self):
        _, given = self._calls()
        rest = [Method(self, *self.forward).visit(default) for _, _, default in given[1:]]
        call = f"of{self.name}::{self.forward_name}({', '.join(['*this', given[0][0], *rest])})"
        return f"Tensor {self.name}::forward(const Tensor &{given[0][0]}) {{ return {call}; }}"

    def _call(self):
        result, given = self._calls()
        names = ", ".join(["*this", *(name for name, _, _ in given)])
        call = f"Scope inside(*this); return of{self.name}::{self.forward_name}({names});"
        return f"{result} {self.name}::operator()({self._call_signature(False)}) {{ {call} }}"
