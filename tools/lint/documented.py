"""Lint: public declarations of C++ headers have a documentation comment (documented.toml).

usage: python -m tools.lint.documented [--missing]
Prints the share of each folder; with `--missing` also every declaration that has none.
"""

import sys
from dataclasses import dataclass, field

from tools.lint import cpp_declarations, sources


@dataclass
class Share:
    documented: int = 0
    total: int = 0
    missing: list = field(default_factory=list)

    def add(self, name, declaration):
        self.total += 1
        self.documented += declaration.documented
        if not declaration.documented:
            self.missing.append(f"{name}:{declaration.line}: {declaration.name}")

    def percent(self):
        return 100 * self.documented / max(self.total, 1)

    def text(self):
        return f"{self.percent():.1f} % ({self.documented} of {self.total})"


def measure(names, folders):
    """A Share for each folder, and for their `sum`."""
    shares = {folder: Share() for folder in [*folders, "sum"]}
    for folder in folders:
        for name in sources.select(names, [f"{folder}/*.h"]):
            for declaration in cpp_declarations.declarations(sources.read(name)):
                shares[folder].add(name, declaration)
                shares["sum"].add(name, declaration)
    return shares


def figures(shares):
    return [f"{folder}: {share.text()}" for folder, share in shares.items()]


def check(shares, table):
    for folder, share in shares.items():
        least = table["sum" if folder == "sum" else "folder"]
        if share.percent() < least:
            must = f"{folder} must have a comment on at least {least} % of its public declarations"
            first = next(iter(share.missing), "none: there are no declarations")
            yield f"documented: {must}, got {share.text()}, the first without one {first}"


if __name__ == "__main__":
    table = sources.read_table("documented.toml")
    shares = measure(sources.git_files(), table["folders"])
    print(*figures(shares), sep="\n")
    if "--missing" in sys.argv:
        print(*shares["sum"].missing, sep="\n")
    sources.report(list(check(shares, table)))
