"""Writes the C++ that makes the modules and optimizers of cases.py.

write_cases.py OUT CLASSES_TOML CASES PYTHON...
"""

import ast
import importlib.util
import pathlib
import sys
import tomllib

from methods import Method
from optimizers import OptimizerClass
from python_source import Source
from units import Functions, Types, Unit


class OptimizerCall(Unit):
    """An optimizer whose settings are all options."""

    first, skipped, is_option = "params", {"params"}, OptimizerClass.is_option


class ScheduleCall(Unit):
    """A schedule of an optimizer."""

    first, skipped = "optimizer", {"optimizer"}


def made(unit, text):
    """`std::make_unique<Class>(arguments)` of a call of Python."""
    call = ast.parse(text, mode="eval").body
    first = getattr(unit, "first", None)
    call.args = call.args[1:] if first else call.args
    for node in ast.walk(call):
        node.file = "cases.py"
    empty = ast.parse("def f(self): pass").body[0]
    arguments = unit.call_of(Method(unit, None, empty), call)
    arguments = ", ".join(filter(None, [first, arguments]))
    return f"std::make_unique<{unit.name}>({arguments})"


def main(out, table, path, *python):
    """See above."""
    settings = tomllib.loads(pathlib.Path(table).read_text())
    spec = importlib.util.spec_from_file_location("cases", path)
    cases = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(cases)
    source = Source(python, settings["natives"])
    known = source, Functions({}, {}), Types(source, settings["types"])
    lines = ["void runModules(Run &run) {"]
    for name, (call, *inputs) in cases.MODULES.items():
        text = made(Unit(call.partition("(")[0], *known), call)
        lines.append(f'run.module<{len(inputs)}>("{name}", [] {{ return {text}; }});')
    lines += ["}", "void runOptimizers(Run &run) {"]
    for name, call in cases.OPTIMIZERS.items():
        text = made(OptimizerCall(call.partition("(")[0], *known), call)
        lines.append(f'run.optimizer("{name}", [](auto params) {{ return {text}; }});')
    lines += ["}", "void runSchedules(Run &run) {"]
    for name, call in cases.SCHEDULES.items():
        text = made(ScheduleCall(call.partition("(")[0], *known), call)
        lines.append(f'run.schedule("{name}", [](auto &optimizer) {{ return {text}; }});')
    lines += ["}", "void runRefusals(Run &run) {"]
    for kind, argument, texts in (
        (Unit, "", cases.REFUSED_MODULES),
        (OptimizerCall, "const std::vector<Tensor> &params", cases.REFUSED_OPTIMIZERS),
        (ScheduleCall, "SGD &optimizer", cases.REFUSED_SCHEDULES),
    ):
        for name, call in texts.items():
            text = made(kind(call.partition("(")[0], *known), call)
            lines.append(f'run.refusal("{name}", []({argument}) {{ (void){text}; }});')
    pathlib.Path(out).write_text("\n".join([*lines, "}", ""]))


if __name__ == "__main__":
    main(*sys.argv[1:])
