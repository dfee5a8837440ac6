"""Lint: lines and commits younger than this lint follow the language rule of CONTRIBUTING.md.

usage: language.py [--message FILE]   The file has the message of a commit that is about to be made.
"""

import pathlib
import re
import subprocess
import sys

from tools.lint import sources

_HUNK = re.compile(r"@@ -\S+ \+(\d+)")
_MARKS = {"h": "//", "cpp": "//", "td": "//", "mlir": "//", "py": '(?:#|""")'}
_MARKS |= dict.fromkeys(("sh", "bazel", "bzl", "toml"), "#")
_NO_SUBJECT = re.compile(r"(?:^|[.:;!?] )((?:What|Of|Those|The same)\b|As \w+\(\))")
_SUBJECT = re.compile(r"\[[\w/-]+\] [^\[\];]+")
_WIDEST, _LONGEST = 130, 72


def git(*arguments):
    command = ["git", "-c", f"safe.directory={sources.ROOT}", "-C", str(sources.ROOT), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def comment_of(name, line):
    """The text of a comment in a line; of a page the whole line, unless it is a row or code."""
    ending = name.rsplit(".", 1)[-1]
    if ending == "md":
        return "" if line.startswith(("    ", "|")) else line.lstrip("*- #>0123456789.")
    mark = _MARKS.get(ending)
    match = mark and re.search(rf"(?:^|\s){mark}[/!<]* ?(.*)", line)
    return match[1] if match else ""


def check_line(name, number, line):
    where = f"language: {name}:{number}"
    if found := _NO_SUBJECT.search(comment_of(name, line)):
        yield f"{where}: a sentence must begin with a noun or a verb, got {found[1]!r}"
    if name.endswith("README.md") and len(line) > _WIDEST:
        yield f"{where}: a line must have at most {_WIDEST} characters, got {len(line)}"


def added_lines(diff):
    """(file, number, text) of the lines that a diff without context adds."""
    name, number = "", 0
    for line in diff.splitlines():
        if line.startswith("+++ "):
            name = line.removeprefix("+++ b/")
        elif match := _HUNK.match(line):
            number = int(match[1])
        elif line.startswith("+"):
            yield name, number, line[1:]
            number += 1


def check_message(message, what):
    subject, _, body = message.strip().partition("\n")
    if len(subject) > _LONGEST:
        yield f"language: {what}: a subject must have at most {_LONGEST} letters, got {subject!r}"
    if not _SUBJECT.fullmatch(subject):
        yield f"language: {what}: a subject must be '[area] imperative', one topic, got {subject!r}"
    if not body.strip() and "NFC" not in subject:
        yield f"language: {what}: a message must have a body that says why, got {subject!r} alone"


def first_commit():
    """The commit that brought this lint; none in a history that does not reach so far."""
    found = git("log", "--diff-filter=A", "--format=%H", "--", "tools/lint/language.py").split()
    return found[-1] if found else None


def check():
    base = first_commit()
    if base is None:
        return
    present = set(sources.git_files())
    for name, number, line in added_lines(git("diff", "-U0", "-M", "--no-color", base)):
        if name in present:
            yield from check_line(name, number, line)
    for commit in git("rev-list", "--no-merges", f"{base}..HEAD").split():
        yield from check_message(git("log", "-1", "--format=%B", commit), commit[:8])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--message"]:
        text = pathlib.Path(sys.argv[2]).read_text()
        message = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
        sources.report(list(check_message(message, "the message")))
    sources.report(list(check()))
