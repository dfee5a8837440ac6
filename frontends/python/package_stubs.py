"""Writes the stubs of the package's modules but for functions of tensors and the array API.

package_stubs.py TABLE ARGUMENTS_PY OUTPUT_FOLDER PACKAGE_PY...
"""

import ast
import runpy
import sys
from pathlib import Path

from stub_types import Table, annotate, own_nodes, type_of_default, without_values

BANNER = "# Written by frontends/python/package_stubs.py. Do not edit.\n"
_KEPT_DECORATORS = ("property", "classmethod", "staticmethod", "dataclass")


class Stub:
    """The stub of one module, and the names that it needs."""

    def __init__(self, table, path, source, is_package):
        self.table, self.path, self.is_package = table, path, is_package
        self.tree, self.lines = ast.parse(source), []
        self.exported = _exported(self.tree)
        self.bases = {
            node.name: [ast.unparse(base) for base in node.bases]
            for node in self.tree.body
            if isinstance(node, ast.ClassDef)
        }

    def text(self):
        """The whole stub."""
        self.lines += self.table.additions.get(self.path, "").splitlines()
        for node in self.tree.body:
            self._add(node)
        body = "\n".join(self.lines) + "\n"
        return BANNER + "".join(self._imports(body)) + "\n" + body

    def _dotted(self, *names):
        return ".".join([*([self.path] if self.path else []), *names])

    def _add(self, node):
        name = getattr(node, "name", None)
        if name and self._dotted(name) in self.table.verbatim:
            self.lines += self.table.verbatim[self._dotted(name)].strip("\n").splitlines()
        elif isinstance(node, ast.FunctionDef) and self._is_public(name):
            self.lines += self._function(node, self._dotted(name))
        elif isinstance(node, ast.ClassDef):
            self.lines += self._class(node)
        elif isinstance(node, ast.Assign):
            self.lines += self._constants(node)
        elif isinstance(node, ast.AnnAssign):
            self.lines.append(ast.unparse(node))

    def _is_public(self, name):
        """Whether users may take a name from this module."""
        return not name.startswith("_") or name in self.exported

    def _constants(self, node):
        """The lines of an assignment; a named tuple that a call makes is a class."""
        targets = [each for t in node.targets for each in getattr(t, "elts", [t])]
        names = [each.id for each in targets if isinstance(each, ast.Name)]
        names = [name for name in names if name != "__all__" and self._is_public(name)]
        if fields := _fields(node.value):
            return [f"class {names[0]}(NamedTuple):", *(f"    {each}: Any" for each in fields)]
        kind = type_of_default(node.value) or "Any"
        is_known = self.table.additions.get(self.path, "")
        return [f"{name}: {kind}" for name in names if f"{name}: " not in is_known]

    def _function(self, node, path, lineage=(), skip=0, indent=""):
        """The lines of a function, or of a method whose first `skip` parameters have no type."""
        if path in self.table.verbatim:
            text = self.table.verbatim[path].strip("\n")
            return [indent + line for line in text.splitlines()]
        decorators = [*map(ast.unparse, node.decorator_list)]
        if path.startswith("module.") and node.name == "__init__":
            _take_name(node.args)
        annotate(self.table, path, node, lineage, skip)
        if any("contextmanager" in each for each in decorators):
            result = "_GeneratorContextManager[Any]"
        else:
            result = ast.unparse(node.returns)
        kept = [f"{indent}@{each}" for each in decorators if _is_kept(each)]
        kept += [f"{indent}@property" for each in decorators if "cached_property" in each]
        arguments = ast.unparse(without_values(node.args))
        return [*kept, f"{indent}def {node.name}({arguments}) -> {result}: ..."]

    def _class(self, node):
        """The lines of a class. A layer is called as its forward is."""
        bases = [base for base in map(ast.unparse, node.bases) if base != "ABC"]
        kept = [f"@{each}" for each in map(ast.unparse, node.decorator_list) if _is_kept(each)]
        head = f"class {node.name}({', '.join(bases)}):" if bases else f"class {node.name}:"
        body, methods = [], [each for each in node.body if isinstance(each, ast.FunctionDef)]
        lineage = self._lineage(node.name)
        names = {each.name for each in methods}
        for each in node.body:
            body += self._member(each, node, lineage)
        if "forward" in names and self.path.startswith("module.") and "__call__" not in names:
            (forward,) = [each for each in methods if each.name == "forward"]
            forward.name = "__call__"
            body += self._function(forward, self._dotted(node.name, "forward"), lineage, 1, "    ")
        added = self.table.additions.get(self._dotted(node.name), "").splitlines()
        body += ["    " + line for line in added]
        body += self._attributes(methods, names, body)
        return [*kept, head, *(body or ["    ..."])]

    def _lineage(self, name):
        """The class and its bases in this module, the class first."""
        found = [name]
        for each in found:
            found += self.bases.get(each, [])
        return found

    def _member(self, each, node, lineage):
        """The lines of a method or an attribute of the class `node`."""
        if isinstance(each, ast.FunctionDef) and _is_member(each.name):
            is_static = any(ast.unparse(d) == "staticmethod" for d in each.decorator_list)
            path = self._dotted(node.name, each.name)
            return self._function(each, path, lineage, 0 if is_static else 1, "    ")
        if isinstance(each, ast.AnnAssign):
            return [f"    {ast.unparse(each)}"]
        if isinstance(each, ast.Assign):
            targets = [n.id for t in each.targets for n in ast.walk(t) if isinstance(n, ast.Name)]
            if any("Enum" in ast.unparse(base) for base in node.bases):
                return [f"    {ast.unparse(each)}"]
            kind = type_of_default(each.value) or "Any"
            return [f"    {name}: {kind}" for name in targets if _is_member(name)]
        return []

    def _attributes(self, methods, names, body):
        """Public attributes that methods set."""
        rows, taken = {}, {line.strip().partition(":")[0] for line in body}
        for method in methods:
            kinds = {a.arg: a.annotation for a in ast.walk(method.args) if isinstance(a, ast.arg)}
            for name, value in _set_on_self(method):
                known = kinds.get(value.id) if isinstance(value, ast.Name) else None
                kind = ast.unparse(known) if known else type_of_default(value) or "Any"
                rows.setdefault(name, kind.replace("Incomplete", "Any"))
                if rows[name] != kind:
                    rows[name] = "Any"
        return [f"    {n}: {k}" for n, k in rows.items() if n not in names and n not in taken]

    def _imports(self, body):
        """Imports of the module that the stub needs or passes on, and those of its types."""
        used = {n.id for n in ast.walk(ast.parse(body)) if isinstance(n, ast.Name)}
        own = {
            n.name for n in ast.parse(body).body if isinstance(n, (ast.ClassDef, ast.FunctionDef))
        }
        found = set()
        for node in _import_nodes(self.tree):
            for each in node.names:
                name = each.asname or each.name.partition(".")[0]
                passes_on = self._passes_on(node, name)
                if each.name == "*" or name in used or passes_on:
                    found.add(name)
                    yield _import_line(node, each, passes_on)
        dots = "." * (self.path.count(".") + 1 + (1 if self.is_package and self.path else 0))
        for name in sorted(used - found - own):
            if home := self.table.homes.get(name):
                yield _line_of_home(home, name, dots)

    def _passes_on(self, node, name):
        """Whether an imported name is one that users may take from here."""
        is_own = isinstance(node, ast.ImportFrom) and node.level > 0
        return self._is_public(name) and (
            name in self.exported or (is_own and (self.is_package or not self.exported))
        )


def _line_of_home(home, name, dots):
    if home == "numpy":
        return "import numpy as np\n"
    if not home.startswith("."):
        return f"from {home} import {name}\n"
    return f"from {dots}{home[1:]} import {name}\n"


def _import_nodes(tree):
    """Imports at the top, and those for checkers alone."""
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif isinstance(node, (ast.If, ast.With)):
            yield from (n for n in node.body if isinstance(n, (ast.Import, ast.ImportFrom)))


def _import_line(node, each, passes_on):
    alias = each.asname or (each.name if passes_on and "." not in each.name else None)
    suffix = f" as {alias}" if alias and each.name != "*" else ""
    if isinstance(node, ast.Import):
        return f"import {each.name}{suffix}\n"
    return f"from {'.' * node.level}{node.module or ''} import {each.name}{suffix}\n"


def _exported(tree):
    """Names in `__all__`."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return {each.value for each in ast.walk(node.value) if isinstance(each, ast.Constant)}
    return set()


def _is_kept(decorator):
    return decorator.partition("(")[0] in _KEPT_DECORATORS or decorator.endswith(".setter")


def _is_member(name):
    return not name.startswith("_") or (name.startswith("__") and name.endswith("__"))


def _fields(value):
    """The fields of a named tuple that a call makes."""
    if (
        not isinstance(value, ast.Call)
        or ast.unparse(value.func).rpartition(".")[2] != "namedtuple"
    ):
        return []
    fields = ast.literal_eval(value.args[1])
    return fields.replace(",", " ").split() if isinstance(fields, str) else fields


def _take_name(arguments):
    """The keywords that a layer passes on are Module's: its name."""
    if arguments.kwarg is not None:
        arguments.kwarg = None
        arguments.kwonlyargs.append(ast.arg("name"))
        arguments.kw_defaults.append(ast.Constant(None))


def _set_on_self(method):
    """(name, value) of assignments to attributes."""
    for node in own_nodes(method):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _pairs(target, node.value)


def _pairs(target, value):
    if isinstance(target, ast.Tuple):
        values = value.elts if isinstance(value, ast.Tuple) else [value] * len(target.elts)
        same = len(values) == len(target.elts) and isinstance(value, ast.Tuple)
        for each, one in zip(
            target.elts, values if same else [ast.Constant(...)] * 99, strict=False
        ):
            yield from _pairs(each, one)
    elif _is_public_of_self(target):
        yield target.attr, value


def _is_public_of_self(target):
    return (
        isinstance(target, ast.Attribute)
        and ast.unparse(target.value) == "self"
        and not target.attr.startswith("_")
    )


def main(table, arguments, output, *sources):
    """Writes a stub for each source."""
    rows = Table(table, runpy.run_path(arguments)["argument"])
    for source in map(Path, sources):
        parts = source.parts[source.parts.index("tessera") + 1 :]
        is_package = parts[-1] == "__init__.py"
        path = ".".join(parts[:-1] if is_package else (*parts[:-1], source.stem))
        stub = Stub(rows, path, source.read_text(), is_package)
        target = Path(output, *parts).with_suffix(".pyi")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(stub.text())


if __name__ == "__main__":
    main(*sys.argv[1:])
