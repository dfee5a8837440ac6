"""Lines of Python, broken as formatters break them."""

_WIDTH = 88
_PAIRS = {"(": ")", "[": "]", "{": "}"}


def laid_out(line, width=_WIDTH):
    """The lines for one statement: itself where it is short, else one argument a line.

    >>> from tessera.traced_module.layout import laid_out
    >>> laid_out("x = f(a, b)", 8)
    ['x = f(', '    a, b', ')']
    >>> laid_out("x = f(a, g(b, c))", 10)
    ['x = f(', '    a,', '    g(', '        b,', '        c,', '    ),', ')']
    """
    opened = None if len(line) <= width else _last_bracket(line)
    if opened is None:
        return [line]
    begin, end = opened
    indent = line[: len(line) - len(line.lstrip())]
    inner, body = indent + "    ", line[begin + 1 : end]
    items = _items(body)
    if not items:
        return [line]
    if len(inner) + len(body) <= width and not body.endswith(","):
        lines = [inner + body]
    else:
        lines = [each for item in items for each in laid_out(f"{inner}{item},", width)]
    return [line[: begin + 1], *lines, indent + line[end:]]


def _last_bracket(line):
    """Where the last bracket at the end of the line opens and closes; None: it ends otherwise."""
    end = len(line.rstrip(":,"))
    found = None
    for begin, close in _brackets(line):
        if close == end - 1:
            found = begin, close
            break
    return found


def _brackets(line):
    """(begin, end) of each bracket that is within no other one."""
    stack = []
    for place, sign in _signs(line):
        if sign in _PAIRS:
            stack.append(place)
        elif sign in _PAIRS.values():
            begin = stack.pop()
            if not stack:
                yield begin, place


def _items(text):
    """Texts between the commas that are within no bracket."""
    depth, begin, found = 0, 0, []
    for place, sign in _signs(text):
        depth += (sign in _PAIRS) - (sign in _PAIRS.values())
        if sign == "," and not depth:
            found.append(text[begin:place].strip())
            begin = place + 1
    return [item for item in [*found, text[begin:].strip()] if item]


def _signs(text):
    """(place, character) of all that is in no string."""
    quote, is_escaped = None, False
    for place, sign in enumerate(text):
        if quote is None:
            if sign in "\"'":
                quote = sign
            else:
                yield place, sign
        elif is_escaped:
            is_escaped = False
        elif sign == "\\":
            is_escaped = True
        elif sign == quote:
            quote = None
