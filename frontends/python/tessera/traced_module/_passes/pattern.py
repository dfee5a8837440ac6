"""Patterns: descriptions of expressions and of what they read.

A pattern is written as the code that it finds: `is_op(F.relu)(is_op(M.Conv2d))` is the relu of a
convolution, `is_var() * "*"` a variable times a number. PatternMatcher looks for them.
"""

from ...core import OpDef
from ...module import Module
from ..expr import Apply, CallFunction, CallMethod, Constant
from ..node import ModuleNode
from ..operators import SUBSCRIPTS
from .utils import named_args


class ExprPattern:
    """Base of patterns. A subclass with `accepts` describes one expression by itself.

    A pattern is compared by identity: where it stands in several places it is one expression. The
    expression of a pattern within another one must have no reader but those that the whole pattern
    describes, and be no output of the graph, unless `check_users(False)` says so.
    """

    def __init__(self):
        self._check_users = True

    def accepts(self, expr):
        """Whether the expression is one of those that the pattern describes."""
        raise NotImplementedError

    @property
    def parts(self):
        """The patterns that describe the expression itself, as those on both sides of `|` do."""
        return ()

    def check_users(self, check=True):
        """Sets whether other readers of the expression are looked for; returns the pattern."""
        self._check_users = check
        for part in self.parts:
            part.check_users(check)
        return self

    @property
    def checks_users(self):
        """Whether other readers of the expression are looked for."""
        return self._check_users

    def get_output(self, index):
        """A pattern for output number `index` of an expression with several."""
        return GetOutputPattern(self, index)

    def __call__(self, *args):
        return CallPattern(self, *args)

    def __or__(self, other):
        return OrPattern(self, other)


def _operator(name):
    def _method(self, *operands):
        return is_op(name)(self, *operands)

    _method.__name__ = name
    return _method


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"):
    for _form in ("__{}__", "__r{}__", "__i{}__"):
        setattr(ExprPattern, _form.format(_name), _operator(_form.format(_name)))
for _name in ("__neg__", SUBSCRIPTS[0]):
    setattr(ExprPattern, _name, _operator(_name))


class CallPattern(ExprPattern):
    """An expression that `op` describes, and those that make its inputs.

    An argument that is no pattern, such as "*", stands for a constant number, which is no input.
    The input of a module is what it is called with.
    """

    def __init__(self, op, *args):
        super().__init__()
        self.op, self.args = op, [arg for arg in args if isinstance(arg, ExprPattern)]
        self.matches_all_args = True

    @property
    def parts(self):
        """The pattern that is called."""
        return (self.op,)

    def not_all_args(self):
        """Lets the expression have more inputs behind those that are described; returns the
        pattern.
        """
        self.matches_all_args = False
        return self

    def __repr__(self):
        return f"{self.op}({', '.join(map(str, self.args))})"


class OrPattern(ExprPattern):
    """An expression that one of two patterns describes: the left one, where both do."""

    def __init__(self, left, right):
        super().__init__()
        if not isinstance(right, ExprPattern):
            raise TypeError(f"|: operands must be patterns, got {right!r}")
        self.left, self.right = left, right

    @property
    def parts(self):
        """Both patterns."""
        return self.left, self.right

    def __repr__(self):
        return f"({self.left}|{self.right})"


class GetOutputPattern(ExprPattern):
    """One of several outputs of an expression."""

    def __init__(self, op, index):
        super().__init__()
        self.op, self.index = op, index

    @property
    def parts(self):
        """The pattern of the expression."""
        return (self.op,)

    def __repr__(self):
        return f"{self.op}.get_output({self.index})"


class ModulePattern(ExprPattern):
    """A call of a module of the class `target`, or of one below it, with the attributes `attrs`."""

    def __init__(self, target):
        super().__init__()
        self.target, self.attrs = target, {}

    def has_attr(self, **attrs):
        """Asks for these values of attributes, too; returns the pattern."""
        self.attrs.update(attrs)
        return self

    def accepts(self, expr):
        """See ExprPattern."""
        if not (isinstance(expr, CallMethod) and expr.method == "__call__"):
            return False
        owner = expr.args[0].owner if isinstance(expr.args[0], ModuleNode) else None
        return isinstance(owner, self.target) and all(
            _is_equal(getattr(owner, key, None), value) for key, value in self.attrs.items()
        )

    def __repr__(self):
        return self.target.__name__


class FunctionPattern(ExprPattern):
    """A call of the function `target` whose arguments, with defaults, are `params`."""

    def __init__(self, target):
        super().__init__()
        self.target, self.params = target, {}

    def has_params(self, **params):
        """Asks for these values of arguments, too; returns the pattern."""
        self.params.update(params)
        return self

    def accepts(self, expr):
        """See ExprPattern."""
        if not (isinstance(expr, CallFunction) and expr.func is self.target):
            return False
        given = named_args(expr) if self.params else {}
        return all(_is_equal(given.get(key), value) for key, value in self.params.items())

    def __repr__(self):
        return getattr(self.target, "__name__", str(self.target))


class TensorMethodPattern(ExprPattern):
    """A call of the method `target` of a tensor; "__add__" is that of `+`."""

    def __init__(self, target):
        super().__init__()
        self.target = target

    def accepts(self, expr):
        """See ExprPattern."""
        return (
            isinstance(expr, CallMethod)
            and expr.method == self.target
            and not isinstance(expr.args[0], ModuleNode)
        )

    def __repr__(self):
        return self.target


class ApplyDefPattern(ExprPattern):
    """An application of an operator of the class `target`, as `core.apply` makes it."""

    def __init__(self, target):
        super().__init__()
        self.target = target

    def accepts(self, expr):
        """See ExprPattern."""
        return isinstance(expr, Apply) and isinstance(expr.opdef, self.target)

    def __repr__(self):
        return self.target.__name__


class VarPattern(ExprPattern):
    """Any expression but a constant: an input or an attribute of the module, or a call."""

    def accepts(self, expr):
        """See ExprPattern."""
        return not isinstance(expr, Constant)

    def __repr__(self):
        return "var"


class ConstantPattern(ExprPattern):
    """A constant of the graph. The pass AttrToConstant makes them of parameters and buffers."""

    def accepts(self, expr):
        """See ExprPattern."""
        return isinstance(expr, Constant)

    def __repr__(self):
        return "const"


class AnyPattern(ExprPattern):
    """Any expression at all."""

    def accepts(self, expr):
        """See ExprPattern."""
        return True

    def __repr__(self):
        return "any"


def is_op(target):
    """A pattern for calls: of a class of modules, a function, a method of Tensor by its name, or
    a class of operators.

    TypeError: target must be one of these.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> from tessera.traced_module._passes.pattern import is_op, is_var
    >>> is_op(F.relu)(is_op(M.Conv2d) | is_op(F.conv2d)), is_var() + "*"
    (relu((Conv2d|conv2d)), __add__(var))
    """
    if isinstance(target, type) and issubclass(target, Module):
        return ModulePattern(target)
    if isinstance(target, type) and issubclass(target, OpDef):
        return ApplyDefPattern(target)
    if isinstance(target, str):
        return TensorMethodPattern(target)
    if callable(target):
        return FunctionPattern(target)
    raise TypeError(
        "is_op: target must be a class of modules or operators, a function, or the name of a "
        f"method, got {target!r}"
    )


def is_const():
    """A ConstantPattern, which may have other readers."""
    return ConstantPattern().check_users(False)


def any_node():
    """An AnyPattern."""
    return AnyPattern()


def is_var():
    """A VarPattern."""
    return VarPattern()


def _is_equal(value, wanted):
    return type(value) is type(wanted) and bool(value == wanted)
