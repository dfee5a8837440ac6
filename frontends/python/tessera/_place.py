"""Places of operators as errors, profiles and plans write them."""

import re


def line_and_module(place):
    """The parts of "train.py:12 (net.conv1)"; "" for one that is missing.

    >>> from tessera._place import line_and_module
    >>> line_and_module("train.py:12 (net.conv1)")
    ('train.py:12', 'net.conv1')
    """
    line, module = re.fullmatch(r"(.*?)(?: \((.*)\))?", place, re.DOTALL).groups()
    return line, module or ""
