"""Writes compile_commands.json, which clangd and IDEs read, from the compile actions of Bazel.

usage: compile_commands.py ROOT OUTPUT_BASE OUTPUT_PATH < ACTIONS
ACTIONS is the answer of `bazel aquery 'mnemonic("CppCompile", //...)' --output=jsonproto`. Paths of
an action are relative to Bazel's execution root: those under `bazel-out/` become paths under
OUTPUT_PATH, those under `external/` paths under OUTPUT_BASE, and the others stay relative to ROOT.
A file that several targets compile has the command of the first of them.
"""

import json
import pathlib
import re
import sys

NAME = "compile_commands.json"
# A path may follow its option in the same argument.
PATH = re.compile(r"(-I|-iquote|-isystem)?(bazel-out|external)/(.*)", re.DOTALL)
# Layers are checked by the build; redacted times and files for Bazel mean nothing to a reader.
ALONE = re.compile(
    r"-fmodule-|-fmodules-strict-decluse$|-Wprivate-header$|-MD$|-frandom-seed=|"
    r"-D__(DATE|TIME|TIMESTAMP)__=|-Wno-builtin-macro-redefined$"
)
WITH_VALUE = ("-MF", "-o")


def kept(arguments):
    """The arguments that decide how the file reads."""
    found, rest = [], iter(arguments)
    for argument in rest:
        if argument in WITH_VALUE:
            next(rest)
        elif not ALONE.match(argument):
            found.append(argument)
    return found


def resolved(argument, folders):
    """The argument with its path, if it has one of `folders`, as an absolute one."""
    match = PATH.fullmatch(argument)
    if not match:
        return argument
    option, folder, rest = match.groups()
    return f"{option or ''}{folders[folder]}/{rest}"


def source_of(arguments):
    return arguments[arguments.index("-c") + 1]


def entries(actions, root, folders):
    """One command for each file of the checkout, in the order of their names."""
    found = {}
    for action in actions:
        arguments = action["arguments"]
        source = source_of(arguments)
        if not source.startswith(("bazel-out/", "external/")):
            command = [resolved(each, folders) for each in kept(arguments)]
            found.setdefault(
                source, {"directory": root, "file": f"{root}/{source}", "arguments": command}
            )
    return [found[source] for source in sorted(found)]


def main(arguments):
    root, output_base, output_path = arguments
    folders = {"bazel-out": output_path, "external": f"{output_base}/external"}
    found = entries(json.load(sys.stdin).get("actions", []), root, folders)
    if not found:
        print("compile-commands: Bazel must name compile actions, got none", file=sys.stderr)
        return 1
    new = pathlib.Path(root, NAME + ".new")
    new.write_text(json.dumps(found, indent=1) + "\n")
    new.replace(pathlib.Path(root, NAME))  # clangd never reads half a file
    print(f"{NAME}: {len(found)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
