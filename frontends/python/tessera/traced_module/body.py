"""A graph as an argument: the body of a loop or of a branch."""


class Body:
    """Base of graphs, which expressions know by it where one is among their arguments.

    `captures` are the nodes around it that it reads, `own_exprs` its expressions, and
    `function_of(values)` the function that it is, where nodes around it have these values.
    """
