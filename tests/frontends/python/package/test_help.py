"""help() of every function: shapes, dtypes, errors, and an example that runs."""

import doctest
import importlib
import inspect

import pytest
import tessera
from tessera import _core

from tests.records import samples as S  # noqa: N812

MODULES = [
    "",
    "autodiff",
    "config",
    "data",
    "device",
    "doctor",
    "functional",
    "functional.creation",
    "functional.elemwise",
    "functional.loss",
    "functional.math",
    "functional.nn",
    "functional.tensor",
    "jit",
    "logger",
    "module.init",
    "optimizer",
    "random",
    "utils.counters",
    "utils.dlpack",
]
# Modules whose functions are of tensors: help says what goes in and what comes out.
OF_TENSORS = ("functional", "autodiff", "random", "optimizer")
OF_NO_TENSORS = {"tessera.random.seed", "tessera.autodiff.anomaly.detect_anomaly"}
NO_EXAMPLE = {"get_worker_info", "main", "self_test"}  # in a worker; the program; five seconds


def home(module):
    return importlib.import_module(f"tessera.{module}" if module else "tessera")


def written():
    """{qualified name: function} of the public functions in the package's modules."""
    found = {}
    for module in map(home, MODULES):
        for name in getattr(module, "__all__", vars(module)):
            value = getattr(module, name)
            own = getattr(value, "__module__", "").startswith("tessera")
            if inspect.isfunction(value) and own and not name.startswith("_"):
                found[f"{value.__module__}.{name}"] = value
    return found


def generated():
    """{name: operator} of the functions that records give."""
    return {name: value for name, value in vars(_core.ops).items() if not name.startswith("__")}


def shown_function(function, name):
    """The function that users find where the record puts it."""
    place = getattr(function, "__module__", None) or ""
    return getattr(home(place.removeprefix("tessera.")), name, None) if place else function


def methods():
    """{name: method} of Tensor's public methods."""
    return {
        name: value
        for name, value in vars(tessera.Tensor).items()
        if callable(value) and not name.startswith("_")
    }


WRITTEN, GENERATED, METHODS = written(), generated(), methods()


def run_example(name, function):
    """Runs the example as somebody who types it: with no name that it does not import."""
    example = doctest.DocTestParser().get_doctest(inspect.getdoc(function), {}, name, None, 0)
    assert example.examples, f"no example in the help of {name}"
    output = []
    failed = doctest.DocTestRunner(verbose=False).run(example, out=output.append).failed
    assert failed == 0, "".join(output)


def test_there_are_as_many_as_there_should_be():
    assert len(GENERATED) == len(_core.op_table()) and len(WRITTEN) > 80 and len(METHODS) > 15


@pytest.mark.parametrize("name", sorted(GENERATED))
def test_generated_functions(name):
    function, text = GENERATED[name], inspect.getdoc(GENERATED[name])
    signature = f"{name}{inspect.signature(function)}".replace("'", '"')
    assert text.startswith(signature + "\n\n")
    for section in ("Args:", "Returns:", "Dtype of the result:", "Raises:", "IR:", "Example:"):
        assert f"\n{section}\n" in text, section
    for parameter in inspect.signature(function).parameters:
        assert f"\n    {parameter}: " in text
    if shown_function(function, name) is function:  # else help shows the one written by hand
        run_example(name, function)


@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_written_functions(name):
    function, text = WRITTEN[name], inspect.getdoc(WRITTEN[name])
    if name.split(".")[-1] not in NO_EXAMPLE:
        run_example(name, function)
    if name.split(".")[1] in OF_TENSORS and name not in OF_NO_TENSORS:
        text += "" if "those of value_and_grad" not in text else inspect.getdoc(
            tessera.autodiff.value_and_grad)  # fmt: skip
        for word in ("Args:", "Returns:", "Raises:"):
            assert word in text, f"no {word} in the help of {name}"
        assert "dtype" in text.lower() and "[" in text, f"no shapes or dtypes in the help of {name}"


@pytest.mark.parametrize("name", sorted(METHODS))
def test_methods(name):
    run_example(f"Tensor.{name}", METHODS[name])


@pytest.mark.parametrize("name", ["conv2d", "softmax", "concat", "cross_entropy", "argmax"])
def test_a_written_function_has_the_facts_of_its_record(name):
    text = inspect.getdoc(getattr(tessera.functional, name))
    said = [words for record, words in S.constraints().values() if record == name]
    assert said and all(f"ValueError: {words}" in text for words in said)
    assert "The operator beneath is" in text


def test_a_parameter_has_the_name_that_the_record_gives_it():
    x = tessera.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert list(inspect.signature(tessera.functional.sum).parameters) == ["inp", "axis", "keepdims"]
    assert tessera.functional.sum(inp=x, axis=0).tolist() == [4.0, 6.0] == x.sum(axis=0).tolist()
    with pytest.raises(TypeError, match=r"sum: arguments must be among .*'axis'.*, got 'axes'"):
        tessera.functional.sum(x, axes=0)
    with pytest.raises(TypeError, match="sum: axis must be an int or a sequence of ints, got str"):
        tessera.functional.sum(x, "rows")
