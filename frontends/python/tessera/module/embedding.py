"""Embedding."""

import numpy as np

from .. import functional as F  # noqa: N812
from ..tensor import Parameter
from . import init
from .module import Module


class Embedding(Module):
    """A table of `num_embeddings` rows of `embedding_dim` numbers, read by index."""

    def __init__(self, num_embeddings, embedding_dim, initial_weight=None, freeze=False, **kwargs):
        super().__init__(**kwargs)
        self.num_embeddings, self.embedding_dim, self.freeze = num_embeddings, embedding_dim, freeze
        shape = (num_embeddings, embedding_dim)
        if initial_weight is not None and tuple(initial_weight.shape) != shape:
            raise ValueError(
                f"Embedding: initial_weight must have shape {shape}, "
                f"got {tuple(initial_weight.shape)}"
            )
        self.initial_weight = initial_weight
        self.weight = Parameter(np.empty(shape, dtype=np.float32))
        self.reset_parameters()

    def reset_parameters(self):
        """Normal weights, or the initial ones."""
        if self.initial_weight is None:
            init.normal_(self.weight)
        else:
            self.weight.set_value(self.initial_weight)

    def forward(self, inputs):
        """See the class."""
        weight = self.weight.detach() if self.freeze else self.weight
        return F.embedding(inputs, weight)

    def _module_info_string(self):
        return f"{self.num_embeddings}, {self.embedding_dim}"
