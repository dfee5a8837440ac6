"""Methods of Python classes as functions of C++, `auto name(Class &self, auto argument)`."""

import ast
import re

from expressions import Expressions
from names import camel
from python_source import UntranslatableError, parameters

_ERRORS = {"ValueError": "InvalidArgument", "TypeError": "TypeMismatch", "KeyError": "NotFound",
           "NotImplementedError": "Unimplemented", "RuntimeError": "Internal"}  # fmt: skip
_FILLED = {"empty": "0", "zeros": "0", "ones": "1"}
_METHODS = {"_reset": "assign", "set_value": "assign", "append": "push_back"}
_DROPPED = {"device", "strict"}  # arguments that C++ does not have


class Method(Expressions):
    """One method of `unit`, the class that it becomes a part of."""

    def __init__(self, unit, owner, function):
        self.unit, self.owner, self.function = unit, owner, function
        self.known = {name for name, _ in parameters(function)}
        self.count = 0  # of names made up
        self.pointers = set()  # variables that stand for modules
        self.target = None  # the attribute that a value is made for

    # Names and attributes.

    def visit_Name(self, node):  # noqa: N802
        """A variable, or a constant of the file."""
        value = self.unit.source.constants.get((node.file, node.id))
        if node.id in self.known or value is None:
            return camel(node.id)
        return self.visit(value)

    def visit_Attribute(self, node):  # noqa: N802
        """An attribute of the object, or of a tensor."""
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            return self._own(node)
        if ast.unparse(node) in ("math.inf", "math.pi"):
            return {"inf": "INFINITY", "pi": "M_PI"}[node.attr]
        if ast.unparse(node) == "type(self).__name__":
            return f'std::string("{self.unit.name}")'
        if ast.unparse(node.value).startswith("self.") and node.value.attr in self.unit.children:
            return f"{self.visit(node.value)}->{camel(node.attr)}"
        if isinstance(node.value, ast.Name) and node.value.id in self.pointers:
            return f"{camel(node.value.id)}->{camel(node.attr)}"
        if node.attr in ("shape", "ndim", "dtype"):
            return f"{node.attr}Of({self.visit(node.value)})"
        return f"{self.visit(node.value)}.{camel(node.attr)}"

    def _own(self, node):
        unit, name = self.unit, node.attr
        if name == "training":
            return "self.isTraining()"
        found = unit.source.method(unit.name, name)
        if found and any(ast.unparse(each) == "property" for each in found[1].decorator_list):
            return f"{unit.translate(*found)}(self)"
        constant = unit.source.constant(unit.name, name)
        if constant is not None and name not in unit.members:
            return self.visit(constant)
        return f"self.{camel(name)}"

    # Calls.

    def visit_Call(self, node):  # noqa: N802
        """A call of a method, of an operator, of a function of Python or of this package."""
        function, text = node.func, ast.unparse(node.func)
        if text == "self.function":
            function = self.unit.source.constant(self.unit.name, "function").args[0]
            return self._operator(node, function.attr)
        if text.startswith(("F.", "_ops.", "_core.ops.")):
            return self._operator(node, function.attr)
        if text in ("Parameter", "Tensor"):
            return self._tensor(node, text)
        if text.startswith("np."):
            return self._array(node, function.attr)
        if isinstance(function, ast.Attribute):
            return self._method(node, function)
        if function.id in self.unit.source.classes:
            return self._child(node, function.id)
        return self._function(node, function.id)

    def _function(self, node, name):
        """A call of a function in a variable, of the package, of C++ with it, or of Python."""
        if name in self.known:
            return f"{camel(name)}({self._plain(node)})"
        functions = self.unit.source.functions
        found = functions.get(name, functions.get(name.lstrip("_")))
        if found is not None:
            return self._own_method(node, (None, found))
        where, declared = self.unit.functions.find(name.strip("_"))
        if declared is not None and where.startswith("nn::"):
            return f"{where}({self._ordered(node, declared)})"
        return f"{camel(name)}Of({self._plain(node)})"

    def _plain(self, node):
        given = [self.visit(each) for each in node.args if ast.unparse(each) != "int"]
        given += [self.visit(each.value) for each in node.keywords if each.arg not in _DROPPED]
        return ", ".join(given)

    def _ordered(self, node, declared, every=False):
        """The arguments of a call in the order of [(name, default as C++)]: `every` one, or those
        up to the last one given.
        """
        if any(each.arg is None for each in node.keywords):
            raise UntranslatableError(node, "**names have no C++")
        given = dict(zip((name for name, _ in declared), map(self.visit, node.args), strict=False))
        if len(node.args) > len(declared):
            raise UntranslatableError(node, f"there are {len(declared)} arguments in C++")
        for each in node.keywords:
            if each.arg in _DROPPED:
                continue
            if camel(each.arg) not in map(camel, dict(declared)):
                raise UntranslatableError(node, f"no argument {each.arg} in C++")
            name = next(name for name, _ in declared if camel(name) == camel(each.arg))
            given[name] = self.visit(each.value)
        last = max((i for i, (name, _) in enumerate(declared) if name in given), default=-1)
        last = len(declared) - 1 if every else last
        missing = [name for name, default in declared[: last + 1]
                   if name not in given and default is None]  # fmt: skip
        if missing:
            raise UntranslatableError(node, f"arguments {missing} must be given")
        return ", ".join(given.get(name, default) for name, default in declared[: last + 1])

    def _operator(self, node, name):
        where, declared = self.unit.functions.find(name)
        if declared is None:
            raise UntranslatableError(node, f"no operator {name} in C++")
        return f"{where}({self._ordered(node, declared)})"

    def _tensor(self, node, kind):
        if self.target is None:
            raise UntranslatableError(node, "a tensor must be made for an attribute")
        name = f'"{self.target}"'
        return f"Parts::{kind.lower()}(self, {name}, {self.visit(node.args[0])})"

    def _array(self, node, name):
        if name == "full":
            return f"filled({self.visit(node.args[0])}, {self.visit(node.args[1])})"
        if name not in _FILLED:
            raise UntranslatableError(node, "this has no C++")
        return f"filled({self.visit(node.args[0])}, {_FILLED[name]})"

    def _child(self, node, name):
        arguments = self.unit.construction(self, node, name)
        return f'Parts::child<{name}>(self, "{self.target}"{arguments and ", " + arguments})'

    def _method(self, node, function):
        text, name, unit = ast.unparse(function.value), function.attr, self.unit
        if text == "super()":
            return self._own_method(node, unit.source.method(unit.name, name, self.owner.name))
        if text == "self" and name in unit.children:
            return f"(*self.{camel(name)})({self._given_to(node, unit.children[name])})"
        found = unit.source.method(unit.name, name) if text == "self" else None
        if found:
            return self._own_method(node, found)
        if text in ("init", "math"):
            return f"{text}::{camel(name)}({self._plain(node)})"
        receiver = self.visit(function.value)
        if name in ("upper", "lower", "join"):
            return f"{name}Of({', '.join([receiver, *filter(None, [self._plain(node)])])})"
        if name == "astype":
            return f"{receiver}.astype({self.visit(node.args[0])})"
        return f"{receiver}.{_METHODS.get(name, camel(name))}({self._plain(node)})"

    def _given_to(self, node, child):
        """The arguments of a call of a module of the class `child`, in the order of its forward."""
        found = self.unit.source.method(child, "forward")
        if found is None:
            return self._plain(node)
        declared = [(each, None if value is None else self._default(found, value))
                    for each, value in parameters(found[1])]  # fmt: skip
        return self._ordered(node, declared)

    def _own_method(self, node, found):
        """A call of a method of this class, written here too."""
        if found is None:  # of Module itself
            return ""
        name = self.unit.translate(*found)
        keywords = [each for each in node.keywords if each.arg is not None]
        call = ast.copy_location(ast.Call(node.func, node.args, keywords), node)
        call.file = node.file
        declared = [(each, None if value is None else self._default(found, value))
                    for each, value in parameters(found[1])]  # fmt: skip
        arguments = self._ordered(call, declared, every=True)
        return f"{name}({', '.join(filter(None, [found[0] and 'self', arguments]))})"

    def _default(self, found, value):
        return Method(self.unit, *found).visit(value)

    # Statements.

    def body(self, statements):
        """The lines of C++ of statements."""
        return [line for each in statements for line in self.statement(each)]

    def statement(self, node):
        """The lines of one."""
        kind = type(node).__name__
        if kind == "Expr" and isinstance(node.value, ast.Constant):
            return []
        if kind == "Expr":
            text = self.visit(node.value)
            return [text + ";"] if text else []
        if kind == "Return":
            return [f"return {self.visit(node.value)};"]
        if kind == "Raise":
            code = _ERRORS[node.exc.func.id]
            return [f"throw Error(ErrorCode::{code}, {self.visit(node.exc.args[0])});"]
        if kind == "Assign":
            lines = [self.assign(each, node.value) for each in node.targets]
            return [line for each in lines for line in each]
        if kind == "If":
            return self._branch(node)
        if kind == "While" and not node.orelse:
            return [f"while ({self.condition(node.test)}) {{", *self._block(node.body), "}"]
        if kind == "AugAssign":
            value = ast.copy_location(ast.BinOp(node.target, node.op, node.value), node)
            return self.assign(node.target, value)
        if kind == "For":
            return self._loop(node)
        if kind == "FunctionDef":
            return self._local(node)
        raise UntranslatableError(node, "this statement has no C++")

    def _local(self, node):
        """A function within: it sees what is around it, and changes nothing of that."""
        names = [name for name, _ in parameters(node)]
        written = {each.id for each in ast.walk(node)
                   if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}  # fmt: skip
        if written & self.known - set(names):
            raise UntranslatableError(node, "a name of the function around must not be given anew")
        before = set(self.known)
        self.known.update(names)
        lines = self._block(node.body)
        self.known = before | {node.name}
        given = ", ".join(f"auto {camel(each)}" for each in names)
        return [f"auto {camel(node.name)} = [&]({given}) {{", *lines, "};"]

    def _block(self, statements):
        """Lines whose new variables end with them."""
        before = set(self.known)
        lines = self.body(statements)
        self.known = before
        return lines

    def _branch(self, node):
        lines = [f"if ({self.condition(node.test)}) {{", *self._block(node.body)]
        if node.orelse:
            lines += ["} else {", *self._block(node.orelse)]
        return [*lines, "}"]

    def _loop(self, node):
        if isinstance(node.target, ast.Tuple) and ast.unparse(node.iter).endswith(".items()"):
            names = [each.id for each in node.target.elts]
            self.known.update(names)
            head = (
                f"for (auto [{', '.join(map(camel, names))}] : {camel(node.iter.func.value.id)}) {{"
            )
            return [head, *self._block(node.body), "}"]
        name, items = node.target.id, getattr(node.iter, "elts", [])
        self.known.add(name)
        if items and all(getattr(each, "attr", None) in self.unit.children for each in items):
            self.pointers.add(name)
            listed = "{" + ", ".join(f"{self.visit(each)}.get()" for each in items) + "}"
        else:
            listed = self.visit(node.iter)
        return [f"for (auto {camel(name)} : {listed}) {{", *self._block(node.body), "}"]

    def assign(self, target, value):
        """The lines that give a target its value."""
        if isinstance(target, (ast.Tuple, ast.List)):
            return self._assign_many(target, value)
        if isinstance(target, ast.Name) and isinstance(value, ast.List) and not value.elts:
            return [self._empty(target)]
        if isinstance(target, ast.Name):
            return [self._given(target, self.visit(value))]
        if isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self":
            self.target = target.attr
            self.unit.found(self, target, value)
            text = self.visit(value)
            self.target = None
            return [f"self.{camel(target.attr)} = {text};"]
        return [f"{self.visit(target)} = {self.visit(value)};"]

    def _empty(self, target):
        """The line for a list that grows, whose type is in the table."""
        name = f"{self.function.name}.{target.id}"
        kind = self.unit.types.of(self.unit.name, name, ast.Constant(None))
        if kind is None or target.id in self.known:
            raise UntranslatableError(target, f"the type of {name} must be in the table")
        self.known.add(target.id)
        return f"{kind} {camel(target.id)};"

    def _assign_many(self, target, value):
        """Part by part where both sides have parts, else what the value gives."""
        if isinstance(value, (ast.Tuple, ast.List)) and not any(
            isinstance(each, ast.Starred) for each in value.elts
        ):
            return self._assign_parts(target, value)
        names = [each.id for each in target.elts]
        taken = f"unpack<{len(names)}>({self.visit(value)})"
        joined = ", ".join(map(camel, names))
        if all(name not in self.known for name in names):
            self.known.update(names)
            return [f"auto [{joined}] = {taken};"]
        following = [self._following(each) for each in target.elts]
        lines = [f"auto [{', '.join(following)}] = {taken};"]
        pairs = zip(target.elts, following, strict=True)
        return lines + [self._given(each, name) for each, name in pairs]

    def _assign_parts(self, target, value):
        """Values first where one of them reads a target."""
        pairs = list(zip(target.elts, value.elts, strict=True))
        written = {ast.unparse(each) for each in target.elts}
        read = {ast.unparse(each) for part in value.elts for each in ast.walk(part)
                if isinstance(each, (ast.Name, ast.Attribute))}  # fmt: skip
        if not written & read:
            return [line for pair in pairs for line in self.assign(*pair)]
        names = [self._following(each) for each in target.elts]
        lines = [f"auto {name} = {self.visit(part)};"
                 for name, (_, part) in zip(names, pairs, strict=True)]  # fmt: skip
        return lines + [self._given(each, name)
                        for name, each in zip(names, target.elts, strict=True)]  # fmt: skip

    def _following(self, target):
        """A new name for what a variable or an attribute becomes."""
        self.count += 1
        return f"{camel(ast.unparse(target).replace('.', '_'))}Next{self.count}"

    def _given(self, target, text):
        """The line that gives a variable or an attribute what C++ has."""
        is_new = isinstance(target, ast.Name) and target.id not in self.known
        if is_new:
            self.known.add(target.id)
        reference = "&" if re.fullmatch(r"self\.stateOf\(\w+\)", text) else ""
        return f"{f'auto {reference}' if is_new else ''}{self.visit(target)} = {text};"
