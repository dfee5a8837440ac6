"""A Python schedule of learning rates as a class of C++."""

from methods import Method
from names import camel
from units import Unit, comment, initial, passed

_HELD = {"optimizer", "current_epoch", "base_lrs"}  # of every schedule


class ScheduleClass(Unit):
    """A schedule: its constructor, and the learning rates of an epoch."""

    skipped = {"optimizer"}

    def __init__(self, *args):
        super().__init__(*args)
        self.init = self.translate(*self.source.method(self.name, "__init__"))
        self.rates = self.translate(*self.source.method(self.name, "get_lr"))

    def _signature(self, defaults):
        given = ["Optimizer &optimizer"]
        given += [f"{passed(self.type_of(n))}{camel(n)}" for n, d in self.arguments if d is None]
        options = f"const {self.name}Options &options" + (" = {}" if defaults else "")
        return ", ".join([*given, options])

    def options(self):
        """The struct of optional arguments."""
        method = Method(self, *self.source.method(self.name, "__init__"))
        fields = []
        for name, default in self.arguments:
            if default is not None:
                kind = self.type_of(name)
                fields.append(f"{kind} {camel(name)} = {initial(method.visit(default), kind)};")
        text = f"/// The optional arguments of {self.name}; see there.\n"
        return text + f"struct {self.name}Options {{\n" + "\n".join(fields) + "\n};\n"

    def declaration(self):
        """The class, for the header."""
        members = [f"{kind} {camel(name)}{{}};" for name, kind in self.members.items()
                   if name not in _HELD]  # fmt: skip
        about = comment(self.source.docstring(self.name))
        return f"""{about}class {self.name} : public LRScheduler {{
public:
explicit {self.name}({self._signature(True)});
std::vector<double> getLr() override;
{chr(10).join(members)}
}};
"""

    def definition(self):
        """The functions, for the source file."""
        name = self.name
        given = ["*this", "none"]
        given += [camel(n) if d is None else f"options.{camel(n)}" for n, d in self.arguments]
        texts = "\n".join(self.texts)
        return f"""namespace of{name} {{
{texts}
}}
{name}::{name}({self._signature(False)}) : LRScheduler(optimizer, options.currentEpoch) {{
of{name}::{self.init}({", ".join(given)});
step();
}}
std::vector<double> {name}::getLr() {{ return of{name}::{self.rates}(*this); }}
"""
