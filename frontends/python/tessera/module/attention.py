"""MultiHeadAttention."""

import numpy as np

from .. import functional as F  # noqa: N812
from . import init
from .linear import Linear
from .module import Module

_PROJECTIONS = ("q_proj", "k_proj", "v_proj", "out_proj")


class MultiHeadAttention(Module):
    """Attention of `num_heads` heads between linear layers, on sequences [N, L, embed_dim].

    A. Vaswani et al.: Attention Is All You Need, NeurIPS 2017, section 3.2.2. Called with query,
    key and value; the result is (output, weights), the weights None without `need_weights`. Masks
    of bool are True where a key is left out: see functional.nn.multi_head_attention.

    load_state_dict takes MegEngine's one parameter `io_weight_bias` too.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> attention = M.MultiHeadAttention(8, 2, kdim=4, vdim=6)
    >>> out, _ = attention(F.ones((3, 5, 8)), F.ones((3, 7, 4)), F.ones((3, 7, 6)))
    >>> out.shape
    (3, 5, 8)
    """

    def __init__(self, embed_dim, num_heads, attn_dropout=0.0, out_dropout=0.0, bias=True,
                 add_bias_kv=False, add_zero_attn=False, kdim=None, vdim=None,
                 **kwargs):  # fmt: skip
        super().__init__(**kwargs)
        if add_bias_kv or add_zero_attn:
            raise ValueError(
                f"MultiHeadAttention: add_bias_kv and add_zero_attn must be False, got "
                f"{add_bias_kv} and {add_zero_attn}"
            )
        if num_heads <= 0 or embed_dim % num_heads:
            raise ValueError(
                f"MultiHeadAttention: num_heads must divide embed_dim {embed_dim}, got {num_heads}"
            )
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.attn_dropout, self.out_dropout = attn_dropout, out_dropout
        self.q_proj = Linear(embed_dim, embed_dim, bias)
        self.k_proj = Linear(kdim or embed_dim, embed_dim, bias)
        self.v_proj = Linear(vdim or embed_dim, embed_dim, bias)
        self.out_proj = Linear(embed_dim, embed_dim, bias)
        self.reset_parameters()

    def reset_parameters(self):
        """Uniform weights (Glorot and Bengio 2010), no biases."""
        for layer in (self.q_proj, self.k_proj, self.v_proj, self.out_proj):
            init.xavier_uniform_(layer.weight)
            if layer.bias is not None:
                init.zeros_(layer.bias)

    def _convert_state(self, values, prefix):
        """MegEngine's `io_weight_bias` is the weights of the projections, transposed, then their
        biases.
        """
        name = f"{prefix}io_weight_bias"
        if values.get(name) is None:
            return
        layers = {each: getattr(self, each) for each in _PROJECTIONS}
        parts = {f"{each}.weight": layer.weight for each, layer in layers.items()}
        parts |= {f"{k}.bias": v.bias for k, v in layers.items() if v.bias is not None}
        flat, count = np.ravel(values[name]), sum(part.size for part in parts.values())
        if flat.size != count:
            raise ValueError(f"load_state_dict: {name} must have {count} elements, got {flat.size}")
        del values[name]
        ends = np.cumsum([part.size for part in parts.values()])
        for (each, part), piece in zip(parts.items(), np.split(flat, ends[:-1]), strict=True):
            values[prefix + each] = piece.reshape(part.shape[::-1]).T

    def forward(self, query, key, value, key_padding_mask=None, attn_mask=None, need_weights=False,
                average_attn_weights=False, is_causal=False,
                maybe_cudnn_style_mask=False):  # fmt: skip
        """See the class."""
        if maybe_cudnn_style_mask:
            raise ValueError("MultiHeadAttention: maybe_cudnn_style_mask must be False, got True")
        return F.nn.multi_head_attention(
            query, key, value, self.num_heads, self.q_proj.weight, self.k_proj.weight,
            self.v_proj.weight, self.out_proj.weight, self.q_proj.bias, self.k_proj.bias,
            self.v_proj.bias, self.out_proj.bias, key_padding_mask=key_padding_mask,
            attn_mask=attn_mask, attn_dropout=self.attn_dropout, out_dropout=self.out_dropout,
            training=self.training, need_weights=need_weights,
            average_attn_weights=average_attn_weights, is_causal=is_causal,
        )  # fmt: skip

    def _module_info_string(self):
        return f"embed_dim={self.embed_dim}, num_heads={self.num_heads}"
