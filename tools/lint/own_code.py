"""Lint: each record that names functions of C++ says why in own_code.toml, and they are few.

It prints the records by reason, their share, and the lines of C++ for each record.
"""

import json
import os
from pathlib import Path

from tools.lint import cpp_functions, sources

_KERNEL = "a kernel of the runtime"


def reasons_of(records, table):
    """{reason: names} of records that name functions; a line for each reason too few or many."""
    written = {name: reason for reason, names in table.items() for name in names.split()}
    found, problems = {}, []
    for record in records:
        name, functions = record["name"], record["functions"]
        has_kernel = any(each.startswith("kernel: ") for each in functions)
        reason = _KERNEL if has_kernel else written.pop(name, None)
        if functions and reason:
            found.setdefault(reason, []).append(name)
        elif functions:
            problems.append(f"own_code: {name} must have a reason for its functions, got none")
        elif reason:
            problems.append(f"own_code: {name} must name a function, got the reason only")
    problems += [
        f"own_code: {name} must be a record without a kernel, got another" for name in written
    ]
    return found, problems


def share(records, found):
    """(records that are not elementwise and name nothing, all that are not elementwise)."""
    others = [record["name"] for record in records if not record["elementwise"]]
    owners = {name for names in found.values() for name in names}
    return sum(name not in owners for name in others), len(others)


def figures(records, table, names):
    """What is printed, and what is wrong."""
    found, problems = reasons_of(records, table["reasons"])
    text = [f"{reason}: {' '.join(owners)}" for reason, owners in found.items()]
    free, all_others = share(records, found)
    percent = 100 * free / all_others
    text.append(
        f"records that are not elementwise without C++: {percent:.1f} % ({free} of {all_others})"
    )
    if percent < table["least"]:
        problems.append(
            f"own_code: at least {table['least']} % of the records that are not elementwise must "
            f"name no C++, got {percent:.1f} %"
        )
    counted = cpp_functions.lines_by_file(sources.select(names, table["files"], table["others"]))
    each = sum(counted.values()) / len(records)
    text.append(f"lines of C++ for each record: {each:.1f}, in {' '.join(counted)}")
    if each > table["most_lines"]:
        problems.append(
            f"own_code: C++ of operators must have at most {table['most_lines']} lines for each "
            f"record, got {each:.1f}"
        )
    return text, problems


if __name__ == "__main__":
    runfiles = Path(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"])
    records = json.loads((runfiles / "ops/samples.json").read_text())
    text, problems = figures(records, sources.read_table("own_code.toml"), sources.git_files())
    print(*text, sep="\n")
    sources.report(problems)
