"""Writes the package's stubs: what the records give (ops.pyi), and beside it what is written by
hand in functional/*.py and tensor.pyi.in.

    stubs.py OPS_PYI TENSOR_PYI_IN OUTPUT_FOLDER FUNCTIONAL_PY...
"""

import ast
import re
import sys
from pathlib import Path

BANNER = "# Written by frontends/python/stubs.py. Do not edit.\n"
NAMES = "from .._core import DTypeLike, Tensor, TensorLike\n"


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


def handwritten(source):
    """{name: stub} of the public functions of a module's source."""
    nodes = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    return {
        node.name: f"def {node.name}({ast.unparse(node.args)}): ..."
        for node in nodes
        if not node.name.startswith("_")
    }


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


def lists_names(source):
    """Whether a module of handwritten functions alone lists them in `__all__`."""
    lists = [n for n in ast.parse(source).body if isinstance(n, ast.Assign)]
    return any(
        ast.unparse(n.targets[0]) == "__all__" and isinstance(n.value, ast.List) for n in lists
    )


def functional_stub(surface, module, source):
    """The stub of functional.<module>: a function written by hand replaces the generated one."""
    lines = {
        function_name(line): line for line in surface.functions.get(f"functional.{module}", [])
    }
    lines.update(handwritten(source))
    head = ["from collections.abc import Sequence\n", NAMES + "".join(shared(source))]
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
    imports = "from collections.abc import Iterator\nfrom types import ModuleType\n"
    imports += "from typing import Any\n\n"
    imports += "from .device import Device\nfrom .quantization import QParams\n"
    lines = [method_stub(line, functions) for line in surface.members.splitlines()]
    members = tensor.partition("\n")[2] + "\n".join(lines) + "\n"
    members = re.sub(r"(?<!def )\bfloat\b(?!\()", "_float", members)
    alias = "_float = float  # Tensor has a method of that name\n"
    rest = "def __getattr__(name: str) -> Any: ...\n"
    return f"{BANNER}{imports}{surface.aliases()}{alias}\n{members}\n{rest}"


def package_stub(modules):
    """The stub of functional/__init__.py."""
    lines = [f"from . import {name} as {name}" for name in modules]
    return BANNER + "\n".join(lines + [f"from .{name} import *" for name in modules]) + "\n"


def main(ops, tensor, output, *sources):
    """Writes all stubs below `output`."""
    surface, folder = Surface(Path(ops).read_text()), Path(output) / "functional"
    texts = {Path(s).stem: Path(s).read_text() for s in sources}
    modules = sorted(
        name
        for name, source in texts.items()
        if f"functional.{name}" in surface.functions or lists_names(source)
    )
    folder.mkdir(parents=True, exist_ok=True)
    functions = {
        node.name: node.args
        for source in texts.values()
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef)
    }
    stub = core_stub(surface, Path(tensor).read_text(), functions)
    (Path(output) / "_core.pyi").write_text(stub)
    (folder / "__init__.pyi").write_text(package_stub(modules))
    for name in modules:
        (folder / f"{name}.pyi").write_text(functional_stub(surface, name, texts[name]))


if __name__ == "__main__":
    main(*sys.argv[1:])
