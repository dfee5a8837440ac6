"""Names and types of the C++ side."""

import ast
import re

_KEYWORDS = {"default", "operator", "and", "or", "not", "new", "delete", "this", "mutable"}


def camel(name):
    """A name of C++.

    >>> camel("_kernel_size"), camel("default"), camel("T_max")
    ('kernelSize', 'default_', 'tMax')
    """
    first, *rest = (name.strip("_") or "other").split("_")
    first = first[0].lower() + first[1:] if len(first) == 1 else first
    joined = first + "".join(part[:1].upper() + part[1:] for part in rest)
    return joined + "_" if joined in _KEYWORDS else joined


def split_arguments(text):
    """The parts of a text between the commas that are in no brackets.

    >>> split_arguments("int a = f(1, 2), b")
    ['int a = f(1, 2)', 'b']
    """
    parts, depth = [""], 0
    for letter in text:
        depth += letter in "({<["
        depth -= letter in ")}>]"
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


_FUNCTION = re.compile(r"^(?:inline )?([\w:<>, ]+?) (\w+)\((.*?)\)(?: \{|;)$", re.MULTILINE)


def signatures(text):
    """{name: (type of the result, [(argument, default or None)])} of the functions of a header."""
    found = {}
    for result, name, arguments in _FUNCTION.findall(
        re.sub(r"\n {4,}|(?<=>)\n|(?<=States)\n", " ", text)
    ):
        pairs = []
        for each in split_arguments(arguments):
            declared, _, default = each.partition(" = ")
            pairs.append((re.split(r"[ &*]", declared)[-1], default or None))
        found[name] = result, pairs
    return found


def type_of_default(node):
    """The type of an argument, of its default; None: it does not say."""
    if node is None:
        return "int64_t"
    if isinstance(node, ast.BinOp):
        return "double"
    if isinstance(node, ast.UnaryOp):
        return type_of_default(node.operand)
    if isinstance(node, ast.Tuple):
        return f"std::array<{type_of_default(node.elts[0])}, {len(node.elts)}>"
    kinds = {bool: "bool", int: "int64_t", float: "double", str: "std::string"}
    return kinds.get(type(getattr(node, "value", None)))
