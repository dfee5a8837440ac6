"""Texts of accounts: tables and numbers for people."""


def aligned(lines, texts):
    """Rows as a table, of which the first `texts` columns go to the left, numbers to the right.

    >>> from tessera._page.texts import aligned
    >>> print(aligned([("name", "us"), ("exp", "12.5")], 1))
    name    us
    exp   12.5
    """
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]

    def _cell(number, text):
        return text.ljust(widths[number]) if number < texts else text.rjust(widths[number])

    return "\n".join("  ".join(_cell(*cell) for cell in enumerate(row)).rstrip() for row in lines)


def size(count):
    """Bytes for people.

    >>> from tessera._page.texts import size
    >>> size(100), size(3 << 19)
    ('100 bytes', '1.5 MiB')
    """
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= scale:
            return f"{count / scale:.1f} {unit}"
    return f"{count} bytes"
