"""Programs of the command line that the extension has, as the wheel's entry points call them."""

import os
import signal
import subprocess
import sys

import pytest
import tessera
from tessera import jit


def run(function, *arguments):
    code = f"import sys; from tessera._commands import {function} as f; sys.argv[0] = 'x'; f()"
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    @jit.trace(symbolic=True, capture_as_const=True)
    def double(x):
        return x * 2

    double(tessera.tensor([1.0, 2.0]))
    path = tmp_path_factory.mktemp("files") / "double.tess"
    double.dump(str(path), arg_names=["x"])
    return path


def test_a_file_is_printed_and_compiled(file, tmp_path):
    printed = run("tess_dump", file)
    assert printed.returncode == 0 and "input x: f32[2]" in printed.stdout, printed.stderr
    more = tmp_path / "more.tess"
    done = run("tess_compile", file, "-o", more, "--target", "x86-64-v3")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "x86-64-v3" in run("tess_dump", more).stdout


def test_passes_run_over_text(tmp_path):
    text = tmp_path / "two.mlir"
    text.write_text("func.func @f() {\n  return\n}\n")
    done = run("tess_opt", text, "--canonicalize")
    assert done.returncode == 0 and "func.func @f()" in done.stdout, done.stderr


@pytest.mark.parametrize("function", ["tess_compile", "tess_dump", "tess_opt"])
def test_what_is_wrong_is_the_exit_status(function):
    help_text = run(function, "--help")
    assert help_text.returncode == 0 and function.replace("_", "-") in help_text.stdout
    done = run(function, "/no/such/file", *["-o", "/tmp/x"] * (function == "tess_compile"))
    assert done.returncode == 1 and "/no/such/file" in done.stderr and done.stdout == ""


def test_a_reader_may_leave_early(file):
    code = "import sys; from tessera._commands import tess_dump as f; sys.argv[0] = 'x'; f()"
    here, there = os.pipe()
    os.close(here)
    with open(there, "wb") as nobody:
        done = subprocess.run(
            [sys.executable, "-c", code, file], stdout=nobody, stderr=subprocess.PIPE
        )
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b"")


def test_other_names_are_refused():
    with pytest.raises(ValueError, match="name must be that of a program, got tess-run"):
        tessera._core.run_command(["tess-run"])
