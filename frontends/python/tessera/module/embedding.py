"""Embedding."""

import numpy as np

from .. import functional as F  # noqa: N812
from ..functional._states import padding_row
from ..functional.generated import check_none
from ..tensor import Parameter
from . import init
from .module import Module


def without_row(weight, row):
    """The table with zeros in one row."""
    is_other = F.expand_dims(F.arange(weight.shape[0], dtype="int32") != row, 1)
    return F.where(is_other, weight.detach(), F.zeros_like(weight))


class Embedding(Module):
    """A table of `num_embeddings` rows of `embedding_dim` numbers, read by index.

    Called with int[*D] it gives float32[*D, embedding_dim]. With `freeze` the table gets no
    gradient. The row `padding_idx` gets none either, and is 0 unless there is an initial_weight.

    Raises:
        ValueError: initial_weight must have the shape of the table; padding_idx must be one of its
            rows; max_norm and norm_type must be None: no row is scaled
        TypeError: padding_idx must be an int or None

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> table = M.Embedding(2, 3, initial_weight=ts.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    >>> table(ts.tensor([1])).tolist()
    [[4.0, 5.0, 6.0]]
    """

    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None,
                 norm_type=None, initial_weight=None, freeze=False, **kwargs):  # fmt: skip
        super().__init__(**kwargs)
        check_none("Embedding", max_norm=max_norm, norm_type=norm_type)
        self.num_embeddings, self.embedding_dim, self.freeze = num_embeddings, embedding_dim, freeze
        self.padding_idx = padding_idx
        if padding_idx is not None:
            self.padding_idx = padding_row("Embedding", padding_idx, num_embeddings)
        shape = (num_embeddings, embedding_dim)
        if initial_weight is not None and tuple(initial_weight.shape) != shape:
            raise ValueError(
                f"Embedding: initial_weight must have shape {shape}, "
                f"got {tuple(initial_weight.shape)}"
            )
        self.initial_weight = initial_weight
        self.weight = Parameter(np.empty(shape, dtype=np.float32))
        self.reset_parameters()

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, padding_idx=None, max_norm=None,
                        norm_type=None):  # fmt: skip
        """The table `embeddings`, float[num_embeddings, embedding_dim].

        ValueError: embeddings must have 2 axes; padding_idx must be a row; max_norm and norm_type
        must be None.

        >>> import tessera as ts
        >>> import tessera.module as M
        >>> M.Embedding.from_pretrained(ts.tensor([[1.0, 2.0]]))(ts.tensor([0])).tolist()
        [[1.0, 2.0]]
        """
        if len(embeddings.shape) != 2:
            shape = tuple(embeddings.shape)
            raise ValueError(f"Embedding: embeddings must have 2 axes, got shape {shape}")
        return cls(*embeddings.shape, padding_idx, max_norm, norm_type, embeddings, freeze)

    def reset_parameters(self):
        """Normal weights, or the initial ones."""
        if self.initial_weight is None:
            init.normal_(self.weight)
            if self.padding_idx is not None:
                self.weight._reset(without_row(self.weight, self.padding_idx))
        else:
            self.weight.set_value(self.initial_weight)

    def forward(self, inputs):
        """See the class."""
        weight = self.weight.detach() if self.freeze else self.weight
        return F.embedding(inputs, weight, self.padding_idx)

    def _module_info_string(self):
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"

    def __setstate__(self, state):
        vars(self).update({"padding_idx": None}, **state)  # older pickles have none
