"""Writes the files of a new operator, pass, module or optimizer.

usage: python -m tools.commands.new op|pass|module|optimizer NAME [--family F] [--file F]
What is written compiles, is tested and is true: it computes something small, which the user then
edits. Names that are taken or bad are refused before anything is written.
"""

import argparse
import pathlib
import sys

from tools.commands.new import compiler_pass, layer, operator, places, update
from tools.commands.new.changes import Changes, RefusedError, require

_KINDS = {
    "op": operator.add,
    "pass": compiler_pass.add,
    "module": layer.add,
    "optimizer": update.add,
}


def run(arguments, root):
    parser = argparse.ArgumentParser(prog="tools/dev new", description=__doc__.splitlines()[0])
    parser.add_argument("kind", help=", ".join(_KINDS))
    parser.add_argument("name", help="lower_snake of an operator, UpperCamel of all others")
    parser.add_argument("--family", help=f"of an operator: {', '.join(places.FAMILIES)}")
    parser.add_argument("--file", help="of a class: the file of the package, new or there")
    options = parser.parse_args(arguments)
    require(options.kind in _KINDS, f"the kind must be one of {', '.join(_KINDS)}", options.kind)
    changes = Changes(root)
    _KINDS[options.kind](changes, options.name, options.family, options.file)
    written = changes.write()
    print("written:", *written, sep="\n  ")
    print("to edit:", *changes.places_to_edit(), sep="\n  ")
    tests = (*places.TESTS[options.kind], *places.TESTS_OF_ALL)
    print("to test:", f"tools/dev test {' '.join(tests)}", sep="\n  ")


def main(arguments):
    try:
        run(arguments, pathlib.Path.cwd())
    except RefusedError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
