"""Lint: nothing above runtime/ knows a device by its name (devices.toml).

Values say which device they are on, and a device says what it can and what code it runs; a name in
code above is a place that another device would have to find.
"""

import re

from tools.lint import sources

_NAME = re.compile(r'"(cpu|gpu|sim|null|xpu)(\d|x)?(:\d+)?"|\b(host|sim|null)Device\(\)')
_CPP_COMMENT = re.compile(r"//.*")
_DOCSTRING = re.compile(r'""".*?"""', re.DOTALL)


def code_of(name):
    """The lines of a file without what is said about them."""
    text = sources.read(name)
    if name.endswith(".py"):
        return _DOCSTRING.sub(lambda found: "\n" * found.group().count("\n"), text).splitlines()
    return [_CPP_COMMENT.sub("", line) for line in text.splitlines()]


def check(names, table):
    """The lines that name a device."""
    for name in sources.select(names, table["code"], table["except"]):
        for number, line in enumerate(code_of(name), 1):
            if found := _NAME.search(line.partition("  # ")[0]):
                yield f"devices: {name}:{number} must ask a device, got the name {found.group()}"


if __name__ == "__main__":
    sources.report(list(check(sources.git_files(), sources.read_table("devices.toml"))))
