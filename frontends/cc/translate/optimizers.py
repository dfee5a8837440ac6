"""A Python optimizer as a class of C++."""

import ast

from methods import Method
from names import camel
from units import Unit, comment, initial

_DTYPES = {"float32": "DType::Float32", "float64": "DType::Float64"}


class OptimizerMethod(Method):
    """A method of an optimizer: settings are members of the group."""

    def visit_Subscript(self, node):  # noqa: N802
        """A setting of a group, or an element."""
        if isinstance(node.value, ast.Name) and node.value.id == "group":
            return f"group.{camel(node.slice.value)}"
        if isinstance(node.value, (ast.Name, ast.Call)) and isinstance(
            node.slice, (ast.Constant, ast.Name)
        ):
            text = isinstance(node.slice, ast.Name) or isinstance(node.slice.value, str)
            return (
                f"{self.visit(node.value)}[{self.visit(node.slice)}]"
                if text
                else super().visit_Subscript(node)
            )
        return super().visit_Subscript(node)

    def visit_Constant(self, node):  # noqa: N802
        """Also the name of a dtype."""
        return _DTYPES.get(node.value) or super().visit_Constant(node)

    def _own(self, node):
        """What Python has for the optimizer C++ has for each group."""
        if node.attr in dict(self.unit.arguments):
            return f"group.{camel(node.attr)}"
        return super()._own(node)


class OptimizerClass(Unit):
    """An optimizer."""

    method_class, skipped = OptimizerMethod, {"params"}

    def __init__(self, *args):
        super().__init__(*args)
        self.create = self.translate(*self.source.method(self.name, "_create_state"))
        self.update = self.translate(*self.source.method(self.name, "_update_parameter"))

    def is_option(self, default):
        """All but the parameters are settings."""
        return True

    def options(self):
        """The struct of settings."""
        method = OptimizerMethod(self, *self.source.method(self.name, "__init__"))
        fields = []
        for name, default in self.arguments:
            kind = self.type_of(name)
            value = "" if default is None else " = " + initial(method.visit(default), kind)
            fields.append(f"{kind} {camel(name)}{value or '{}'};")
        text = f"/// The settings of {self.name}; see there.\n"
        return text + f"struct {self.name}Options {{\n" + "\n".join(fields) + "\n};\n"

    def declaration(self):
        """The class, for the header."""
        given = f"std::vector<Tensor> params, const {self.name}Options &options"
        default = " = {}" if all(value is not None for _, value in self.arguments) else ""
        about = comment(self.source.docstring(self.name))
        return f"""{about}class {self.name} : public Optimizer {{
public:
/// InvalidArgument when `params` is empty or names a tensor twice, or a setting is out of range.
explicit {self.name}({given}{default});
/// Also updates these, with settings of their own; returns the optimizer.
{self.name} &addParamGroup({given}{default});

private:
struct Settings : Group, {self.name}Options {{}};
friend struct of{self.name};
void updateParameter(Group &group, const Tensor &parameter, const Tensor &grad) override;
}};
"""

    def _checks(self):
        """Lines that check settings: those that the class lists, and those of its constructor."""
        lines = []
        limits = self.source.constant(self.name, "limits")
        for key, limit in zip(limits.keys, limits.values, strict=True):
            member = f"options.{camel(key.value)}"
            if not isinstance(limit, ast.Tuple):
                below = "" if limit.value is None else f", {limit.value}"
                lines.append(f'checkSetting("{key.value}", {member}{below});')
                continue
            for number, each in enumerate(limit.elts):
                what = f'"{key.value}[{number}]"'
                lines.append(f"checkSetting({what}, {member}[{number}], {each.value});")
        owner, function = self.source.method(self.name, "__init__")
        method = OptimizerMethod(self, owner, function)
        refusals = [each for each in function.body if isinstance(each, ast.If)]
        if refusals:
            names = [f"[[maybe_unused]] auto {camel(name)} = options.{camel(name)};"
                     for name, _ in self.arguments]  # fmt: skip
            lines += ["{", *names, *method.body(refusals), "}"]
        return lines

    def definition(self):
        """The functions, for the source file."""
        name, given = self.name, f"std::vector<Tensor> params, const {self.name}Options &options"
        head = "\n".join(
            [f"struct of{name} {{", f"using Group = {name}::Settings;", *self.texts, "};"]
        )
        checks = "\n".join(self._checks())
        return f"""{head}
{name}::{name}({given}) : Optimizer("{name}") {{ addParamGroup(std::move(params), options); }}
{name} &{name}::addParamGroup({given}) {{
{checks}
auto group = std::make_unique<Settings>();
Settings &added = *group;
static_cast<{name}Options &>(added) = options;
addGroup(std::move(group), std::move(params), options.lr);
of{name}::{self.create}(*this, added);
return *this;
}}
void {name}::updateParameter(Group &group, const Tensor &parameter, const Tensor &grad) {{
of{name}::{self.update}(*this, static_cast<Settings &>(group), parameter, grad);
}}
"""
