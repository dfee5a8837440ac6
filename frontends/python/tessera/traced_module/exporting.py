"""Other forms of a traced module."""


class Exports:
    """The part of TracedModule that writes it down for others."""

    def to_python(self, path):
        """Writes the module as Python that people read and change: a class for each opened module,
        and `load()`, which makes the outermost one with its tensors. These, and tensors that belong
        to graphs, are in a file beside it, with the suffix ".safetensors".

        The file needs the package alone. Modules of the package are made by their constructors; a
        generator of their own starts at its seed.

        Args:
            path: of the file, which ends in ".py"

        Raises:
            ValueError: path must end in ".py"; functions, classes and constants must be those of
                the package, or importable; gradients must not be those of an autodiff.Function

        Example:
            >>> import os
            >>> import tempfile
            >>> import tessera.functional as F
            >>> import tessera.module as M
            >>> import tessera.traced_module as tm
            >>> class Net(M.Module):
            ...     def __init__(self):
            ...         super().__init__()
            ...         self.linear = M.Linear(3, 2)
            ...     def forward(self, x):
            ...         return F.relu(self.linear(x)) * 2
            >>> net = tm.trace_module(Net(), F.zeros((1, 3)))
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     net.to_python(os.path.join(folder, "net.py"))
            ...     with open(os.path.join(folder, "net.py")) as file:
            ...         text = file.read().partition("def forward")[2]
            >>> print(text.partition("def load")[0].rstrip())
            (self, x):
                    linear_out = self.linear(x)
                    relu_out = F.relu(linear_out)
                    mul_out = relu_out * 2
                    return mul_out
        """
        from .python_file import write  # few need it

        write(self, path)

    def dump(self, path, **options):
        """Writes the module as a program, which `jit.load` reads; `tess-run` needs no Python.

        Inputs are those that were recorded, with the names, shapes and dtypes of their nodes;
        outputs are the tensors of the result, in order. Tensors are constants of the program; those
        that a call changes are its state, and go on from the values that they have now.

        Args:
            path: of the file, ".tess" by custom, or a binary stream
            options: of `jit.trace.dump`: `dims` frees sizes, as in `dims={"x": {0: Dim("batch")}}`,
                `training=True` allows statistics that move, `arg_names` and `output_names` name
                inputs and outputs

        Returns:
            a DumpInfo: counts, bytes, hash, names

        Raises:
            ValueError: the shapes of inputs must be known, and a size that the program fixes must
                not be free
            NotImplementedError: attributes of modules must not be set to other tensors

        Example:
            >>> import os
            >>> import tempfile
            >>> import tessera.functional as F
            >>> import tessera.module as M
            >>> import tessera.traced_module as tm
            >>> from tessera import jit
            >>> net = tm.trace_module(M.Sequential(M.Linear(3, 2), M.ReLU()), F.zeros((1, 3)))
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     file = os.path.join(folder, "net.tess")
            ...     _ = net.dump(file, dims={"inp": {0: jit.Dim("batch", 1, 64)}})
            ...     program = jit.load(file)
            >>> list(program.inputs), program(F.ones((5, 3))).shape
            (['inp'], (5, 2))
        """
        from .dumping import dump  # few need it

        return dump(self, path, options)

    def _repr_html_(self):
        from ..utils.html import of_graph, of_module  # for notebooks only

        return of_graph(self.graphs[0]) if self.graphs else of_module(self)
