"""Writes the package's stubs: what the records give (ops.pyi), and beside it what is written by
hand in functional/*.py and tensor.pyi.in.

    stubs.py OPS_PYI TENSOR_PYI_IN TYPES OUTPUT_FOLDER FUNCTIONAL_PY...
"""

import ast
import builtins
import sys
from pathlib import Path

from stub_types import Table, annotate, without_values

BANNER = "# Written by frontends/python/stubs.py. Do not edit.\n"
NAMES = "from .._core import DTypeLike, Tensor, TensorLike\n"
NAME_SPACES = ("fft", "quantized", "quantized_conv")  # their functions have no second home


class Surface:
    """The parts of ops.pyi: aliases, functions by module, members of Tensor."""

    def __init__(self, text):
        self.head, _, rest = text.partition("\n# ")
        sections, _, members = rest.partition("\nclass Tensor:\n")
        self.members = members
        self.functions = {}
        for section in sections.split("\n# "):
            module, *lines = section.strip().splitlines()
            self.functions[module] = lines

    def aliases(self):
        """Imports and type aliases."""
        return self.head.partition("\n")[2].strip() + "\n"


def function_name(line):
    """exp of "def exp(x: ...": ...."""
    return line[len("def ") :].partition("(")[0]


def handwritten(types, module, source):
    """{name: stub} of the public functions of a module's source."""
    nodes = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    public = [node for node in nodes if not node.name.startswith("_")]
    return {node.name: typed(types, f"functional.{module}.{node.name}", node) for node in public}


def typed(types, path, node):
    """The line of a function, or the lines that the table has for it."""
    if path in types.verbatim:
        return types.verbatim[path].strip("\n")
    annotate(types, path, node)
    arguments = ast.unparse(without_values(node.args))
    return f"def {node.name}({arguments}) -> {ast.unparse(node.returns)}: ..."


def shared(source):
    """Lines that pass on what a module has from its siblings."""
    nodes = [node for node in ast.parse(source).body if isinstance(node, ast.ImportFrom)]
    shared = [node for node in nodes if node.level == 1 and node.module != "generated"]
    siblings = [node for node in shared if not node.module.startswith("_")]
    return [
        f"from .{node.module} import {each.name} as {each.name}\n"
        for node in siblings
        for each in node.names
        if not (each.asname or each.name).startswith("_")
    ]


def has_names(source):
    """Whether a module has functions for users: it exports those of records, or lists its own."""
    lists = [n for n in ast.parse(source).body if isinstance(n, ast.Assign)]
    return "\nexport(globals())\n" in source or any(
        ast.unparse(n.targets[0]) == "__all__" and isinstance(n.value, ast.List) for n in lists
    )


def functional_stub(surface, types, module, source):
    """The stub of functional.<module>: a function written by hand replaces the generated one."""
    lines = {
        function_name(line): line for line in surface.functions.get(f"functional.{module}", [])
    }
    lines.update(handwritten(types, module, source))
    head = ["from collections.abc import Callable, Sequence\nfrom typing import Any, Literal\n"]
    head += [NAMES + "".join(shared(source))]
    body = [lines[name] for name in sorted(lines)]
    return BANNER + "\n".join([*head, *body]) + "\n"


def method_stub(line, functions):
    """A member that the records give, with the arguments of the function by hand of its name."""
    arguments = functions.get(function_name(line.strip()))
    if arguments is None:
        return line
    first, *rest = arguments.args
    arguments.args = [ast.arg("self"), *rest]
    head, _, result = line.rpartition("->")
    return f"{head.partition('(')[0]}({ast.unparse(arguments)}) ->{result}"


def core_stub(surface, tensor, functions):
    """The stub of the extension; `functions`: the arguments of those written by hand."""
    imports = "from collections.abc import Callable, Iterator\nfrom types import ModuleType\n"
    imports += "from typing import Any\n\n"
    imports += "from ._hooks import HookHandler\nfrom .device import Device\n"
    imports += "from .quantization.utils import QParams\n"
    members = [method_stub(line, functions) for line in surface.members.splitlines()]
    kind = with_builtins(tensor.partition("\n")[2] + "\n".join(members) + "\n")
    rest = "\n\ndef __getattr__(name: str) -> Any: ...\n"
    return f"{BANNER}import builtins\n{imports}{surface.aliases()}\n{kind}{rest}"


def arguments_of(stub):
    """The arguments of the last form in the stub of a function."""
    return ast.parse(stub).body[-1].args


def with_builtins(source):
    """The class `source`, in which a type that a method hides, such as float, is builtins.float."""
    tree = ast.parse(source)
    hidden = {each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in hidden and hasattr(builtins, node.id):
            node.id = f"builtins.{node.id}"
    return ast.unparse(tree)


def package_stub(modules):
    """The stub of functional/__init__.py."""
    lines = [f"from . import {name} as {name}" for name in modules]
    lines += [f"from .{name} import *" for name in modules if name not in NAME_SPACES]
    return BANNER + "\n".join(lines) + "\n"


def main(ops, tensor, types, output, *sources):
    """Writes all stubs below `output`."""
    surface, folder = Surface(Path(ops).read_text()), Path(output) / "functional"
    types = Table(types)
    texts = {Path(s).stem: Path(s).read_text() for s in sources}
    modules = sorted(name for name, source in texts.items() if has_names(source))
    folder.mkdir(parents=True, exist_ok=True)
    functions = {
        name: arguments_of(stub)
        for module, source in texts.items()
        if module not in NAME_SPACES
        for name, stub in handwritten(types, module, source).items()
    }
    stub = core_stub(surface, Path(tensor).read_text(), functions)
    (Path(output) / "_core.pyi").write_text(stub)
    (folder / "__init__.pyi").write_text(package_stub(modules))
    for name in modules:
        (folder / f"{name}.pyi").write_text(functional_stub(surface, types, name, texts[name]))


if __name__ == "__main__":
    main(*sys.argv[1:])
