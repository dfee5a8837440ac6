"""The contract between Tessera and an engine that runs parts of programs."""


class Provider:
    """An execution provider; a class for an engine derives from it.

    Its program is bytes, which files keep: `compile` makes them of a subgraph, `open` makes an
    executable of them, once for equal bytes in a process, and `run` computes with it.
    """

    name = ""
    """An identifier: its operators are `tessera.ops.<name>.program<number of outputs>`."""
    version = "1"
    """Files remember it."""

    def claims(self, node):
        """Whether the engine can run this OpNode of a Network, whose shapes are known."""
        raise NotImplementedError(f"{type(self).__name__}: claims must be given, got none")

    def compile(self, subgraph):
        """The program, bytes, for a Subgraph whose operators it claimed.

        NotImplementedError: the engine cannot run it after all.
        """
        raise NotImplementedError(f"{type(self).__name__}: compile must be given, got none")

    def open(self, program):
        """The executable for the bytes of a program. ValueError: they must be whole."""
        raise NotImplementedError(f"{type(self).__name__}: open must be given, got none")

    def signature(self, executable):
        """The Signature of a program."""
        raise NotImplementedError(f"{type(self).__name__}: signature must be given, got none")

    def infer(self, executable, shapes):
        """Shapes of the outputs for those of the inputs, where the Signature does not say them."""
        raise NotImplementedError(f"{type(self).__name__}: infer must be given, got {shapes}")

    def run(self, executable, inputs, outputs):
        """Writes the outputs: arrays over the memory of tensors, row-major; inputs are read-only.

        ValueError: shapes must be those of the program. It may be called by several threads.
        """
        raise NotImplementedError(f"{type(self).__name__}: run must be given, got none")

    def __repr__(self):
        return f"<provider {self.name}>"
