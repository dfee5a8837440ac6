"""Commands of Bazel's actions, resolved: a compiler that runs them in the checkout finds all."""

import io
import json
import subprocess

import pytest

from tools.commands import compile_commands

COMPILER = "/usr/lib/llvm-22/bin/clang"
SOURCE = """#include "own/Own.h"
#include "ops/Rows.inc"
#include <library.h>
#include <other.h>
static_assert(own + rows + library + other == EXPECTED);
"""


def action(source, *flags):
    """One as Bazel 4 prints it."""
    name = source.partition(".")[0]
    return {
        "mnemonic": "CppCompile",
        "arguments": [
            COMPILER, "-MD", "-MF", f"bazel-out/k8/bin/{name}.d", "-frandom-seed=x", "-iquote", ".",
            "-iquote", "bazel-out/k8/bin", "-isystem", "external/library/include",
            "-Iexternal/other", *flags, "-D__DATE__=\"redacted\"", "-Werror",
            "-fmodule-name=//own", "-fmodule-map-file=bazel-out/k8/bin/own.cppmap",
            "-fmodules-strict-decluse", "-Wprivate-header", "-c", source,
            "-o", f"bazel-out/k8/bin/{name}.o",
        ],
    }  # fmt: skip


@pytest.fixture
def checkout(tmp_path):
    """A checkout and Bazel's folders; a function that writes the commands of actions."""
    root, base = tmp_path / "checkout", tmp_path / "base"
    for path, text in {
        root / "own/Own.h": "inline constexpr int own = 1;",
        root / "own/own.cpp": SOURCE,
        base / "out/k8/bin/ops/Rows.inc": "inline constexpr int rows = 2;",
        base / "external/library/include/library.h": "inline constexpr int library = 3;",
        base / "external/other/other.h": "inline constexpr int other = 4;",
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def write(monkeypatch, *actions):
        monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps({"actions": actions})))
        status = compile_commands.main([str(root), str(base), str(base / "out")])
        file = root / "compile_commands.json"
        return status, json.loads(file.read_text()) if file.exists() else None

    write.root = root
    return write


def test_a_compiler_that_runs_a_command_finds_every_header(checkout, monkeypatch):
    status, (entry,) = checkout(monkeypatch, action("own/own.cpp", "-DEXPECTED=10", "-std=c++20"))
    assert status == 0
    assert entry["directory"] == str(checkout.root)
    assert entry["file"] == str(checkout.root / "own/own.cpp")
    checked = [each for each in entry["arguments"] if each != "-c"]
    done = subprocess.run(
        [*checked, "-fsyntax-only"], cwd=entry["directory"], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    wrong = [each.replace("EXPECTED=10", "EXPECTED=9") for each in checked]
    assert subprocess.run(
        [*wrong, "-fsyntax-only"], cwd=entry["directory"], capture_output=True
    ).returncode


def test_what_concerns_bazel_alone_is_left_out(checkout, monkeypatch):
    _, (entry,) = checkout(monkeypatch, action("own/own.cpp"))
    base = checkout.root.parent / "base"
    assert entry["arguments"] == [
        COMPILER, "-iquote", ".", "-iquote", f"{base}/out/k8/bin",
        "-isystem", f"{base}/external/library/include", f"-I{base}/external/other",
        "-Werror", "-c", "own/own.cpp",
    ]  # fmt: skip


def test_a_file_has_one_command_and_others_projects_none(checkout, monkeypatch):
    _, found = checkout(
        monkeypatch,
        action("own/own.cpp", "-DPART=1"),
        action("own/own.cpp", "-DPART=2"),
        action("external/library/library.cpp"),
        action("bazel-out/k8/bin/own/Generated.cpp"),
        action("ops/a.cpp"),
    )
    names = [entry["file"].removeprefix(f"{checkout.root}/") for entry in found]
    assert names == ["ops/a.cpp", "own/own.cpp"]
    assert "-DPART=1" in found[1]["arguments"]


def test_no_actions_are_an_error_and_leave_the_file(checkout, monkeypatch, capsys):
    checkout(monkeypatch, action("own/own.cpp"))
    status, found = checkout(monkeypatch)
    assert (status, len(found)) == (1, 1)
    assert "compile-commands: Bazel must name compile actions, got none" in capsys.readouterr().err
