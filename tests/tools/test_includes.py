import pytest

from tools.lint import includes, sources

MLIR = {"in": ["*.h", "*.cpp"], "except": ["ir/*"], "forbid": "^mlir/", "reason": "layers"}
LLVM = {"in": ["runtime/*"], "forbid": "^llvm/", "allow": "^llvm/ADT/", "reason": "size"}


@pytest.fixture
def check(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "ROOT", tmp_path)

    def run(rule, **texts):
        names = {name.replace("__", "/") + ".h": text for name, text in texts.items()}
        for name, text in names.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
        return list(includes.check(list(names), {"rule": [rule]}))

    return run


def test_a_forbidden_header_is_named(check):
    assert check(MLIR, eager__A='#include "mlir/IR/Value.h"\n') == [
        "includes: eager/A.h must not include <mlir/IR/Value.h> (layers), got it by eager/A.h"
    ]


def test_excepted_folders_are_free(check):
    assert check(MLIR, ir__A='#include "mlir/IR/Value.h"\n') == []


def test_allowed_headers_are_free(check):
    text = '#include "llvm/ADT/Twine.h"\n#  include <llvm/IR/Module.h>\n'
    (message,) = check(LLVM, runtime__A=text)
    assert "<llvm/IR/Module.h>" in message


def test_a_comment_is_no_include(check):
    assert check(MLIR, eager__A='// #include "mlir/IR/Value.h"\n') == []


def test_a_transitive_rule_shows_the_way(check):
    files = {"eager__A": '#include "ir/B.h"\n', "ir__B": '#include "mlir/IR/Value.h"\n'}
    (message,) = check({**MLIR, "transitive": True}, **files)
    assert message.endswith("got it by eager/A.h -> ir/B.h")
    assert check(MLIR, **files) == []
