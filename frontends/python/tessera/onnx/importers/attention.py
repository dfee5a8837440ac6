"""Attention, rotary positions, linear attention."""

import math

from ... import functional as _functional
from ..._core import ops as _ops
from ..registry import importer
from ..values import dtype_of
from .elementwise import cast


def heads_of(x, count):
    """[B, H, T, D] of [B, T, H * D]."""
    split = _ops.reshape(x, (x.shape[0], x.shape[1], count, x.shape[2] // count))
    return _ops.transpose(split, [0, 2, 1, 3])


def joined(x):
    """[B, T, H * D] of [B, H, T, D]."""
    moved = _ops.transpose(x, [0, 2, 1, 3])
    return _ops.reshape(moved, (moved.shape[0], moved.shape[1], moved.shape[2] * moved.shape[3]))


@importer("Attention")
def _attention(node, query, key, value, mask=None, past_key=None, past_value=None, lengths=None):
    """A. Vaswani et al., Attention Is All You Need, NeurIPS 2017, with a cache, fewer heads of keys
    than of queries, and limits on scores: (Y, present key, present value, scores).
    """
    flat = query.ndim == 3
    if flat:
        query = heads_of(query, node["q_num_heads"])
        key, value = (heads_of(each, node["kv_num_heads"]) for each in (key, value))
    if past_key is not None:
        key = _ops.concat([past_key, key], 2)
        value = _ops.concat([past_value, value], 2)
    present = key, value
    repeats = query.shape[1] // key.shape[1]
    if repeats != 1:
        key, value = _ops.repeat(key, repeats, 1), _ops.repeat(value, repeats, 1)
    before = _offset(query, past_key, lengths)
    if _is_plain(node):
        bias = _bias(node, query, key, mask, before, lengths)
        out = _ops.attention(query, key, value, bias, False, node["scale"])[0]
        return joined(out) if flat else out, *present
    bias = _bias(node, query, key, mask, before, lengths)
    scale = math.sqrt(1 / math.sqrt(query.shape[-1]) if node["scale"] is None else node["scale"])
    scores = _ops.matmul(query * scale, key * scale, False, True)
    weights, shown = _weights(node, scores, bias, query.dtype.name)
    out = _ops.matmul(weights, value)
    return joined(out) if flat else out, *present, cast(shown, query.dtype.name)


def _is_plain(node):
    """Whether the record says the same: no limits on scores, which nobody looks at."""
    is_shown = len(node.outputs) > 3 and node.outputs[3]
    return not is_shown and not node["softcap"] and node["softmax_precision"] is None


def _offset(query, past_key, lengths):
    """How many keys come before the first query: a number, or int64[B, 1, 1, 1]."""
    if past_key is not None:
        return past_key.shape[2]
    if lengths is None:
        return 0
    return _ops.reshape(cast(lengths, "int64"), (-1, 1, 1, 1)) - query.shape[2]


def _bias(node, query, key, mask, before, lengths):
    """What is added to the scores, or None; -inf where a query does not see a key."""
    allowed = _allowed(node, query.shape[2], key.shape[2], before, lengths)
    dtype = query.dtype.name
    hidden = _ops.full([], -math.inf, dtype)
    if mask is not None:
        mask = _widened(mask, key.shape[2])
        if mask.dtype.name == "bool":
            mask = _ops.where(mask, _ops.full([], 0, dtype), hidden)
    if allowed is None:
        return mask
    return _ops.where(allowed, _ops.full([], 0, dtype) if mask is None else mask, hidden)


def _widened(mask, size):
    """A mask of fewer keys hides the others."""
    missing = size - mask.shape[-1]
    if missing <= 0:
        return mask
    low, high = [0] * mask.ndim, [0] * (mask.ndim - 1) + [missing]
    if mask.dtype.name == "bool":
        return cast(_ops.pad(cast(mask, "uint8"), low, high, 0.0), "bool")
    return _ops.pad(mask, low, high, -math.inf)


def _allowed(node, queries, keys, before, lengths):
    """bool[..., L, S]: whether a query may see a key; None: it always may."""
    places = _ops.reshape(_ops.arange(keys, 0, 1, "int64"), (1, keys))
    own = _ops.reshape(_ops.arange(queries, 0, 1, "int64"), (queries, 1)) + before
    left, right = node["left_window_size"], node["right_window_size"]
    conditions = [places <= own] if node["is_causal"] else []
    if left is not None and left >= 0:
        conditions.append(own - places <= left)
    if right is not None and right >= 0:
        conditions.append(places - own <= right)
    if lengths is not None:
        conditions.append(places < _ops.reshape(cast(lengths, "int64"), (-1, 1, 1, 1)))
    found = None
    for each in conditions:
        found = each if found is None else _ops.logical_and(found, each)
    return found


def _weights(node, scores, bias, dtype):
    """(the weights, what the fourth output shows)."""
    shown, mode = scores, node["qk_matmul_output_mode"]
    if node["softcap"]:
        scores = _ops.tanh(scores / node["softcap"]) * node["softcap"]
        shown = scores if mode == 1 else shown
    if bias is not None:
        scores = scores + bias
    if mode == 2 or (mode == 1 and node.version < 25 and not node["softcap"]):
        shown = scores if mode == 2 else shown
    precision = node["softmax_precision"]
    wide = scores if precision is None else cast(scores, dtype_of(precision, str(node)))
    weights = _ops.softmax(wide, -1)
    if bias is not None:  # a query that sees no key has weights of 0
        blind = _ops.equal(_ops.max(bias, [-1], True), -math.inf)
        weights = _ops.where(blind, _ops.zeros_like(weights), weights)
    return cast(weights, dtype), weights if mode == 3 else shown


@importer("RotaryEmbedding")
def _rotary_embedding(node, x, cos, sin, positions=None):
    """J. Su et al., RoFormer, arXiv:2104.09864."""
    flat = x.ndim == 3
    whole = heads_of(x, node["num_heads"]) if flat else x
    size = node["rotary_embedding_dim"] or whole.shape[-1]
    turned, rest = whole[..., :size], whole[..., size:]
    if positions is not None:
        cos, sin = (_ops.index_get(each, [positions], [0]) for each in (cos, sin))
    cos, sin = _ops.expand_dims(cos, [1]), _ops.expand_dims(sin, [1])
    if node["interleaved"]:
        a, b = turned[..., 0::2], turned[..., 1::2]
    else:
        a, b = turned[..., : size // 2], turned[..., size // 2 :]
    real, imaginary = cos * a - sin * b, sin * a + cos * b
    if node["interleaved"]:
        turned = _ops.reshape(_ops.stack([real, imaginary], -1), list(turned.shape))
    else:
        turned = _ops.concat([real, imaginary], -1)
    out = _ops.concat([turned, rest], -1) if size != whole.shape[-1] else turned
    return joined(out) if flat else out


@importer("SwiGLU")
def _swiglu(node, a, b):
    alpha = 1.0 if node["alpha"] is None else node["alpha"]
    return a * _ops.sigmoid(alpha * a) * b


@importer("CausalConvWithState")
def _causal_conv(node, x, weight, bias=None, past=None):
    """Of each channel by itself, over what came before: (output, the state for the next call)."""
    width = weight.shape[2] - 1
    if past is None:
        past = _ops.full([x.shape[0], x.shape[1], width], 0, x.dtype.name)
    whole = _ops.concat([past, x], 2)
    out = _ops.conv1d(whole, weight, [1], [0], [1], x.shape[1])
    if bias is not None:
        out = out + _ops.reshape(bias, (1, -1, 1))
    if node["activation"] in ("silu", "swish"):
        out = _ops.silu(out)
    return out, whole[:, :, whole.shape[2] - width :]


@importer("LinearAttention")
def _linear_attention(node, query, key, value, past=None, decay=None, beta=None):
    """A state S for each head, to which each step adds the product of its key and value; the rules
    of S. Yang et al., Gated Delta Networks, arXiv:2412.06464: (output, the last state).
    """
    q_heads, kv_heads = node["q_num_heads"], node["kv_num_heads"]
    dtype, batch = query.dtype.name, query.shape[0]
    d_k, d_v = query.shape[2] // q_heads, value.shape[2] // kv_heads
    scale = node["scale"] or 1 / math.sqrt(d_k)
    wide = [
        None if each is None else cast(each, "float32") for each in (query, key, value, decay, beta)
    ]
    query, key, value, decay, beta = wide
    steps = [heads_of(query, q_heads), heads_of(key, kv_heads), heads_of(value, kv_heads)]
    for gate in (decay, beta):
        if gate is not None:
            steps.append(heads_of(gate, kv_heads if gate.shape[2] % kv_heads == 0 else 1))
    steps = [_ops.transpose(each, [2, 0, 1, 3]) for each in steps]
    state_dtype = dtype if past is None else past.dtype.name
    state = _ops.full([batch, kv_heads, d_k, d_v], 0, "float32")
    state = state if past is None else cast(past, "float32")
    gates = decay is not None, beta is not None

    def _step(state, each):
        state, read = _linear_step(state, each, gates, q_heads // kv_heads)
        return state, read * scale

    state, outputs = _functional.scan(_step, state, steps)
    outputs = joined(_ops.transpose(outputs, [1, 2, 0, 3]))
    return cast(outputs, dtype), cast(state, state_dtype)


def _linear_step(state, each, gates, repeats):
    query, key, value, *rest = each
    if gates[0]:
        state = state * _ops.expand_dims(_ops.exp(rest[0]), [-1])
    column = _ops.expand_dims(key, [-1])
    if gates[1]:
        retrieved = _ops.sum(state * column, [-2])
        value = rest[-1] * (value - retrieved)
    state = state + column * _ops.expand_dims(value, [-2])
    seen = state if repeats == 1 else _ops.repeat(state, repeats, 1)
    return state, _ops.sum(_ops.expand_dims(query, [-1]) * seen, [-2])
