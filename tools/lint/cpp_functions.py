"""Finds the functions of a C++ file by its braces: enough for a budget, no compiler needed."""

import re

from tools.lint import sources

# Literals and comments have braces that open nothing. Raw strings come first: they may have quotes.
_NOISE = re.compile(
    r'R"(?P<delimiter>[^(\s]*)\(.*?\)(?P=delimiter)"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
    re.DOTALL,
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
_NO_FUNCTION = re.compile(
    r"\b(namespace|class|struct|enum|union|extern)\b(?![^{]*\))|=\s*$|^\s*(if|for|while|switch|do|else|try)\b"
)
_SWITCH_LINE = re.compile(r"^\s*(case\b.*|default\s*:.*)$")


def blank(match):
    """Same lines, no braces."""
    return "\n" * match.group().count("\n")


def strip_noise(text):
    return _DIRECTIVE.sub(blank, _NOISE.sub(blank, text))


def is_comment(match):
    return match.group().startswith(("//", "/*"))


def comment_lines(text):
    """(first line, last line) of each comment."""
    for match in filter(is_comment, _NOISE.finditer(text)):
        first = text.count("\n", 0, match.start()) + 1
        yield first, first + match.group().count("\n")


def strip_comments(text):
    """The text with nothing but line ends in the place of comments."""
    return _NOISE.sub(lambda match: blank(match) if is_comment(match) else match.group(), text)


def code_lines(text):
    """How many lines hold more than blanks and comments."""
    return sum(1 for line in strip_comments(text).splitlines() if line.strip())


def lines_by_file(names):
    """Lines of C++ of each file that is written by hand, without blank ones and comments."""
    texts = {name: sources.read(name) for name in names}
    return {
        name: code_lines(text) for name, text in texts.items() if "do not edit" not in text[:500]
    }


def opens_function(head):
    return "(" in head and not _NO_FUNCTION.search(head)


def function_name(head):
    match = re.search(r"([\w:~]+|operator\S+)\s*\(", head)
    name = match.group(1) if match else "function"
    title = re.search(r"^\s*(TEST_CASE|SECTION)", head)
    return title.group(1) if title else name


def table_lines(body):
    """Lines that a `switch` table adds: a case may return or break on the line after its label."""
    lines = body.splitlines()
    labels = [number for number, line in enumerate(lines) if _SWITCH_LINE.match(line)]
    followers = {number + 1 for number in labels} - set(labels)
    return sum(1 for number in followers if number < len(lines))


def matching_brace(text, start, pair="{}"):
    """Where what opens at `start` is closed; the end of the text when it is not."""
    depth = 0
    for at in range(start, len(text)):
        depth += {pair[0]: 1, pair[1]: -1}.get(text[at], 0)
        if depth == 0:
            return at
    return len(text)


def body_end(text, start):
    """The last brace of a body; a constructor's `: member{1}, other{2} {` comes before it."""
    end = matching_brace(text, start)
    following = re.compile(r"\s*(?:\{|,[^;{}]*\{)").match(text, end + 1)
    return body_end(text, following.end() - 1) if following else end


def functions(text):
    """(name, first line, lines) of each function that is in no other function."""
    text, at, head_start = strip_noise(text), 0, 0
    while at < len(text):
        char = text[at]
        if char == "{" and opens_function(head := text[head_start:at]):
            end = body_end(text, at)
            body = text[at:end]
            first = text.count("\n", 0, head_start + len(head) - len(head.lstrip())) + 1
            last = text.count("\n", 0, end) + 1
            yield function_name(head), first, last - first + 1 - table_lines(body)
            at = end
        if char in "{};":
            head_start = at + 1
        at += 1
