"""Lint: code asks a record for a fact, never an operator for its name (opnames.toml).

What one operator has and another has not is a field of its record: two hundred operators come, and
a list of names that some pass keeps is complete on the day it is written only.
"""

import re

from tools.lint import labels, sources

_COMPARES = re.compile(r"[!=]=|\bCases?\(|\bstarts_with\(|\bends_with\(|\bisOp\(")
_TEXT = re.compile(r'"[^"]*"')
_LITERAL = re.compile(r'"([a-z0-9_]+)"')
_COMMENT = re.compile(r"//.*")


def check(names, table, operators):
    """The lines that compare something with a name in `operators`."""
    for name in sources.select(names, table["code"], table["except"]):
        for number, line in enumerate(sources.read(name).splitlines(), 1):
            code = _COMMENT.sub("", line)
            if not _COMPARES.search(_TEXT.sub('""', code)):
                continue
            for operator in sorted(set(_LITERAL.findall(code)) & operators):
                place = f"{name}:{number}"
                yield f"opnames: {place} must ask the record, got a comparison with {operator}"


if __name__ == "__main__":
    operators = {record["name"] for record in labels.generated_records()}
    found = check(sources.git_files(), sources.read_table("opnames.toml"), operators)
    sources.report(list(found))
