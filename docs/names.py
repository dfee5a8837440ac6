"""Extension: tables of the names that a module has, each with the first sentence of its docstring.

A page asks for one by a comment, `<!-- names of tessera.functional.math -->`.
"""

import importlib
import inspect
import re

_ASKS = re.compile(r"^<!-- names of ([\w.]+) -->$", re.MULTILINE)


def first_sentence(text):
    """The sentence in one line, without what a table would take for its own; "" where the text
    begins with a signature alone.
    """
    paragraphs = inspect.cleandoc(text or "").split("\n\n")
    begins_with_call = re.fullmatch(r"\w+\(.*\)", paragraphs[0], re.DOTALL)
    text = " ".join(paragraphs[1 if begins_with_call and len(paragraphs) > 1 else 0].split())
    sentence = re.split(r"(?<=[.:]) (?=[A-Z`])", text)[0].rstrip(":")
    return re.sub(r"([|*_\\\[\]<>$])", r"\\\1", sentence)


def table(module):
    """The table, in Markdown."""
    part = importlib.import_module(module)
    rows = [
        f"| {{py:obj}}`{name} <{module}.{name}>` | {first_sentence(getattr(part, name).__doc__)} |"
        for name in part.__all__
    ]
    return "\n".join(["| name | |", "|---|---|", *rows])


def _read(app, name, source):
    source[0] = _ASKS.sub(lambda match: table(match[1]), source[0])


def setup(app):
    """Called by Sphinx."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True}
