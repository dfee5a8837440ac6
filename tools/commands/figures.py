"""Prints what `tools/dev lint` tells of the sources: documented declarations, C++, records.

usage: python -m tools.commands.figures
"""

import json

from tools.lint import cpp_functions, documented, own_code, sources

# The folders whose lines are counted; a subfolder counts with its folder unless it stands here.
COUNTED = ["compiler/lanes", "compiler/lowering", "runtime/bind", "eager", "eager/tracing"]


def lines_of(names, folder):
    """Lines of C++ in a folder, without blank ones and comments, and the files that have them."""
    inner = [f"{other}/*" for other in COUNTED if other.startswith(folder + "/")]
    chosen = sources.select(names, [f"{folder}/*.h", f"{folder}/*.cpp"], inner)
    lines = cpp_functions.lines_by_file(chosen)
    files = sorted(name.removeprefix(folder + "/") for name in lines)
    return f"{folder}: {sum(lines.values())} in {' '.join(files)}"


def main():
    names, folders = sources.git_files(), sources.read_table("documented.toml")["folders"]
    print("public declarations with a comment:")
    print(*documented.figures(documented.measure(names, folders)), sep="\n")
    print("lines of C++ written by hand:")
    print(*(lines_of(names, folder) for folder in COUNTED), sep="\n")
    print("records that name C++:")
    records = json.loads(sources.read("bazel-bin/ops/samples.json"))  # which the lints build
    print(*own_code.figures(records, sources.read_table("own_code.toml"), names)[0], sep="\n")


if __name__ == "__main__":
    main()
