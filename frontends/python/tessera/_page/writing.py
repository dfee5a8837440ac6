"""A page as one file, which asks for nothing outside of it."""

import json
import os
from html import escape
from pathlib import Path

_FOLDER = Path(__file__).parent
_SHARED = ("page.js", "search.js", "table.js", "memory.js")


def page_of(title, summary, main, scripts, data):
    """The page as text.

    Args:
        title: of the page
        summary: lines below it
        main: the file with the sections; those with an id and a heading are linked
        scripts: files, behind the shared ones
        data: dicts and lists that the scripts read
    """
    body = _text(main)
    parts = {
        "TITLE": escape(title),
        "SUMMARY": "".join(f"<li>{escape(line)}</li>" for line in summary),
        "STYLE": _text(_FOLDER / "page.css"),
        "LINKS": " ".join(_links(body)),
        "MAIN": body,
        "SCRIPT": "".join(map(_text, [*(_FOLDER / name for name in _SHARED), *scripts])),
        "DATA": json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
    }
    before, *rest = _text(_FOLDER / "frame.html").split("<!--@")
    return before + "".join(
        parts[name] + text for name, _, text in (r.partition("-->") for r in rest)
    )


def _text(path):
    return path.read_text(encoding="utf-8")


def _links(body):
    """Links to the sections, each `<section id="steps" data-link="Steps"`."""
    for line in body.splitlines():
        if line.startswith("<section "):
            name, link = (line.split(f'{key}="')[1].split('"')[0] for key in (" id", "data-link"))
            yield f'<a href="#{name}">{link}</a>'


def write_text(tool, path, text):
    """Writes a file and returns its path; OSError, in the words of `tool`, where that cannot be."""
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        what = f"{tool}: path must be writable, got {error.strerror}"
        raise type(error)(error.errno, what, os.fspath(path)) from error
    return path
