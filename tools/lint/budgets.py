"""Lint: no file, function or record over its budget (budgets.toml)."""

import ast
import re

from tools.lint import cpp_functions, sources


def first_limit(name, table):
    return next(
        (rule["limit"] for rule in table["file"] if sources.matches(name, rule["match"])), None
    )


def check_file(name, text, table):
    limit, lines = first_limit(name, table), text.count("\n")
    if limit and lines > limit and name not in table.get("exempt", {}):
        yield f"budgets: {name} must have at most {limit} lines, got {lines}"


def python_functions(text):
    """(name, first line, lines without the docstring)"""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            doc = node.body[0] if ast.get_docstring(node) is not None else None
            doc_lines = doc.end_lineno - doc.lineno + 1 if doc else 0
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1 - doc_lines


def td_records(text):
    """Records and classes with a body that ends at a `}` in column 0."""
    start = None
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"(def|class|multiclass)\b", line):
            start = (re.split(r"[\s:<]+", line)[1], number)
        if line.startswith("}") and start:
            yield start[0], start[1], number - start[1] + 1
            start = None


PARSERS = {
    "cpp": cpp_functions.functions,
    "h": cpp_functions.functions,
    "py": python_functions,
    "td": td_records,
}
KINDS = {"cpp": "cpp", "h": "cpp", "py": "python", "td": "td"}


def check_functions(name, text, table):
    suffix = name.rsplit(".", 1)[-1]
    if suffix not in PARSERS or name in table.get("exempt", {}):
        return
    limit = table["function"][KINDS[suffix]]
    for function, line, length in PARSERS[suffix](text):
        if length > limit:
            what = f"{name}:{line}: {function}"
            yield f"budgets: {what} must have at most {limit} lines, got {length}"


def check(names, table):
    for name in names:
        text = sources.read(name)
        yield from check_file(name, text, table)
        yield from check_functions(name, text, table)


if __name__ == "__main__":
    sources.report(list(check(sources.git_files(), sources.read_table("budgets.toml"))))
