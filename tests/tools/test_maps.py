from pathlib import PurePosixPath

import pytest

from tools.lint import maps


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("Bind.cpp", ["Bind.cpp"]),
        ("Bind.cpp", ["Bind.h"]),
        ("Bind.cpp", ["Bind"]),
        ("cpu/OwnPool.cpp", ["Own*.cpp"]),
        ("cpu/OwnPool.cpp", ["cpu/OwnPool"]),
    ],
)
def test_a_source_is_named(path, words):
    assert maps.is_named(PurePosixPath(path), words)


@pytest.mark.parametrize("words", [[], ["Binder.h"], ["bind"], ["cpu"], ["cpu/"]])
def test_a_source_is_not_named(words):
    assert not maps.is_named(PurePosixPath("cpu/Bind.cpp"), words)


def test_the_nearest_readme_is_asked():
    readmes = {"runtime/README.md": "`Bind.h`", "runtime/cuda/README.md": "`Driver.{h,cpp}`"}
    names = [
        "runtime/Bind.cpp",
        "runtime/device/Code.h",
        "runtime/cuda/Driver.cpp",
        "runtime/cuda/Bind.h",
    ]
    says = "must name every source of its folder, got none of"
    assert list(maps.check_named([*names, "tools/x.py"], readmes)) == [
        f"maps: runtime/README.md {says} runtime/device/Code.h",
        f"maps: runtime/cuda/README.md {says} runtime/cuda/Bind.h",
    ]


def test_identifiers_are_in_the_code():
    words = maps.quoted(
        "`planMemory()`, `Gone::planOld`, `a.oldName`, `word`, `Word`, `NPY`, `x::Bound`"
    )
    code = maps.identifiers("MemoryPlan planMemory(int); struct Bound;")
    says = "maps: runtime/README.md must name what is in the code, got"
    assert list(maps.check_identifiers({"runtime/README.md": words}, code)) == [
        f"{says} oldName",
        f"{says} planOld",
    ]


def test_what_is_named_is_there():
    comment = 'x = "a.py"  {} as in gone.py'.format("#")
    words = {
        "eager/README.md": maps.quoted("`Apply.{h,cpp}`, `V*.cpp` and `.td`, then Old.h"),
        "eager/dispatch/Views.cpp": maps.comment_words(
            "eager/dispatch/Views.cpp", "#include <a.h> // see Old.h.\n"
        ),
        "eager/tool.py": maps.comment_words("eager/tool.py", comment),
    }
    files = ["eager/stack/Apply.h", "eager/dispatch/Views.cpp"]
    says = "must name files that are there, got"
    assert list(maps.check_exists(words, files, (".h", ".cpp", ".td", ".py"))) == [
        f"maps: eager/README.md {says} Apply.cpp",
        f"maps: eager/dispatch/Views.cpp {says} Old.h",
        f"maps: eager/tool.py {says} gone.py",
    ]
