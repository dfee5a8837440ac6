"""The package as a whole: import, names, doctor, device, log."""

import ast
import doctest
import importlib
import logging
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import tessera

PACKAGE = Path(tessera.__file__).parent


def run(code, *arguments):
    return subprocess.run(
        [sys.executable, *arguments, "-c", code], capture_output=True, text=True, timeout=120
    )


def test_every_exported_name_exists():
    from tessera import autodiff, data, functional, jit, module, optimizer, random

    for each in (tessera, autodiff, data, functional, jit, module, optimizer, random):
        missing = [name for name in each.__all__ if not hasattr(each, name)]
        assert not missing, each.__name__


SURFACE = tomllib.loads(Path(__file__).with_name("surface.toml").read_text())


def home_of(path):
    """A module or a class; None when there is none yet."""
    try:
        return importlib.import_module(path)
    except ImportError:
        module, _, name = path.rpartition(".")
        return getattr(home_of(module), name, None)


def exists(path, name):
    return hasattr(home_of(path), name) or home_of(f"{path}.{name}") is not None


@pytest.mark.parametrize("path", SURFACE)
def test_names_that_users_expect(path):
    names, missing = (SURFACE[path].get(kind, "").split() for kind in ("names", "missing"))
    assert names or missing
    assert [name for name in names if not exists(path, name)] == []
    assert [name for name in missing if exists(path, name)] == [], "no longer missing"


def test_builtin_has_a_class_for_every_record():
    from tessera import _core
    from tessera.core.ops import builtin

    names = [record["opdef"] for record in _core.op_table()]
    assert len(names) > 90 and set(names) <= set(dir(builtin))
    for name in names:
        assert getattr(builtin, name).__name__ == name
    with pytest.raises(AttributeError, match="builtin: name must be that of an operator, got 'No'"):
        _ = builtin.No


def test_apply_with_builtin_and_families():
    from tessera.core import apply
    from tessera.core.ops import builtin

    x = tessera.tensor([[1.0, 2.0], [3.0, 4.0]])
    first = lambda y: y[0] if isinstance(y, (tuple, list)) else y  # noqa: E731
    assert (
        first(apply(builtin.Elemwise(mode="exp"), x)).tolist() == tessera.functional.exp(x).tolist()
    )
    assert first(apply(builtin.Reduce(mode="sum", axis=0), x)).tolist() == [4.0, 6.0]
    assert (
        first(apply(builtin.Softmax(axis=0), x)).tolist()
        == tessera.functional.softmax(x, 0).tolist()
    )
    with pytest.raises(ValueError, match="Elemwise: mode must be one of its operators, got 'no'"):
        builtin.Elemwise(mode="no")


def test_the_forms_of_apply():
    """An operator, the same by its OpDef, and a graph of operators."""
    from tessera.core import apply
    from tessera.core.ops import builtin

    x = tessera.tensor([-1.0, 0.0, 2.0])
    graph = builtin.Gelu().make_forward_graph(x)
    assert graph.num_nodes > 3
    expected = tessera.functional.gelu(x).tolist()
    assert apply(graph, x)[0].tolist() == expected == apply(builtin.Gelu(), x)[0].tolist()
    with pytest.raises(
        TypeError, match="apply: operator must be an OpDef or a Subgraph, got int 3"
    ):
        apply(3, x)


def test_an_operator_is_a_value():
    from tessera.core.ops import builtin

    op = builtin.Softmax(axis=1)
    assert op.axis == 1 and op == builtin.Softmax(1) and op != builtin.Softmax(0)
    assert hash(op) == hash(builtin.Softmax(1)) and op.props() == {"axis": 1}
    op.axis = -1
    assert op.to_string() == "softmax(axis=-1)"
    with pytest.raises(TypeError, match=r"softmax: attribute must be one of \[axis\], got 'dim'"):
        builtin.Softmax(dim=1)


def test_the_extension_shares_no_symbols():
    """PyInit and oneDNN's OpenMP go out, LLVM comes in archives: nothing else meets a library's."""
    path = tessera._core.__file__
    symbols = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True)
    names = {line.split()[-1].split("@")[0] for line in symbols.stdout.splitlines()}
    openmp = {"GOMP_barrier", "GOMP_parallel", "omp_in_parallel"}
    counts = {f"omp_get_{name}" for name in ("max_threads", "num_threads", "thread_num")}
    assert names == {"PyInit__core"} | openmp | counts
    needed = subprocess.run(["readelf", "-d", path], capture_output=True, text=True).stdout
    assert "libdnnl" in needed and not re.search("lib(LLVM|MLIR|stdc..debug)", needed)


def test_onednn_has_our_threads():
    code = "import tessera; print(tessera._core.__file__)"
    done = run("import os, sys; os.environ['LD_DEBUG'] = 'bindings';"
               f"os.execv(sys.executable, [sys.executable, '-c', {code!r}])")  # fmt: skip
    assert done.returncode == 0
    found = re.findall(r"binding file (\S*libdnnl\S*) \[0\] to (\S*) .*`GOMP_parallel", done.stderr)
    assert found and {where for _, where in found} == {done.stdout.strip()}, found


def test_import_brings_little():
    """What import takes is what it loads beside NumPy: 44 modules of Python's library today."""
    code = (
        "import sys, numpy\n"
        "before = set(sys.modules); import tessera; brought = set(sys.modules) - before\n"
        "heavy = [m for m in ('torch', 'scipy', 'matplotlib', 'sklearn') if m in sys.modules]\n"
        "assert not heavy, heavy\n"
        "others = sorted(m for m in brought if m.split('.')[0] != 'tessera')\n"
        "print(len(others)); assert len(others) <= 60, others"
    )
    done = run(code)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("order", ["import tessera, torch", "import torch, tessera"])
def test_beside_torch(order):
    if subprocess.run([sys.executable, "-c", "import torch"], capture_output=True).returncode:
        pytest.skip("PyTorch is not installed")
    code = (
        f"{order}\nimport numpy as np\n"
        "x = np.random.rand(300, 300).astype('float32')\n"
        "a = tessera.tensor(x); b = torch.from_numpy(x)\n"
        "assert abs((a @ a).numpy() - (b @ b).numpy()).max() < 1e-3\n"
        "assert torch.from_dlpack(a * 2).sum().item() > 0\n"
    )
    done = run(code)
    assert done.returncode == 0, done.stderr


def test_doctor():
    done = subprocess.run(
        [sys.executable, "-m", "tessera.doctor"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0 and not done.stderr, done.stdout + done.stderr
    for word in ("tessera", "threads", "numpy", "elementwise", "matmul", "gradient", "trace"):
        assert word in done.stdout
    assert re.search(r"^gpu          (none|\d+) \(.+\)$", done.stdout, re.MULTILINE)


def test_devices():
    assert tessera.get_default_device() == "cpu0" and tessera.device.get_device_count("cpu") == 1
    tessera.set_default_device("cpu0")
    with pytest.raises(
        ValueError, match="set_default_device: device must be one of .*, got 'gpu7'"
    ):
        tessera.set_default_device("gpu7")
    assert not tessera.is_cuda_available() or tessera.device.get_device_count("gpu") > 0
    total, free = tessera.device.get_mem_status_bytes()
    assert total >= free > 0 and tessera.device.get_allocated_memory() >= 0


def test_log(capsys):
    logger = tessera.get_logger("part")
    old = tessera.set_log_level("INFO")
    logger.info("seen")
    tessera.set_log_level(logging.ERROR)
    logger.info("not seen")
    tessera.set_log_level(old)
    assert logger.name == "tessera.part" and "not seen" not in capsys.readouterr().err


def modules():
    names = [str(p.relative_to(PACKAGE.parent).with_suffix("")) for p in python_files()]
    return sorted(name.replace("/", ".").removesuffix(".__init__") for name in names)


def test_examples_of_the_package():
    """Each is whole: it imports what it uses."""
    tried = 0
    for name in modules():
        result = doctest.testmod(importlib.import_module(name), globs={})
        assert result.failed == 0, name
        tried += result.attempted
    assert tried >= 8


def python_files():
    return sorted(PACKAGE.rglob("*.py"))


def test_every_public_definition_has_a_docstring():
    missing = []
    for path in python_files():
        for node in ast.walk(ast.parse(path.read_text())):
            kinds = (ast.FunctionDef, ast.ClassDef)
            if (
                isinstance(node, kinds)
                and not node.name.startswith("_")
                and not ast.get_docstring(node)
            ):
                has_doc = isinstance(node, ast.ClassDef) and "__doc__" in ast.dump(node)
                missing += [] if has_doc else [f"{path.name}: {node.name}"]
    inner = {"checkpointed", "gradient", "mapped", "pullback", "with_gradient", "with_jacobian"}
    assert [m for m in missing if m.split(": ")[1] not in inner] == []
