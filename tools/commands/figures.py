"""Prints what `tools/dev lint` tells of the sources: documented declarations, lines of C++.

usage: python -m tools.commands.figures
"""

from tools.lint import cpp_functions, documented, sources

# The folders whose lines are counted; a subfolder counts with its folder unless it stands here.
COUNTED = ["compiler/lanes", "compiler/lowering", "runtime/bind", "eager", "eager/tracing"]


def is_written_by_a_tool(text):
    """Whether a file's head says so."""
    return "do not edit" in text[:500]


def lines_of(names, folder):
    """Lines of C++ in a folder, without blank ones and comments, and the files that have them."""
    lines = {}
    inner = [f"{other}/*" for other in COUNTED if other.startswith(folder + "/")]
    for name in sources.select(names, [f"{folder}/*.h", f"{folder}/*.cpp"], inner):
        if not is_written_by_a_tool(text := sources.read(name)):
            lines[name.removeprefix(folder + "/")] = cpp_functions.code_lines(text)
    return f"{folder}: {sum(lines.values())} in {' '.join(sorted(lines))}"


def main():
    names, folders = sources.git_files(), sources.read_table("documented.toml")["folders"]
    print("public declarations with a comment:")
    print(*documented.figures(documented.measure(names, folders)), sep="\n")
    print("lines of C++ written by hand:")
    print(*(lines_of(names, folder) for folder in COUNTED), sep="\n")


if __name__ == "__main__":
    main()
