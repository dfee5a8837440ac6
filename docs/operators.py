"""Extension: the page of all operators, which the build writes from the records."""

import re
from pathlib import Path

from pygments.lexers.special import TextLexer

_PAGE = "reference/operators"


def _read(app, name, source):
    """Puts the operators behind what the page says itself."""
    if name != _PAGE:
        return
    path = app.config.tess_operators
    if not Path(path).is_file():
        raise FileNotFoundError(f"docs: TESS_OPERATORS must name the operators' page, got {path!r}")
    text = Path(path).read_text(encoding="utf-8")
    source[0] += re.sub(r"^<!--.*?-->\s*# Operators\n", "\n", text, flags=re.DOTALL)


def setup(app):
    """Called by Sphinx."""
    app.add_config_value("tess_operators", "", "env")
    app.add_lexer("mlir", TextLexer)
    app.connect("source-read", _read)
    return {"parallel_read_safe": True}
