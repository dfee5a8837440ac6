"""Signatures of all that is public, as help, Jupyter and editors show them; what `dir` shows."""

import ast
import doctest
import importlib
import inspect
import pkgutil

import pytest
import tessera
from tessera import functional as F  # noqa: N812
from tessera import module as M  # noqa: N812

LISTED = ["amp", "autodiff", "config", "core", "data", "device", "distributions", "dtr", "dtype",
          "functional", "hub", "jit", "logger", "module", "onnx", "optimizer", "quantization",
          "random", "serialization"]  # fmt: skip
PACKAGES = [*LISTED, "functional.fft", "functional.quantized", "functional.quantized_conv",
            "module.qat", "module.quantized", "array_api", "array_api.linalg", "utils.profiler",
            "utils.module_stats", "utils.network", "utils.plot", "utils.progress",
            "utils.tensorboard"]  # fmt: skip
# Names that take any arguments: those of a function that is called, or of another package.
TAKES_ANY = {
    "autodiff.checkpoint": "those of its function",
    "autodiff.vjp": "points, one for each argument",
    "array_api.broadcast_arrays": "arrays",
    "array_api.meshgrid": "axes",
    "array_api.result_type": "arrays and dtypes",
    "data.ArrayDataset": "arrays",
    "estimate": "those of its function",
    "functional.cond": "operands of its branches",
    "functional.einsum": "operands",
    "functional.meshgrid": "axes",
    "functional.quantized.elemwise": "operands of its mode",
    "functional.while_loop": "what the loop carries",
    "hub.load": "those of the entry",
    "jit.estimate": "those of its function",
    "jit.largest_batch": "those of its function",
    "jit.explain": "those of its function",
    "module.Sequential": "layers",
    "quantization.compare_layers": "those of the models",
    "utils.module_stats.register_flops": "classes",
    "utils.profiler.profile": "options of Profiler",
    "utils.tensorboard.SummaryWriter": "those of tensorboardX's",
    "utils.tensorboard.SummaryWriterExtend": "those of tensorboardX's",
}
MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def home(name):
    return importlib.import_module(f"tessera.{name}" if name else "tessera")


def of_c(kind):
    """Whether a class is the extension's or an error, whose constructors have no signature."""
    bases = (BaseException, tessera.Tensor, tessera.core.OpDef)
    return issubclass(kind, bases)


def is_own(kind):
    return kind.__module__.startswith("tessera")


def public():
    """{name: class or function} of every package."""
    found = {}
    for package in ["", *PACKAGES]:
        part = home(package)
        for name in getattr(part, "__all__", []):
            value = getattr(part, name)
            if inspect.isroutine(value) or (inspect.isclass(value) and is_own(value)):
                found.setdefault(f"{package}.{name}".lstrip("."), value)
    return found


PUBLIC = public()
LAYERS = [name for name in M.__all__ if name not in ("init", "Module")]


def test_all_is_there():
    assert len(PUBLIC) > 500 and len(LAYERS) > 85


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_signature(name):
    value = PUBLIC[name]
    if inspect.isclass(value) and of_c(value):
        return
    parameters = inspect.signature(value).parameters.values()
    takes_any = any(each.kind in MANY for each in parameters)
    assert takes_any == (name in TAKES_ANY)


@pytest.mark.parametrize("name", LAYERS)
def test_help_of_a_layer_has_a_table_of_its_arguments(name):
    kind = getattr(M, name)
    text, names = inspect.getdoc(kind), list(inspect.signature(kind).parameters)
    assert names[-1] == "name"
    if len(names) == 1:
        assert "Args:" not in text
    for each in names if len(names) > 1 else []:
        (line,) = [x for x in text.splitlines() if x.lstrip(" *").startswith(f"{each}: ")]
        assert "see above" not in line, f"module/_arguments.py has no row for {each} of {name}"


def test_the_table_stands_before_the_example_and_tells_defaults():
    lines = inspect.getdoc(M.Linear).splitlines()
    table = lines.index("Args:")
    assert lines[table + 3] == "    bias: bool, whether a bias is added; default True"
    assert lines.index(">>> import tessera.module as M") > table


def test_a_module_has_the_signature_of_its_forward_and_a_trace_that_of_its_function():
    assert str(inspect.signature(M.Linear(2, 3))) == "(x)"

    @tessera.jit.trace(symbolic=True)
    def step(image, label=None):
        return image

    assert str(inspect.signature(step)) == "(image, label=None)"
    options = inspect.signature(tessera.jit.trace).parameters
    assert {"symbolic", "capture_as_const", "opt_level"} <= set(options)


def test_classes_of_users_have_their_own_signature_and_no_table():
    class Net(M.Module):
        """Mine."""

        def __init__(self, width, **others):
            super().__init__()

        def forward(self, image, scale=1):
            return image

    assert str(inspect.signature(Net)) == "(width, **others)"
    assert str(inspect.signature(Net(3))) == "(image, scale=1)"
    assert Net.__doc__ == "Mine."


@pytest.mark.parametrize("name", ["", *LISTED])
def test_dir_shows_what_is_public(name):
    part = home(name)
    shown = {each for each in dir(part) if not each.startswith("__")}
    if name == "functional":
        parts = {each for each in shown if inspect.ismodule(getattr(F, each))}
        assert {"loss", "math", "metric", "nn", "vision"} < parts
        shown -= parts - {"fft", "quantized"}
    assert shown == set(part.__all__)


def examples():
    """(name, docstring) of all modules, classes and functions that are not private."""
    for info in pkgutil.walk_packages(tessera.__path__, "tessera."):
        if "._" not in info.name and not info.name.endswith("_core"):
            module = importlib.import_module(info.name)
            for found in doctest.DocTestFinder().find(module, globs={}):
                if found.examples:
                    yield found


def test_examples_use_no_private_name():
    found = list(examples())
    assert len(found) > 500
    for each in found:
        for node in ast.walk(ast.parse("".join(line.source for line in each.examples))):
            name = getattr(node, "attr", getattr(node, "id", ""))
            is_private = name.startswith("_") and name != "_" and not name.startswith("__")
            assert not is_private, f"{each.name}: {name}"
