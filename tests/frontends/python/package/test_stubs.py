"""The stubs of the package against what they describe."""

import ast
import importlib
import inspect
from pathlib import Path

import pytest
import tessera

PACKAGE = Path(tessera.__file__).parent
FUNCTIONAL = [
    "control",
    "elemwise",
    "external",
    "conv",
    "creation",
    "fft",
    "local_conv",
    "loss",
    "math",
    "nn",
    "pool",
    "quantized",
    "quantized_conv",
    "recurrent",
    "statistics",
    "tensor",
    "truth",
    "vision",
]
# Members that every object has, and what pickling needs.
COMMON = {
    "__doc__",
    "__module__",
    "__new__",
    "__setattr__",
    "__delattr__",
    "__str__",
    "__repr__",
    "__reduce_ex__",
    "__array_function__",
    "__array_ufunc__",
    "__delitem__",
    "__ne__",
    "__buffer__",  # from Python 3.12 on
    "__release_buffer__",
}


def parsed(name):
    return ast.parse((PACKAGE / f"{name}.pyi").read_text())


def functions(nodes):
    return {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}


def parameters(node):
    """[(name, has default)] of a function in a stub."""
    plain, only = [*node.args.posonlyargs, *node.args.args], node.args.kwonlyargs
    missing = len(plain) - len(node.args.defaults)
    rows = [(each.arg, number >= missing) for number, each in enumerate(plain)]
    rows += [(node.args.vararg.arg, False)] if node.args.vararg else []
    return rows + [(a.arg, d is not None) for a, d in zip(only, node.args.kw_defaults, strict=True)]


def runtime_parameters(function):
    rows = inspect.signature(function).parameters.values()
    return [(each.name, each.default is not inspect.Parameter.empty) for each in rows]


@pytest.mark.parametrize("module", FUNCTIONAL)
def test_functions(module):
    home = importlib.import_module(f"tessera.functional.{module}")
    stubs = functions(parsed(f"functional/{module}").body)
    assert sorted(stubs) == home.__all__
    for name, node in stubs.items():
        got = runtime_parameters(getattr(home, name))
        assert sorted(got) == sorted(parameters(node)), name


def test_a_module_passes_on_what_it_shares():
    nodes = [n for n in parsed("functional/nn").body if isinstance(n, ast.ImportFrom)]
    passed_on = {each.asname for n in nodes for each in n.names if each.asname}
    losses = ["binary_cross_entropy", "cross_entropy", "ctc_loss", "hinge_loss", "l1_loss",
              "square_loss"]  # fmt: skip
    vision = ["correlation", "cvt_color", "interpolate", "nms", "nvof", "remap", "roi_align",
              "roi_pooling", "warp_affine", "warp_perspective"]  # fmt: skip
    images = [*vision, *tessera.functional.local_conv.__all__]
    convs = [f"conv{kind}{n}d" for kind in ("", "_transpose") for n in (1, 2, 3)]
    pools = [
        f"{kind}_pool{n}d"
        for kind in ("adaptive_avg", "adaptive_max", "avg", "max")
        for n in (1, 2, 3)
    ]
    assert passed_on == {*pools, *losses, *images, *convs, "normalize", "gru", "lstm", "rnn"}
    F = tessera.functional  # noqa: N806
    assert all(getattr(F.nn, name) is getattr(F, name) for name in passed_on)


def test_the_package_has_what_its_modules_have():
    imported = {
        node.module for node in parsed("functional/__init__").body if node.names[0].name == "*"
    }
    assert imported == set(FUNCTIONAL) - {"fft", "quantized", "quantized_conv"}


def test_tensor():
    (node,) = [n for n in parsed("_core").body if isinstance(n, ast.ClassDef)]
    stubs = functions(node.body)
    attributes = {n.target.id for n in node.body if isinstance(n, ast.AnnAssign)}
    refusal = type(vars(tessera.Tensor)["requires_grad"])
    members = {
        name
        for name, member in vars(tessera.Tensor).items()
        if name.startswith("__") or (name[0] != "_" and not isinstance(member, refusal))
    }
    assert members - set(stubs) - attributes <= COMMON
    assert (set(stubs) | attributes) - members <= {"__init__"}
    for name in ("sum", "astype", "flatten", "argmax", "exp", "clip", "quantile", "where"):
        assert parameters(stubs[name])[1:] == runtime_parameters(getattr(tessera.Tensor, name))[1:]


def options_in(nodes):
    """Names of the keyword parameters of each overload that takes the options of a trace."""
    found = [{each.arg for each in node.args.kwonlyargs} for node in nodes]
    return [names for names in found if names]


def test_the_options_of_a_trace_are_named():
    (node,) = [n for n in parsed("jit/trace").body if isinstance(n, ast.ClassDef)]
    named = options_in(n for n in node.body if isinstance(n, ast.FunctionDef))
    wanted = {*inspect.signature(tessera.jit.trace).parameters} - {"function"}
    assert named == [wanted] * 2
    nodes = [n for n in parsed("jit/partial").body if isinstance(n, ast.FunctionDef)]
    assert options_in(nodes) == [wanted | {"backend"}] * 2


@pytest.mark.parametrize("module", ["", "fft", "linalg"])
def test_array_api(module):
    home = importlib.import_module("tessera.array_api" + (f".{module}" if module else ""))
    body = parsed(f"array_api/{module or '__init__'}").body
    stubs = functions(body)
    passed_on = {each.name for n in body if isinstance(n, ast.ImportFrom) for each in n.names}
    constants = {n.target.id for n in body if isinstance(n, ast.AnnAssign)}
    classes = {n.name for n in body if isinstance(n, ast.ClassDef)}
    public = {*stubs, *constants, *classes} | {n for n in passed_on if n in home.__all__}
    assert {*home.__all__} <= public
    assert {*stubs} - {*home.__all__} <= {"of_version"}
    for name, node in stubs.items():
        assert runtime_parameters(getattr(home, name)) == parameters(node), name
        assert all(each.annotation for each in node.args.args) and node.returns


def test_there_is_a_mark_that_types_are_given():
    assert (PACKAGE / "py.typed").exists()
