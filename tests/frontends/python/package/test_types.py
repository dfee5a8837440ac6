"""Programs with mypy and pyright: neither finds an error in a right one, both find those of a wrong
one; and the stubs that both read.
"""

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import tessera

PACKAGE = Path(tessera.__file__).parent
EXAMPLES = Path("frontends/examples")
RIGHT = """
from typing import assert_type

import tessera as ts
import tessera.functional as F
import tessera.module as M
from tessera.data import ArrayDataset, DataLoader, RandomSampler
from tessera.jit import GraphOptimizationConfig, load, partial_trace, trace
from tessera.optimizer import Adam

net = M.Sequential(M.Linear(4, 8), M.ReLU(), M.Linear(8, 2))
optimizer = Adam(net.parameters(), lr=0.01)


@trace(symbolic=True)
def logits(image: ts.Tensor) -> ts.Tensor:
    return net(image)


@partial_trace(backend="default", opt_level=1)
def doubled(x: ts.Tensor) -> ts.Tensor:
    return x * 2


class Net(M.Module):
    def __init__(self, width: int = 3) -> None:
        super().__init__()
        self.fc = M.Linear(width, 2)

    @trace
    def forward(self, x: ts.Tensor) -> ts.Tensor:
        return self.fc(x)


assert_type(F.ones((2, 4)), ts.Tensor)
assert_type(ts.tensor([1.0, 2.0]) + 1, ts.Tensor)
assert_type(F.topk(ts.tensor([1.0, 2.0]), 1), tuple[ts.Tensor, ts.Tensor])
assert_type(logits(F.ones((2, 4))), ts.Tensor)
assert_type(doubled(F.ones(3)), ts.Tensor)
config = GraphOptimizationConfig()
halved = trace(lambda x: x / 2, donate_argnums=[0], graph_opt_config=config, check=True)
assert_type(M.Linear(2, 3)(F.ones((1, 2))), ts.Tensor)
assert_type(Net().forward(F.ones((1, 3))), ts.Tensor)
data = ArrayDataset([[1.0]], [2])
for image, label in DataLoader(data, RandomSampler(data, batch_size=1)):
    print(image, label)
with ts.no_grad():
    total: float = F.ones(3).sum().item()
logits.dump("logits.tess", arg_names=["image"])
print(load("logits.tess").inputs, ts.random.normal(size=(2, 3)), ts.float32, ts.bfloat16)
optimizer.clear_grad()
"""
WRONG = """
import tessera as ts
import tessera.functional as F
import tessera.module as M

F.ones("two")
F.topk(F.ones(3))
M.Linear(4, out=3)
ts.tensor([1.0], dtpye="float32")
F.exp(F.ones(3)).no_such_member
F.no_such_function
ts.jit.trace(no_such_option=True)
ts.jit.trace(F.exp, opt_level="high")
ts.jit.partial_trace(F.exp, backnd="default")
"""
LINES = [6, 7, 8, 9, 10, 11, 12, 13, 14]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The package as a checker reads it, and programs beside it."""
    top = tmp_path_factory.mktemp("types")
    sources = shutil.ignore_patterns("*.so", "*.tess", "__pycache__")
    shutil.copytree(PACKAGE, top / "package" / "tessera", ignore=sources)
    programs = top / "programs"
    programs.mkdir()
    for example in EXAMPLES.glob("*.py"):
        shutil.copyfile(example, programs / example.name)
    readme = Path("README.md").read_text(encoding="utf-8")
    for number, code in enumerate(re.findall(r"^```python\n(.*?)^```$", readme, re.M | re.S)):
        (programs / f"readme{number}.py").write_text(code)
    (programs / "right.py").write_text(RIGHT)
    (top / "wrong").mkdir()
    (top / "wrong" / "wrong.py").write_text(WRONG)
    return top


def mypy(folder, *arguments):
    """Errors of its report, but of the stubs where a program is checked."""
    command = [sys.executable, "-m", "mypy", "--config-file=", "--no-error-summary"]
    command += [f"--cache-dir={folder / 'cache'}", *arguments]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=folder / "package",
        env={"MYPYPATH": str(folder / "package"), "PATH": "/usr/bin:/bin"},
    )
    assert not done.stderr and done.returncode in (0, 1), done.stderr
    part = ".pyi:" if "-p" in arguments else ".py:"
    return [line for line in done.stdout.splitlines() if part in line and "error:" in line]


def pyright(folder, part):
    """(line, message) of its errors."""
    # Packages without types, such as scikit-learn, say nothing; a None of a program's own making is
    # no fault of a type.
    settings = {"extraPaths": [str(folder / "package")], "typeCheckingMode": "standard",
                "useLibraryCodeForTypes": False, "reportMissingModuleSource": False,
                "reportOptionalMemberAccess": False, "reportOptionalSubscript": False,
                "reportMissingImports": "warning"}  # fmt: skip
    (folder / part / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(
        [*command, "--project", folder / part],
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"},
    )
    assert done.stdout.startswith("{"), done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["summary"]["filesAnalyzed"] > 0
    errors = [each for each in found["generalDiagnostics"] if each["severity"] == "error"]
    return [
        (each["range"]["start"]["line"] + 1, f"{each['file']}: {each['message']}")
        for each in errors
    ]


def test_mypy_finds_no_error_in_right_programs(folder):
    programs = sorted(map(str, (folder / "programs").glob("*.py")))
    assert len(programs) > 15
    strict = ["--strict", str(folder / "programs" / "right.py")]
    silent = ["--follow-imports=silent", "--ignore-missing-imports"]
    assert mypy(folder, *silent, *programs) == []
    assert mypy(folder, *silent, *strict) == []


def test_mypy_finds_those_of_a_wrong_program(folder):
    found = mypy(folder, "--follow-imports=silent", str(folder / "wrong" / "wrong.py"))
    assert sorted({int(line.split(":")[1]) for line in found}) == LINES


def test_pyright_finds_no_error_in_right_programs(folder):
    assert pyright(folder, "programs") == []


def test_pyright_finds_those_of_a_wrong_program(folder):
    assert sorted({line for line, _ in pyright(folder, "wrong")}) == LINES


def test_the_stubs_are_whole(folder):
    """Names in them exist. Members that differ from those of a base class are the package's."""
    codes = ["override", "misc"]
    found = mypy(
        folder,
        "--ignore-missing-imports",
        "-p",
        "tessera",
        *(f"--disable-error-code={x}" for x in codes),
    )
    assert found == []


def public_names():
    """Names in `__all__` of every package."""
    names = set()
    for path in PACKAGE.rglob("__init__.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                names |= {x.value for x in ast.walk(node.value) if isinstance(x, ast.Constant)}
    return names


def functions_of(path):
    """(name, node) of the functions and methods of what is public in a stub."""
    is_functional = path.parent.name == "functional"
    for node in ast.parse(path.read_text()).body:
        if getattr(node, "name", None) in NAMES or is_functional:
            inner = node.body if isinstance(node, ast.ClassDef) else [node]
            for each in inner:
                if isinstance(each, ast.FunctionDef):
                    yield f"{path.relative_to(PACKAGE)}: {node.name}.{each.name}", each


NAMES = public_names()


def test_every_public_function_has_types():
    """Rows that are missing belong into frontends/python/types."""
    untyped, count = [], 0
    for path in sorted(PACKAGE.rglob("*.pyi")):
        for name, node in functions_of(path):
            arguments = [x for x in ast.walk(node.args) if isinstance(x, ast.arg)]
            kinds = [x.annotation for x in arguments if x.arg not in ("self", "cls")]
            kinds.append(node.returns)
            untyped += [name for x in kinds if x is None or "Incomplete" in ast.unparse(x)]
            count += 1
    assert untyped == [] and count > 900


def test_every_module_has_a_stub():
    missing = [x for x in PACKAGE.rglob("*.py") if not x.with_suffix(".pyi").exists()]
    assert {x.parent.name for x in missing} <= {"functional", "array_api"}
