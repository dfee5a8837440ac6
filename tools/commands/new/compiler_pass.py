"""A new pass: its record, code, place in the order, row, and FileCheck test."""

from tools.commands.new import names, places
from tools.commands.new.changes import require

_SUMMARY = "removes two negations in a row"


def add(changes, name, family=None, file=None):
    """Adds a pass of that name which removes negations of negations."""
    names.require_camel("pass", name)
    require(not (family or file), "a new pass must have no --family and no --file", family or file)
    records = places.PASSES.format(file="Passes.td")
    taken = f"def {name}Pass " in changes.read(records)
    require(not taken, "the name of a new pass must not be taken", repr(name))
    flag = names.snake(name).replace("_", "-")
    words = {"Name": name, "NAME": name.upper(), "flag": flag, "banner": _banner(name)}
    code = places.PASSES.format(file=f"{name}.cpp")
    test = places.PASS_TESTS.format(file=f"{names.snake(name)}.mlir")
    changes.insert(records, "#endif", names.filled("pass.td", **words) + "\n")
    changes.create(code, names.filled("pass.cpp", **words))
    changes.create(test, names.filled("pass.mlir", **words))
    _list(changes, name)
    changes.edit(records, f"def {name}Pass ")
    changes.edit(code, "struct DropNegationPair")
    changes.edit(test, "// RUN:")
    changes.edit(places.PIPELINE, f"create{name}Pass")


def _banner(name):
    start = f"//===- {name}.cpp - remove two negations in a row "
    return f"{start.ljust(80 - len('===//'), '-')}===//"


def _list(changes, name):
    """The names of the files, where a build, a reader and the pipeline look for them."""
    build = places.PASSES.format(file="BUILD.bazel")
    library = r'    name = "transforms",\n    srcs = \['
    changes.insert_sorted(build, library, f'        "{name}.cpp",\n')
    readme = places.PASSES.format(file="README.md")
    changes.insert(readme, r"\| `FusionGroups", f"| `{name}.cpp` | {_SUMMARY} |\n")
    tests = places.PASS_TESTS.format(file="BUILD.bazel")
    passes = r'    tools = \["//tools:tess-opt"\],\n\) for name in \['
    changes.insert_sorted(tests, passes, f'    "{names.snake(name)}",\n')
    why = "  // Before CSE, which merges what differs by such a pair.\n"
    line = f"{why}  func.addPass(create{name}Pass());\n"
    changes.insert(places.PIPELINE, "  // Backward graphs repeat", line)
