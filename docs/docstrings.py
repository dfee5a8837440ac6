"""Extension: docstrings, which are plain text with sections and doctests, as reStructuredText."""

import inspect
import re

_SECTION = re.compile(r"([A-Z][\w ]*):$")
_ITEM = re.compile(r"([\w*, ]+): (.*)$")


def _escape(text):
    """Plain text, in which only backticks mean something: they hold code."""
    parts = re.split(r"`([^`]*)`", text)
    parts[0::2] = [re.sub(r"([*|_\\])", r"\\\1", part) for part in parts[0::2]]
    parts[1::2] = [f"``{part}``" for part in parts[1::2]]
    return "".join(parts)


def _paragraphs(lines):
    """Runs of lines between blank ones."""
    run = []
    for line in [*lines, ""]:
        if line.strip():
            run.append(line)
        elif run:
            yield run
            run = []


def _literal(lines):
    return ["::", "", *(f"    {line}" for line in lines), ""]


def _section(name, lines):
    """A heading in bold, then items, code or text."""
    lines = inspect.cleandoc("\n".join(["", *lines])).splitlines()
    title = [f"**{name}**", ""]
    if name == "IR":
        return title + _literal(lines)
    if name == "Example":
        return title + render(lines)
    items = []
    for line in filter(str.strip, lines):
        if items and not _ITEM.match(line):
            items[-1] += " " + line.strip()
        else:
            items.append(line)
    found = [(_ITEM.match(item), item) for item in items]
    texts = [
        f"``{match[1]}``: {_escape(match[2])}" if match else _escape(item) for match, item in found
    ]
    return [*title, *(f"* {text}" for text in texts), ""]


def render(lines):
    """The lines of a docstring, in reStructuredText."""
    result, runs = [], list(_paragraphs(lines))
    while runs:
        run = runs.pop(0)
        if run[0].startswith(">>> "):
            result += [*run, ""]
        elif (match := _SECTION.match(run[0])) and (len(run) > 1 or _is_indented(runs)):
            body = run[1:]
            while _is_indented(runs) and (not body or body[-1].startswith(" ")):
                body += ["", *runs.pop(0)]
            result += _section(match[1], body)
        elif run[0].startswith(" "):
            while _is_indented(runs):
                run += ["", *runs.pop(0)]
            result += _literal(inspect.cleandoc("\n".join(["", *run])).splitlines())
        else:
            result += _mixed(run)
    return result


def _is_indented(runs):
    return bool(runs) and runs[0][0].startswith(" ")


def _mixed(run):
    """Text, with the doctest that may follow it at once."""
    start = next((n for n, line in enumerate(run) if line.startswith(">>> ")), len(run))
    text = [_escape(line.strip()) for line in run[:start]]
    return [*text, "", *run[start:], *([""] if run[start:] else [])]


def _process(app, what, name, obj, options, lines):
    lines[:] = render(list(lines))


def _skip(app, what, name, obj, skip, options):
    """What says nothing but "see the class" is left out."""
    return True if getattr(obj, "__doc__", None) == "See the class." else None


def setup(app):
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", _process)
    app.connect("autodoc-skip-member", _skip)
    return {"parallel_read_safe": True}
