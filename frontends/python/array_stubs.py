"""Writes the stubs of tessera.array_api, whose modules name no types: a parameter's name tells its
type, because the standard gives one name to one thing.

    array_stubs.py OUTPUT_FOLDER ARRAY_API_PY...
"""

import ast
import re
import sys
from pathlib import Path

BANNER = "# Written by frontends/python/array_stubs.py. Do not edit.\n"
NAMES = """import builtins
from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from .._core import DTypeLike, Tensor, TensorLike

"""
AXES, COUNTS = "int | Sequence[int] | None", "int | Sequence[int]"
PARAMETERS = {
    "api_version": "str | None", "append": "Tensor | None", "arrays": "Sequence[Tensor]",
    "arrays_and_dtypes": "TensorLike | DTypeLike", "axes": COUNTS, "axis": AXES,
    "condition": "TensorLike", "copy": "bool | None", "correction": "float", "d": "float",
    "descending": "bool", "destination": COUNTS, "device": "str | None",
    "dtype": "DTypeLike | None", "endpoint": "bool", "fill_value": "TensorLike",
    "from_": "DTypeLike | Tensor", "full_matrices": "bool", "include_initial": "bool",
    "indexing": "str", "indices": "Tensor", "k": "int", "keepdims": "bool",
    "kind": "DTypeLike | tuple[DTypeLike, ...] | None", "max": "TensorLike | None",
    "min": "TensorLike | None", "mode": "str", "n": "int", "n_cols": "int | None", "n_rows": "int",
    "norm": "str", "num": "int", "obj": "TensorLike | Sequence", "offset": "int",
    "ord": "float | str", "prepend": "Tensor | None", "repeats": "int | Tensor",
    "repetitions": "Sequence[int]", "rtol": "float | Tensor | None", "s": "Sequence[int] | None",
    "shape": COUNTS, "shift": COUNTS, "side": "str", "sorter": "Tensor | None", "source": COUNTS,
    "stable": "bool", "start": "complex", "step": "float", "stop": "complex | None",
    "to": "DTypeLike", "type": "DTypeLike | Tensor", "upper": "bool", "x": "Tensor",
    "x1": "TensorLike", "x2": "TensorLike",
}  # fmt: skip
# Of single functions: a parameter, or the result.
SPECIAL = {
    ("from_dlpack", "x"): "Any", ("isdtype", "dtype"): "DTypeLike",
    ("isdtype", "kind"): "DTypeLike | tuple[DTypeLike, ...]", ("astype", "dtype"): "DTypeLike",
    ("astype", "copy"): "bool", ("meshgrid", "arrays"): "Tensor",
    ("broadcast_arrays", "arrays"): "Tensor",
    ("tensordot", "axes"): "int | Sequence[Sequence[int]]",
    **{(name, "n"): "int | None" for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{(name, "axes"): AXES for name in ("fftshift", "ifftshift")},
    **{(name, "axes"): "Sequence[int] | None" for name in ("fftn", "ifftn", "rfftn", "irfftn")},
}  # fmt: skip
RESULTS = {
    "broadcast_arrays": "list[Tensor]", "can_cast": "bool", "eigh": "eigh_result",
    "isdtype": "bool", "meshgrid": "tuple[Tensor, ...]", "nonzero": "tuple[Tensor, ...]",
    "of_version": "ModuleType", "qr": "qr_result", "result_type": "np.dtype",
    "slogdet": "slogdet_result", "svd": "svd_result", "unique_all": "unique_all_result",
    "unique_counts": "unique_counts_result", "unique_inverse": "unique_inverse_result",
    "unstack": "tuple[Tensor, ...]", "__array_namespace_info__": "ArrayNamespaceInfo",
    "capabilities": "dict[str, Any]", "default_device": "str", "devices": "list[str]",
    "default_dtypes": "dict[str, np.dtype]", "dtypes": "dict[str, np.dtype]", "__init__": "None",
    "__repr__": "str",
}  # fmt: skip
FACTS = {
    "finfo": "bits: int\neps: float\nmax: float\nmin: float\nsmallest_normal: float\n",
    "iinfo": "bits: int\nmax: int\nmin: int\n",
}
CONSTANTS = (
    "e: float\ninf: float\nnan: float\nnewaxis: None\npi: float\n__array_api_version__: str\n"
)


def annotated(node):
    """The line of a function, with types."""
    for each in ast.walk(node.args):
        if isinstance(each, ast.arg) and each.arg != "self":
            text = SPECIAL.get((node.name, each.arg)) or PARAMETERS[each.arg]
            each.annotation = ast.parse(text, mode="eval").body
    return f"def {node.name}({ast.unparse(node.args)}) -> {RESULTS.get(node.name, 'Tensor')}: ..."


def class_stub(node):
    """The lines of a class: facts of a dtype, then methods."""
    facts = FACTS[node.name] + "dtype: np.dtype\n" if node.name in FACTS else ""
    methods = [annotated(each) for each in node.body if isinstance(each, ast.FunctionDef)]
    lines = [*facts.splitlines(), *methods]
    return f"class {node.name}:\n" + "".join(f"    {line}\n" for line in lines)


def tuple_stub(node):
    """The lines of a named tuple that is made by a call."""
    name, fields = (ast.literal_eval(each) for each in node.value.args)
    return f"class {name}(NamedTuple):\n" + "".join(f"    {each}: Tensor\n" for each in fields)


def is_tuple(node):
    """Whether the statement makes a named tuple."""
    call = node.value if isinstance(node, ast.Assign) else None
    return isinstance(call, ast.Call) and ast.unparse(call.func) == "namedtuple"


def dtype_stub(node):
    """The line of a dtype, or nothing."""
    isdtype = isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("np.dtype(")
    return f"{node.targets[0].id}: np.dtype\n" if isdtype else ""


def stub(source, names):
    """The stub of the functions of a module that are public, its classes and its dtypes."""
    lines = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name in names:
            lines.append(annotated(node) + "\n")
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            lines.append(class_stub(node))
        elif is_tuple(node):
            lines.append(tuple_stub(node))
        else:
            lines.append(dtype_stub(node))
    return "".join(lines)


def public_names(source):
    """{module: names} of the table in the package's source."""
    (table,) = [
        node.value
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_NAMES"
    ]
    rows = zip(table.keys, table.values, strict=True)
    return {k.id: ast.literal_eval(v).split() for k, v in rows if isinstance(v, ast.Constant)}


def package_stub(texts):
    """The stub of the package. Its `bool` is a dtype, and what has no public name gets another."""
    names = public_names(texts["__init__"])
    parts = [stub(texts[module], {*public}) for module, public in sorted(names.items())]
    own = CONSTANTS + "".join(parts) + stub(texts["__init__"], {"of_version"})
    own = re.sub(r"\bbool\b(?!: np)", "builtins.bool", own)
    own = re.sub(r"\b(unique_\w+_result|ArrayNamespaceInfo)\b", r"_\1", own)
    return BANNER + NAMES + "from . import fft as fft\nfrom . import linalg as linalg\n\n" + own


def extension_stub(source):
    """The stub of an extension, which passes on what the package has."""
    (table,) = [
        node.value
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    public, own = set(ast.literal_eval(table)), stub(source, set(ast.literal_eval(table)))
    shared = sorted(public - {line[4:].partition("(")[0] for line in own.splitlines()})
    return BANNER + NAMES + "".join(f"from . import {x} as {x}\n" for x in shared) + own


def main(output, *sources):
    """Writes the stubs of the package and of its extensions."""
    texts = {Path(s).stem: Path(s).read_text() for s in sources}
    folder = Path(output) / "array_api"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "__init__.pyi").write_text(package_stub(texts))
    for name in ("fft", "linalg"):
        (folder / f"{name}.pyi").write_text(extension_stub(texts[name]))


if __name__ == "__main__":
    main(*sys.argv[1:])
