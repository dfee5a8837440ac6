"""Prints what `tools/dev lint` tells of the sources: documented declarations, lines of C++.

usage: python -m tools.commands.figures
"""

from tools.lint import cpp_functions, documented, sources

# The folders whose lines are counted, each with its subfolders.
COUNTED = ["compiler/lowering", "runtime/bind", "eager"]


def lines_of(names, folder):
    """Lines of C++ in a folder, without blank ones and comments."""
    files = sources.select(names, [f"{folder}/*.h", f"{folder}/*.cpp"])
    return sum(cpp_functions.code_lines(sources.read(name)) for name in files)


def main():
    names, folders = sources.git_files(), sources.read_table("documented.toml")["folders"]
    print("public declarations with a comment:")
    print(*documented.figures(documented.measure(names, folders)), sep="\n")
    print("lines of C++:")
    print(*(f"{folder}: {lines_of(names, folder)}" for folder in COUNTED), sep="\n")


if __name__ == "__main__":
    main()
