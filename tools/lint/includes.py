"""Lint: which system headers a folder may include (includes.toml), which Bazel does not police."""

import re

from tools.lint import sources

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.MULTILINE)


def includes_of(name, cache):
    if name not in cache:
        cache[name] = _INCLUDE.findall(sources.read(name))
    return cache[name]


def reach(name, known, cache):
    """{included path: chain of our files that leads to it} through our own headers."""
    found, todo = {}, [(name, (name,))]
    while todo:
        here, chain = todo.pop()
        for path in includes_of(here, cache):
            if path in found:
                continue
            found[path] = chain
            if path in known:
                todo.append((path, (*chain, path)))
    return found


def forbidden(path, rule):
    allowed = "allow" in rule and re.search(rule["allow"], path)
    return re.search(rule["forbid"], path) and not allowed


def check_file(name, rule, known, cache):
    paths = (
        reach(name, known, cache)
        if rule.get("transitive")
        else dict.fromkeys(includes_of(name, cache), (name,))
    )
    for path, chain in paths.items():
        if forbidden(path, rule):
            what = f"{name} must not include <{path}> ({rule['reason']})"
            yield f"includes: {what}, got it by {' -> '.join(chain)}"


def check(names, table):
    code = sources.select(names, ["*.h", "*.cpp", "*.cu"])
    known, cache = set(code), {}
    for rule in table["rule"]:
        for name in sources.select(code, rule["in"], rule.get("except", ())):
            yield from check_file(name, rule, known, cache)


if __name__ == "__main__":
    sources.report(list(check(sources.git_files(), sources.read_table("includes.toml"))))
