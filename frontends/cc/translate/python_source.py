"""The classes of the Python package, as syntax trees."""

import ast
import pathlib


class UntranslatableError(Exception):
    """A piece of Python that has no C++ here."""

    def __init__(self, node, what):
        place = f"{getattr(node, 'file', '?')}:{getattr(node, 'lineno', 0)}"
        super().__init__(f"{place}: {what}, got {ast.unparse(node)}")


class Source:
    """Classes, functions and constants by name, of several files: no two files share a class's
    name. `natives`: those that are written in C++.
    """

    def __init__(self, paths, natives=()):
        self.classes, self.functions, self.constants = {}, {}, {}
        for path in paths:
            tree = ast.parse(pathlib.Path(path).read_text())
            for node in ast.walk(tree):
                node.file = path
            for node in tree.body:
                if getattr(node, "name", None) in natives:
                    continue
                if isinstance(node, ast.ClassDef):
                    self.classes[node.name] = node
                elif isinstance(node, ast.FunctionDef):
                    self.functions[node.name] = node
                elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                    self.constants[path, node.targets[0].id] = node.value

    def lineage(self, name):
        """The class and those that it derives from here, the nearest first."""
        found = []
        while name in self.classes:
            found.append(self.classes[name])
            bases = [base.id for base in self.classes[name].bases if isinstance(base, ast.Name)]
            name = bases[0] if bases else None
        return found

    def method(self, name, method, behind=None):
        """(class, function) of a method; `behind`: as super() of that class sees it. None: none."""
        lineage = self.lineage(name)
        if behind is not None:
            lineage = lineage[[each.name for each in lineage].index(behind) + 1 :]
        for each in lineage:
            for node in each.body:
                if isinstance(node, ast.FunctionDef) and node.name == method:
                    return each, node
        return None

    def constant(self, name, attribute):
        """The value of an attribute of the class, a tree; None: it has none."""
        for each in self.lineage(name):
            for node in each.body:
                value = _assigned(node, attribute)
                if value is not None:
                    return value
        return None

    def docstring(self, name):
        """What the class says of itself, without examples."""
        texts = (ast.get_docstring(each) for each in self.lineage(name))
        text = next((each for each in texts if each), "")
        return text.partition("\n>>>")[0].partition("\n\nRaises:")[0].strip()


def _assigned(node, attribute):
    """What a statement of a class gives to the attribute."""
    if not isinstance(node, ast.Assign):
        return None
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Name) and target.id == attribute:
        return value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = zip(target.elts, value.elts, strict=True)
        return next((each for name, each in pairs if name.id == attribute), None)
    return None


def parameters(function):
    """(name, default or None) of the arguments of a function, without self and **kwargs."""
    args = function.args
    plain = args.posonlyargs + args.args
    defaults = [None] * (len(plain) - len(args.defaults)) + args.defaults
    named = [(arg.arg, default) for arg, default in zip(plain, defaults, strict=True)]
    named += [(arg.arg, each) for arg, each in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    return [pair for pair in named if pair[0] != "self"]
