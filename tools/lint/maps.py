"""Lint: a README names every source of its folder; READMEs and comments name no file and no
function, class or variable that is not there (maps.toml).
"""

import fnmatch
import itertools
import pathlib
import re

from tools.lint import cpp_functions, sources

_QUOTED = re.compile(r"`([^`\n]+)`")
_BRACES = re.compile(r"^(.*?)\{([^{}]*)\}(.*)$")
_WORD = re.compile(r"[\w./*{},-]+")
# With a capital inside, so that it is no word of English: `planMemory()`, `runtime::KernelDims`.
_IDENTIFIER = re.compile(r"(?:\w+(?:::|\.))*(\w*[a-z][A-Z]\w*)(?:\(\))?")
_COMMENTS = {mark: re.compile(rf"(?:^|\s){mark}+ (.*)$", re.MULTILINE) for mark in ("//", "#")}


def expand(word):
    """`a.{h,cpp}` as a.h and a.cpp."""
    if match := _BRACES.match(word):
        before, choices, after = match.groups()
        return [text for choice in choices.split(",") for text in expand(before + choice + after)]
    return [word]


def quoted(text):
    """Words between backticks, braces expanded."""
    words = itertools.chain.from_iterable(part.split() for part in _QUOTED.findall(text))
    return [form for word in words for form in expand(word)]


def readme_of(name, readmes):
    """The README of the file's folder, or of the nearest folder above that has one."""
    above = (f"{folder}/README.md" for folder in pathlib.PurePosixPath(name).parents)
    return next((readme for readme in above if readme in readmes), None)


def is_named(path, words):
    """By its name, its stem, its header or a pattern for these, with or without its folder. `path`
    begins where the README lies.
    """
    forms = {str(path.with_suffix(ending)) for ending in (path.suffix, "", ".h")}
    forms |= {pathlib.PurePosixPath(form).name for form in forms}
    return any(fnmatch.fnmatchcase(form, word) for form in forms for word in words)


def check_named(names, readmes):
    words = {readme: quoted(text) for readme, text in readmes.items()}
    for name in names:
        readme = readme_of(name, readmes)
        if readme is None:
            continue
        path = pathlib.PurePosixPath(name).relative_to(pathlib.PurePosixPath(readme).parent)
        if not is_named(path, words[readme]):
            yield f"maps: {readme} must name every source of its folder, got none of {name}"


def check_exists(texts, files, endings):
    """`texts`: words by the file that they stand in."""
    paths = [f"/{file}" for file in files]
    is_there = {}
    for name, words in texts.items():
        for word in sorted(set(words)):
            if not _WORD.fullmatch(word) or not word.endswith(endings) or word in endings:
                continue
            if word not in is_there:
                pattern = f"*/{word.removeprefix('../')}"
                is_there[word] = any(fnmatch.fnmatchcase(path, pattern) for path in paths)
            if not is_there[word]:
                yield f"maps: {name} must name files that are there, got {word}"


def identifiers(text):
    """All that code has, whatever it is."""
    return set(re.findall(r"\w+", text))


def code_of(name):
    """A file without its comments."""
    text = sources.read(name)
    if name.endswith(".py"):
        return _COMMENTS["#"].sub(" ", text)
    return cpp_functions.strip_comments(text)


def check_identifiers(texts, known):
    for name, words in texts.items():
        found = filter(None, map(_IDENTIFIER.fullmatch, set(words)))
        for word in sorted({match[1] for match in found} - known):
            yield f"maps: {name} must name what is in the code, got {word}"


def comment_words(name, text):
    comments = _COMMENTS["#" if name.endswith(".py") else "//"].findall(text)
    words = " ".join(comments).replace("`", " ").split()
    return [form for word in words for form in expand(word.strip("().,:;'\""))]


def check(table):
    files = sources.git_files()
    every = {
        name: sources.read(name)
        for name in files
        if name.endswith(("README.md", "ARCHITECTURE.md"))
    }
    readmes = {name: text for name, text in every.items() if "/" in name}
    named = sources.select(files, table["sources"], table["except"])
    commented = sources.select(files, table["sources"], table["elsewhere"])
    words = {name: quoted(text) for name, text in every.items()}
    words |= {name: comment_words(name, sources.read(name)) for name in commented}
    known = files + table["elsewhere"]
    code = [name for name in files if name not in every]
    names = set().union(table["foreign"], *(identifiers(code_of(name)) for name in code))
    return [
        *check_named(named, readmes),
        *check_exists(words, known, tuple(table["endings"])),
        *check_identifiers(words, names),
    ]


if __name__ == "__main__":
    sources.report(check(sources.read_table("maps.toml")))
