"""Expressions of Python as expressions of C++.

Values keep Python's meaning through the overloads of Translated.h: `divide`, `truth`, `isNone`, …
"""

import ast
import json

from names import camel
from python_source import UntranslatableError

_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
_FUNCTIONS = {ast.Div: "divide", ast.FloorDiv: "floorDivide", ast.Mod: "modulo", ast.Pow: "power"}
_COMPARISONS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">",
                ast.GtE: ">="}  # fmt: skip
_CONSTANTS = {None: "none", True: "true", False: "false"}


class Expressions(ast.NodeVisitor):
    """Translates expressions of one method. A subclass gives what a call and an attribute mean."""

    def generic_visit(self, node):
        """Everything that no method here is for."""
        raise UntranslatableError(node, "this has no C++")

    def condition(self, node):
        """A bool of C++."""
        if isinstance(node, ast.BoolOp):
            sign = " && " if isinstance(node.op, ast.And) else " || "
            return f"({sign.join(self.condition(each) for each in node.values)})"
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return f"!{self.condition(node.operand)}"
        if isinstance(node, ast.Compare):
            return self.visit(node)
        return f"truth({self.visit(node)})"

    def visit_Constant(self, node):  # noqa: N802
        """A number, a text, None."""
        value = node.value
        if isinstance(value, str):
            return f"std::string({json.dumps(value)})"
        if value is None or isinstance(value, bool):
            return _CONSTANTS[value]
        return repr(value)

    def visit_BinOp(self, node):  # noqa: N802
        """Sums, products and quotients."""
        left, right = self.visit(node.left), self.visit(node.right)
        if isinstance(node.left, (ast.Tuple, ast.List)) and isinstance(node.op, ast.Mult):
            return f"repeated({left}, {right})"
        if type(node.op) in _FUNCTIONS:
            return f"{_FUNCTIONS[type(node.op)]}({left}, {right})"
        if type(node.op) not in _OPERATORS:
            raise UntranslatableError(node, "this operator has no C++")
        return f"({left} {_OPERATORS[type(node.op)]} {right})"

    def visit_UnaryOp(self, node):  # noqa: N802
        """Negation."""
        if isinstance(node.op, ast.Not):
            return self.condition(node)
        if not isinstance(node.op, ast.USub):
            raise UntranslatableError(node, "this operator has no C++")
        return f"(-{self.visit(node.operand)})"

    def visit_BoolOp(self, node):  # noqa: N802
        """The first value that decides."""
        values = [self.visit(each) for each in node.values]
        if isinstance(node.op, ast.And):
            return self.condition(node)
        return f"either({', '.join(values)})"

    def visit_Compare(self, node):  # noqa: N802
        """Comparisons of numbers, texts and tensors."""
        terms, left = [], node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            terms.append(self._comparison(node, operator, left, right))
            left = right
        return terms[0] if len(terms) == 1 else f"({' && '.join(terms)})"

    def _comparison(self, node, operator, left, right):
        if isinstance(operator, (ast.Is, ast.IsNot)):
            if not isinstance(right, ast.Constant) or right.value is not None:
                raise UntranslatableError(node, "only `is None` has C++")
            sign = "" if isinstance(operator, ast.Is) else "!"
            return f"{sign}isNone({self.visit(left)})"
        if isinstance(operator, (ast.In, ast.NotIn)):
            sign = "" if isinstance(operator, ast.In) else "!"
            return f"{sign}contains({self.visit(right)}, {self.visit(left)})"
        return f"({self.visit(left)} {_COMPARISONS[type(operator)]} {self.visit(right)})"

    def visit_IfExp(self, node):  # noqa: N802
        """One of two values."""
        test, one, other = self.condition(node.test), self.visit(node.body), self.visit(node.orelse)
        return f"({test} ? {one} : {other})"

    def visit_Tuple(self, node):  # noqa: N802
        """Sizes where all are numbers, else a tuple."""
        is_none = [isinstance(each, ast.Constant) and each.value is None for each in node.elts]
        parts = ["Tensor()" if none else self.visit(each)
                 for none, each in zip(is_none, node.elts, strict=True)]  # fmt: skip
        return f"pack({', '.join(parts)})"

    visit_List = visit_Tuple  # noqa: N815

    def visit_Starred(self, node):  # noqa: N802
        """Sizes within a tuple."""
        return f"spread({self.visit(node.value)})"

    def visit_Dict(self, node):  # noqa: N802
        """Tensors by name."""
        merged = [self.visit(v) for k, v in zip(node.keys, node.values, strict=True) if k is None]
        own = [f"{{{self.visit(k)}, {self.visit(v)}}}"
               for k, v in zip(node.keys, node.values, strict=True) if k is not None]  # fmt: skip
        own = f"Named{{{', '.join(own)}}}"
        return f"merged({merged[0]}, {own})" if merged else own

    def visit_ListComp(self, node):  # noqa: N802
        """The function of every element."""
        (part,) = node.generators
        if part.ifs:
            raise UntranslatableError(node, "a condition in a list has no C++")
        body = self.visit(node.elt)
        if isinstance(part.target, ast.Name):
            function = f"[&](auto {camel(part.target.id)}) {{ return {body}; }}"
        else:
            names = ", ".join(camel(each.id) for each in part.target.elts)
            function = f"[&](auto each) {{ auto [{names}] = each; return {body}; }}"
        return f"mapped({self.visit(part.iter)}, {function})"

    visit_GeneratorExp = visit_ListComp  # noqa: N815

    def visit_JoinedStr(self, node):  # noqa: N802
        """A text with values in it."""
        parts = []
        for each in node.values:
            if isinstance(each, ast.Constant):
                parts.append(json.dumps(each.value))
            else:
                value = self.visit(each.value)
                parts.append(f"quoted({value})" if each.conversion == ord("r") else value)
        return f"text({', '.join(parts)})"

    def visit_Subscript(self, node):  # noqa: N802
        """An element of sizes, or those of a slice."""
        value, index = self.visit(node.value), node.slice
        if not isinstance(index, ast.Slice):
            return f"at({value}, {self.visit(index)})"
        if index.step is not None:
            raise UntranslatableError(node, "a step has no C++")
        ends = [self.visit(each or ast.Constant(None)) for each in (index.lower, index.upper)]
        return f"part({value}, {ends[0]}, {ends[1]})"
