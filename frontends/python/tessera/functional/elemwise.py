"""Functions of one element of each operand; operands broadcast.

Most take `inplace=True`: the result is written into the memory of the first operand, which is
returned. Views of that memory see it, copies of the value (`detach()`, `Tensor(x)`) do not.
ValueError: the operand must have the shape and dtype of the result and an element of its own for
each index, must not be a tensor whose gradient is wanted while it is recorded, and nothing of it
may happen in a trace. A gradient that needs what was written is an error that names both lines.

>>> import tessera
>>> x = tessera.tensor([[1.0, -2.0], [3.0, -4.0]])
>>> row = x[1]
>>> abs(x, inplace=True) is x, row.tolist()
(True, [3.0, 4.0])
"""

from .generated import export

export(globals())
