"""Names in the forms that files, classes, flags and functions have."""

import keyword
import pathlib
import re

from tools.commands.new.changes import require

_TEMPLATES = pathlib.Path(__file__).with_name("templates")
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_CAMEL = re.compile(r"[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*")
_SNAKE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


def snake(name):
    """The words of UpperCamel, as `lstm_cell` of LSTMCell."""
    return _WORDS.sub("_", name).lower()


def camel(name):
    """The UpperCamel of words, as BentSquare of `bent_square`."""
    return "".join(word.capitalize() for word in name.split("_"))


def require_camel(kind, name):
    text = f"the name of a new {kind} must be UpperCamel of letters and digits"
    require(_CAMEL.fullmatch(name), text, repr(name))


def require_snake(kind, name):
    text = f"the name of a new {kind} must be lower_snake of letters and digits, no word of Python"
    require(_SNAKE.fullmatch(name) and not keyword.iskeyword(name), text, repr(name))


def filled(template, **words):
    """The text of a template with each @word@ replaced."""
    text = (_TEMPLATES / f"{template}.txt").read_text()
    return re.sub(r"@(\w+)@", lambda match: words[match[1]], text)
