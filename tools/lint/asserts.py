"""Lint: every pytest function checks something. It asserts, makes a call that may fail by itself
(asserts.toml), or names a function of the tests that does.
"""

import ast

from tools.lint import sources


def dotted(name):
    return name.removesuffix(".py").replace("/", ".")


def imports(tree):
    """Full names of what a module imports from others, by the names in its code."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {a.asname or a.name: f"{node.module}.{a.name}" for node in nodes for a in node.names}


def body(function):
    """The nodes of a function, decorators and defaults left out."""
    return [node for statement in function.body for node in ast.walk(statement)]


def checks(nodes, failing):
    """Whether one of the nodes is an assertion or a call that `failing` has a pattern for."""
    if any(isinstance(node, ast.Assert) for node in nodes):
        return True
    calls = (ast.unparse(node) for node in nodes if isinstance(node, ast.Call))
    return any(sources.matches(call, failing) for call in calls)


def mentions(nodes, module, names):
    """Full names of the functions that the nodes name: of the module, or as it imports them."""
    for node in nodes:
        if isinstance(node, ast.Name):
            yield names.get(node.id, f"{module}.{node.id}")
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = node.value.id
            yield f"{module if owner == 'self' else names.get(owner, owner)}.{node.attr}"


def checking(functions):
    """Names of the functions that check, or mention one that does; `functions` has both by name."""
    found = {name for name, (direct, _) in functions.items() if direct}
    while more := {name for name, (_, named) in functions.items() if named & found} - found:
        found |= more
    return found


def check(files, failing):
    functions, tests = {}, {}
    for file in files:
        tree, module = ast.parse(sources.read(file)), dotted(file)
        names = imports(tree)
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef):
                continue
            name, nodes = f"{module}.{node.name}", body(node)
            direct, named = functions.get(name, (False, set()))
            named = named | set(mentions(nodes, module, names))
            functions[name] = (direct or checks(nodes, failing), named)
            if node.name.startswith("test_") and "/test_" in file:
                tests[name] = f"{file}:{node.lineno}"
    found = checking(functions)
    for name, place in tests.items():
        if name not in found:
            yield f"asserts: {place} must assert something, got no check in {name.split('.')[-1]}"


if __name__ == "__main__":
    table = sources.read_table("asserts.toml")
    files = sources.select(sources.git_files(), table["tests"])
    sources.report(list(check(files, table["failing"])))
