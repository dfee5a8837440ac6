"""Lint: no circle of imports among Python modules, none of includes among C++ units.

An import counts wherever it stands in a file, but for those below `if TYPE_CHECKING:`. A package's
`__init__` is a module of its own, and an import of one of the package's modules does not count for
it. A C++ unit is a stem: `Foo.h` and `Foo.cpp` of one folder.
"""

import argparse
import ast
import pathlib
import re
import sys

from tools.lint import sources

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)
# Folders that a path of an include, or a name of a module, may begin below.
_INCLUDE_ROOTS = ("", "frontends/cc/", "frontends/cc/include/", "frontends/cc/translate/")
_PYTHON_ROOTS = ("frontends/python/",)
_EXTENSIONS = {"tessera._core": None}  # modules that no file of Python holds
_TYPES_ONLY = ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def module_name(file):
    """The name by which a file is imported."""
    for root in _PYTHON_ROOTS:
        file = file.removeprefix(root)
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def imports_of(tree):
    """Import statements anywhere below a node, but for those that only a type checker reads."""
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and ast.unparse(node.test) in _TYPES_ONLY:
            todo += node.orelse
        else:
            todo += ast.iter_child_nodes(node)


def imported(statement, package, modules):
    """Names of the modules that an import statement asks for."""
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names]
    above = package.split(".")
    base = above[: len(above) + 1 - statement.level] if statement.level else []
    base = ".".join([*base, *filter(None, [statement.module])])
    names = [f"{base}.{alias.name}" for alias in statement.names]
    return [name if name in modules else base for name in names]


def python_graph(files):
    """{module's file: {file that it imports: line}}."""
    modules = {module_name(file): file for file in files} | _EXTENSIONS
    graph = {file: {} for file in files}
    for file in files:
        name = module_name(file)
        package = name if file.endswith("__init__.py") else name.rpartition(".")[0]
        for statement in imports_of(ast.parse(sources.read(file))):
            for target in imported(statement, package, modules):
                if modules.get(target, file) not in (file, None):
                    graph[file].setdefault(modules[target], f"{file}:{statement.lineno}")
    return graph


def cpp_graph(files):
    """{unit: {unit that it includes: line}}."""
    units = {file: str(pathlib.PurePosixPath(file).with_suffix("")) for file in files}
    graph = {unit: {} for unit in units.values()}
    for file, unit in units.items():
        text = sources.read(file)
        for match in _INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start(1)) + 1
            for other in {units.get(root + match[1], unit) for root in _INCLUDE_ROOTS} - {unit}:
                graph[unit].setdefault(other, f"{file}:{line}")
    return graph


def reach(graph, start):
    """All nodes that some way leads to from `start`."""
    found, todo = set(), [start]
    while todo:
        new = graph[todo.pop()].keys() - found
        found |= new
        todo += new
    return found


def circles(graph):
    """Strongly connected components of more than one node, each sorted, the largest first."""
    reached = {node: reach(graph, node) for node in graph}
    found = {
        tuple(sorted(other for other in ahead if node in reached[other]))
        for node, ahead in reached.items()
        if node in ahead
    }
    return sorted(found, key=lambda circle: (-len(circle), circle))


def check(kind, graph):
    """A message for each circle, with a line for each edge of it."""
    for circle in circles(graph):
        edges = [
            f"  {place} -> {other}"
            for node in circle
            for other, place in sorted(graph[node].items())
            if other in circle
        ]
        head = f"cycles: a circle of {len(circle)} {kind}: {', '.join(circle)}"
        yield "\n".join([head, *edges])


def main():
    parser = argparse.ArgumentParser(prog="cycles", description=__doc__.partition("\n")[0])
    parser.add_argument("--python", action="store_true", help="read Python modules only")
    parser.add_argument("--cpp", action="store_true", help="read C++ units only")
    options = parser.parse_args()
    files, status = sources.git_files(), 0
    both = options.python == options.cpp
    for kind, wanted, patterns, graph_of in (
        ("Python modules", options.python or both, ["*.py"], python_graph),
        ("C++ units", options.cpp or both, ["*.h", "*.cpp", "*.cu"], cpp_graph),
    ):
        if wanted:
            graph = graph_of(sources.select(files, patterns))
            messages = list(check(kind, graph))
            print(*messages, f"cycles: {len(messages)} circles in {len(graph)} {kind}", sep="\n")
            status |= bool(messages)
    sys.exit(status)


if __name__ == "__main__":
    main()
