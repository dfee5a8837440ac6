"""`tools/dev new` on a copy of the checkout's own files."""

import ast
import re
import shutil
import subprocess

import pytest

from tools.commands.new import __main__ as new
from tools.commands.new import names, places
from tools.commands.new.changes import Changes, RefusedError
from tools.lint import sources

CALLS = [
    ["op", "made_by_test"],
    ["op", "cube_by_test", "--family", "Math"],
    ["op", "root_by_test", "--family", "Elementwise"],
    ["op", "power_by_test", "--family", "Reduction"],
    ["pass", "MadeByTest"],
    ["module", "LayerByTest"],
    ["module", "LayerByTestGAN", "--file", "activation"],
    ["optimizer", "StepByTest"],
    ["optimizer", "SlowStepByTest", "--file", "moments.py"],
]
REFUSED = [
    (["layer", "x"], "the kind must be one of op, pass, module, optimizer, got layer"),
    (["op", "relu"], "the name of a new op must not be taken, got 'relu'"),
    (["op", "BentSquare"], "the name of a new op must be lower_snake of letters and digits, "),
    (["op", "lambda"], "no word of Python, got 'lambda'"),
    (["op", "bent", "--family", "Conv"], "the family must be one of Activation, "),
    (["op", "bent", "--file", "x"], "a new op must have no --file, because its family is its file"),
    (["pass", "Simplify"], "the name of a new pass must not be taken, got 'Simplify'"),
    (["pass", "made_by_test"], "the name of a new pass must be UpperCamel of letters and digits"),
    (["pass", "MadeByTest", "--file", "x"], "a new pass must have no --family and no --file"),
    (["module", "ReLU"], "the name of a new module must not be taken, got 'ReLU'"),
    (
        ["module", "LayerByTest", "--file", "init"],
        "must begin with 'from .module import Module'",
    ),
    (["optimizer", "Adam"], "the name of a new optimizer must not be taken, got 'Adam'"),
    (["optimizer", "../Step"], "must be UpperCamel of letters and digits, got '../Step'"),
]


# Where the files lie that a new part may change, and what decides their format.
FOLDERS = ("ops/", "compiler/Pipeline.cpp", "compiler/transforms/", "ruff.toml", ".clang-format",
           "frontends/cc/translate/classes.toml",
           "frontends/python/tessera/module/", "frontends/python/tessera/optimizer/",
           "frontends/python/tessera/onnx/exporters/", "tests/compiler/BUILD.bazel",
           "tests/frontends/cc/classes/cases.py", "tests/frontends/python/module/",
           "tests/records/refusals/", "tests/support/")  # fmt: skip


@pytest.fixture
def checkout(tmp_path):
    """A copy of these files."""
    for name in sources.git_files():
        if name.startswith(FOLDERS):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(sources.ROOT / name, tmp_path / name)
    return tmp_path


def contents(root):
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_names_have_words():
    assert names.snake("LSTMCell") == "lstm_cell" and names.snake("FuseAll2") == "fuse_all2"
    assert names.camel("made_by_test") == "MadeByTest"


def test_all_are_added_to_one_checkout_and_printed(checkout, capsys):
    before = contents(checkout)
    for call in CALLS:
        new.run(call, checkout)
    after, printed = contents(checkout), capsys.readouterr().out
    changed = {str(path.relative_to(checkout)) for path in after if after[path] != before.get(path)}
    written = {line.strip() for line in printed.splitlines() if re.match(r"  [\w./]+$", line)}
    assert changed == written
    for name in (each for each in changed if each.endswith(".py")):
        ast.parse((checkout / name).read_text())
    assert len(re.findall("^to edit:$", printed, re.MULTILINE)) == len(CALLS)
    for place, number in re.findall(r"^  (\S+):(\d+)$", printed, re.MULTILINE):
        assert (checkout / place).read_text().splitlines()[int(number) - 1].strip()


def test_what_is_written_is_formatted(checkout):
    for call in CALLS:
        new.run(call, checkout)
    code = checkout / places.PASSES.format(file="MadeByTest.cpp")
    formatted = subprocess.run(["/usr/lib/llvm-22/bin/clang-format", "--dry-run", "-Werror", code])
    assert formatted.returncode == 0


@pytest.mark.parametrize(("call", "text"), REFUSED)
def test_a_refused_call_writes_nothing(checkout, call, text):
    before = contents(checkout)
    with pytest.raises(RefusedError, match="^new: ") as error:
        new.run(call, checkout)
    assert text in str(error.value)
    assert contents(checkout) == before


def test_a_second_call_is_refused(checkout):
    for call in CALLS:
        new.run(call, checkout)
        with pytest.raises(RefusedError, match="must not be taken"):
            new.run(call, checkout)


def test_a_file_that_is_not_as_the_template_needs_it_is_named(tmp_path):
    (tmp_path / "list.txt").write_text("a\nb\n")
    changes = Changes(tmp_path)
    with pytest.raises(RefusedError, match="^new: list.txt must have one line c, got 0$"):
        changes.insert("list.txt", "c", "text\n")
    with pytest.raises(RefusedError, match="^new: none.txt must be a file of the checkout, got no"):
        changes.read("none.txt")
