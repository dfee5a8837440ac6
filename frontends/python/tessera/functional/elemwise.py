"""Functions of one element of each operand; operands broadcast."""

from .generated import export

export(globals())
