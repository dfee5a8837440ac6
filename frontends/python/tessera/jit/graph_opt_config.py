"""Which operators of a program may share a kernel."""


class GraphOptimizationConfig:
    """MegEngine's switches for fusion, for `trace(graph_opt_config=...)`: False is off, True on,
    and None, the default, leaves it to the compiler, which fuses.

    `jit_fuse_dimshuffle` is about permuted axes and `jit_fuse_reduce` about reductions. Here both
    are fused by the one pass that fuses everything: where either is off, each operator has a kernel
    of its own. Results are the same, bit for bit.

    ValueError: a switch must be True, False or None.

    >>> from tessera.jit import GraphOptimizationConfig
    >>> config = GraphOptimizationConfig()
    >>> config.jit_fuse_reduce = False
    >>> config
    GraphOptimizationConfig { jit_fuse_dimshuffle = UNSET, jit_fuse_reduce = OFF }
    """

    __slots__ = ("jit_fuse_dimshuffle", "jit_fuse_reduce")

    def __init__(self):
        self.jit_fuse_dimshuffle = self.jit_fuse_reduce = None

    def __setattr__(self, name, value):
        if value not in (None, True, False):
            raise ValueError(
                f"GraphOptimizationConfig: {name} must be True, False or None, got {value!r}"
            )
        object.__setattr__(self, name, value)

    @property
    def fuses(self):
        """No switch is off."""
        return False not in (self.jit_fuse_dimshuffle, self.jit_fuse_reduce)

    def __repr__(self):
        words = {None: "UNSET", False: "OFF", True: "ON"}
        rows = ", ".join(f"{name} = {words[getattr(self, name)]}" for name in self.__slots__)
        return f"GraphOptimizationConfig {{ {rows} }}"
