"""Layers of transformers."""

from .. import functional as F  # noqa: N812
from ..functional.generated import check_choice
from .attention import MultiHeadAttention
from .elemwise import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm


class TransformerEncoderLayer(Module):
    """Attention of a sequence to itself, then two linear layers for each position.

        x = norm1(x + attention(x));  x = norm2(x + linear2(activation(linear1(x))))

    A. Vaswani et al.: Attention Is All You Need, NeurIPS 2017, section 3.1. With `norm_first` the
    norms are of what goes into each part: x + attention(norm1(x)), x + linear2(...(norm2(x))).
    Called with float[N, L, d_model] and optional masks, those of MultiHeadAttention; gives
    float[N, L, d_model].

    ValueError: nhead must divide d_model; activation must be "relu" or "gelu"; shapes must fit.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> M.TransformerEncoderLayer(8, 2, dim_feedforward=16)(F.ones((3, 5, 8))).shape
    (3, 5, 8)
    """

    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation="relu",
                 layer_norm_eps=1e-5, norm_first=False, bias=True, **kwargs):  # fmt: skip
        super().__init__(**kwargs)
        check_choice(type(self).__name__, "activation", activation, ("relu", "gelu"))
        self.activation, self.norm_first = activation, norm_first
        self.self_attn = MultiHeadAttention(d_model, nhead, dropout, bias=bias)
        self.linear1 = Linear(d_model, dim_feedforward, bias)
        self.linear2 = Linear(dim_feedforward, d_model, bias)
        self.norm1 = LayerNorm(d_model, layer_norm_eps)
        self.norm2 = LayerNorm(d_model, layer_norm_eps)
        self.dropout, self.dropout1 = Dropout(dropout), Dropout(dropout)
        self.dropout2 = Dropout(dropout)

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        """See the class."""
        attended = self.norm1(src) if self.norm_first else src
        attended = self._attend(attended, src_key_padding_mask, src_mask, is_causal)
        if self.norm_first:
            x = src + attended
            return x + self._feed_forward(self.norm2(x))
        x = self.norm1(src + attended)
        return self.norm2(x + self._feed_forward(x))

    def _attend(self, x, key_padding_mask, attn_mask, is_causal):
        out, _ = self.self_attn(x, x, x, key_padding_mask, attn_mask, is_causal=is_causal)
        return self.dropout1(out)

    def _feed_forward(self, x):
        hidden = self.linear1(x)
        hidden = F.relu(hidden) if self.activation == "relu" else F.gelu(hidden)
        return self.dropout2(self.linear2(self.dropout(hidden)))


class TransformerDecoderLayer(Module):
    """Attention of a sequence to itself, then to `memory`, then two linear layers for each
    position.

        x = norm1(x + self_attn(x));  x = norm2(x + multihead_attn(x, memory))
        x = norm3(x + linear2(activation(linear1(x))))

    A. Vaswani et al.: Attention Is All You Need, NeurIPS 2017, section 3.1. With `norm_first` the
    norms are of what goes into each part, as in TransformerEncoderLayer. Called with
    float[N, L, d_model], memory float[N, S, d_model] and optional masks, those of
    MultiHeadAttention; gives float[N, L, d_model].

    ValueError: nhead must divide d_model; activation must be "relu" or "gelu"; shapes must fit.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> layer = M.TransformerDecoderLayer(8, 2, dim_feedforward=16)
    >>> layer(F.ones((3, 5, 8)), F.ones((3, 7, 8)), tgt_is_causal=True).shape
    (3, 5, 8)
    """

    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation="relu",
                 layer_norm_eps=1e-5, norm_first=False, bias=True, **kwargs):  # fmt: skip
        super().__init__(**kwargs)
        check_choice(type(self).__name__, "activation", activation, ("relu", "gelu"))
        self.activation, self.norm_first = activation, norm_first
        self.self_attn = MultiHeadAttention(d_model, nhead, dropout, bias=bias)
        self.multihead_attn = MultiHeadAttention(d_model, nhead, dropout, bias=bias)
        self.linear1 = Linear(d_model, dim_feedforward, bias)
        self.linear2 = Linear(dim_feedforward, d_model, bias)
        self.norm1 = LayerNorm(d_model, layer_norm_eps)
        self.norm2 = LayerNorm(d_model, layer_norm_eps)
        self.norm3 = LayerNorm(d_model, layer_norm_eps)
        self.dropout, self.dropout1 = Dropout(dropout), Dropout(dropout)
        self.dropout2, self.dropout3 = Dropout(dropout), Dropout(dropout)

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None,
                memory_key_padding_mask=None, tgt_is_causal=False,
                memory_is_causal=False):  # fmt: skip
        """See the class."""
        if self.norm_first:
            own = self.norm1(tgt)
            x = tgt + self._attend(own, tgt_key_padding_mask, tgt_mask, tgt_is_causal)
            other = self._look(self.norm2(x), memory, memory_key_padding_mask, memory_mask,
                               memory_is_causal)  # fmt: skip
            x = x + other
            return x + self._feed_forward(self.norm3(x))
        x = self.norm1(tgt + self._attend(tgt, tgt_key_padding_mask, tgt_mask, tgt_is_causal))
        other = self._look(x, memory, memory_key_padding_mask, memory_mask, memory_is_causal)
        x = self.norm2(x + other)
        return self.norm3(x + self._feed_forward(x))

    def _attend(self, x, key_padding_mask, attn_mask, is_causal):
        out, _ = self.self_attn(x, x, x, key_padding_mask, attn_mask, is_causal=is_causal)
        return self.dropout1(out)

    def _look(self, x, memory, key_padding_mask, attn_mask, is_causal):
        out, _ = self.multihead_attn(
            x, memory, memory, key_padding_mask, attn_mask, is_causal=is_causal
        )
        return self.dropout2(out)

    def _feed_forward(self, x):
        hidden = self.linear1(x)
        hidden = F.relu(hidden) if self.activation == "relu" else F.gelu(hidden)
        return self.dropout3(self.linear2(self.dropout(hidden)))
