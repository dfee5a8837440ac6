"""Operators of Python that Tensor has, by the names of their methods."""

_ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul",
               "lshift", "rshift", "and", "or", "xor")  # fmt: skip
COMPARISONS = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
IN_PLACE = tuple(f"__i{name}__" for name in _ARITHMETIC)
BINARY = (
    *(f"__{name}__" for name in _ARITHMETIC),
    *(f"__r{name}__" for name in _ARITHMETIC),
    *IN_PLACE,
    *COMPARISONS,
)
UNARY = ("__neg__", "__pos__", "__abs__", "__invert__")
SUBSCRIPTS = ("__getitem__", "__setitem__")

# Methods of Tensor that change it.
MUTATING = frozenset((*IN_PLACE, "__setitem__", "set_value", "reset_zero", "copy_", "_reset"))

# Methods that make new tensors only.
READING = frozenset((*BINARY, *UNARY)) - MUTATING - {"__pos__"}

_SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%",
            "pow": "**", "matmul": "@", "lshift": "<<", "rshift": ">>", "and": "&", "or": "|",
            "xor": "^", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
            "neg": "-", "pos": "+", "invert": "~"}  # fmt: skip


def symbol_of(method):
    """The operator that calls the method with its operands in order; None: there is none."""
    is_known = method in BINARY or method in UNARY
    name = method.strip("_")
    return _SYMBOLS.get(name) if is_known and name in _SYMBOLS else None
