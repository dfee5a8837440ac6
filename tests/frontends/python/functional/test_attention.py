"""Attention: masks and what they leave, dtypes, derivatives, heads; beside NumPy in float64."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import module as M  # noqa: N812
from tessera.autodiff import GradManager

from tests.records.oracles import oracle
from tests.support.helper import assert_close, floats

LIMITS = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 2e-5, "float64": 1e-10}
attention = F.nn.scaled_dot_product_attention


def operands(*leading, dtype="float32"):
    """Queries, keys and values: L 4, S 5, E 3, V 2."""
    shapes = (*leading, 4, 3), (*leading, 5, 3), (*leading, 5, 2)
    return [
        tessera.Tensor(floats(*shape, seed=seed), dtype=dtype) for seed, shape in enumerate(shapes)
    ]


def expected(tensors, mask=None, is_causal=False, scale=None):
    wide = [np.asarray(each.astype("float32").numpy(), np.float64) for each in tensors]
    return oracle.attention(*wide, mask, is_causal, scale)


def random_mask(*shape, seed=0):
    return np.random.RandomState(seed).rand(*shape) < 0.6


@pytest.mark.parametrize("dtype", LIMITS)
@pytest.mark.parametrize("masked", [False, True])
def test_every_dtype(dtype, masked):
    tensors = operands(2, 3, dtype=dtype)
    mask = random_mask(2, 1, 4, 5) if masked else None
    out = attention(*tensors, None if mask is None else tessera.Tensor(mask), is_causal=masked)
    want, _ = expected(tensors, mask, masked)
    assert out.dtype == dtype and out.shape == want.shape
    assert_close(out.astype("float64"), want, rtol=LIMITS[dtype], atol=LIMITS[dtype])


@pytest.mark.parametrize("shape", [(), (5,), (4, 1), (3, 1, 5), (2, 1, 1, 5), (2, 3, 4, 5)])
def test_masks_broadcast(shape):
    tensors, mask = operands(2, 3), np.asarray(random_mask(*shape, seed=4))
    assert_close(attention(*tensors, tessera.Tensor(mask)), expected(tensors, mask)[0], rtol=1e-5)
    added = np.where(mask, 0.5, -1.5).astype(np.float32)
    assert_close(attention(*tensors, tessera.Tensor(added)), expected(tensors, added)[0], rtol=1e-5)


@pytest.mark.parametrize("lengths", [(4, 5), (5, 2), (1, 3)])
def test_causal_is_aligned_at_the_first_query_and_key(lengths):
    rows, columns = lengths
    query, key, value = (tessera.Tensor(floats(n, 3, seed=n)) for n in (rows, columns, columns))
    mask = np.tri(rows, columns, dtype=bool)
    want = attention(query, key, value, tessera.Tensor(mask))
    assert attention(query, key, value, is_causal=True).tolist() == want.tolist()


@pytest.mark.parametrize("as_floats", [False, True])
def test_a_query_without_keys_gets_zeros_and_no_gradient(as_floats):
    tensors, mask = operands(), np.ones((4, 5), bool)
    mask[1] = mask[3, 2:] = False
    given = np.where(mask, 0, -np.inf).astype(np.float32) if as_floats else mask
    with GradManager().attach(tensors) as manager:
        out = attention(*tensors, tessera.Tensor(given))
        manager.backward((out * out).sum())
    assert out[1].tolist() == [0, 0] and (out[3] != 0).numpy().all()
    assert_close(out, expected(tensors, mask)[0], rtol=1e-5)
    grads = [each.grad.numpy() for each in tensors]
    assert grads[0][1].tolist() == [0, 0, 0] and all(np.isfinite(grad).all() for grad in grads)


def test_no_keys_at_all():
    query, key, value = (tessera.Tensor(np.ones(s, np.float32)) for s in ((4, 3), (0, 3), (0, 2)))
    assert attention(query, key, value).tolist() == [[0, 0]] * 4


def test_large_scores_do_not_overflow():
    query = tessera.Tensor(np.full((2, 4), 120.0), dtype="float16")
    assert attention(query, query, query).tolist() == [[120.0] * 4] * 2
    out = attention(*(tessera.Tensor(np.full((2, 4), 1e18, np.float32)),) * 2, tessera.Tensor(
        np.array([[1.0], [3.0]], np.float32)))  # fmt: skip
    assert out.tolist() == [[2.0], [2.0]]


def test_the_mask_has_a_gradient_where_it_is_of_floats():
    tensors = [each.astype("float64") for each in operands(2)]
    mask = tessera.Tensor(floats(4, 5, seed=9), dtype="float64")
    with GradManager().attach([mask]) as manager:
        manager.backward((attention(*tensors, mask) ** 2).sum())
    step = 1e-6
    for index in np.ndindex(4, 5):
        moved = [mask.numpy().copy() for _ in range(2)]
        moved[0][index] += step
        moved[1][index] -= step
        above, below = ((expected(tensors, each)[0] ** 2).sum() for each in moved)
        assert abs(mask.grad.numpy()[index] - (above - below) / (2 * step)) < 1e-6


def test_dropout_of_weights():
    query, key = tessera.Tensor(np.zeros((64, 3), np.float32)), tessera.functional.zeros((64, 3))
    out = attention(query, key, tessera.Tensor(np.eye(64, dtype=np.float32)), dropout_p=0.25)
    values = np.unique(out.numpy())
    assert_close(values, [0, 1 / 48], rtol=1e-6)
    assert 0.6 < (out.numpy() > 0).mean() < 0.9


def test_sizes_compile_once():
    def call(n, masked):
        shapes = (2, n, n + 1), (2, n + 2, n + 1), (2, n + 2, n + 3)
        inputs = [tessera.Tensor(floats(*shape)) for shape in shapes]
        mask = tessera.Tensor(random_mask(n, n + 2)) if masked else None
        return attention(*inputs, mask, is_causal=masked).numpy()

    for masked in (False, True):
        call(2, masked)
        before = tessera.cache_stats()["misses"]
        assert len({call(n, masked).shape for n in range(3, 9)}) == 6
        assert tessera.cache_stats()["misses"] == before


REFUSED = [
    (((4, 3), (5, 2), (5, 2)), "dimension E must match, got query .* and key "),
    (((4, 3), (5, 3), (6, 2)), "dimension S must match, got key .* and value "),
    (((4, 3), (5, 3), (5, 2), (4, 4)), "attn_mask must broadcast to the weights, got attn_mask "),
    (((3,), (5, 3), (5, 2)), "query must have rank >= 2, got query "),
]


@pytest.mark.parametrize(("shapes", "text"), REFUSED)
def test_refusals(shapes, text):
    with pytest.raises(ValueError, match="attention: " + text):
        attention(*(tessera.Tensor(np.ones(shape, np.float32)) for shape in shapes))


def test_a_mask_of_integers_is_refused():
    mask = tessera.Tensor(np.ones((4, 5), np.int32))
    text = "attention: attn_mask must be a float or bool, got i32"
    with pytest.raises(TypeError, match=text):
        attention(*operands(), mask)


# Heads.


def heads_oracle(net, query, key, value, mask=None, is_causal=False):
    """Section 3.2.2 of the paper, a head at a time."""
    layers = [net.q_proj, net.k_proj, net.v_proj]
    q, k, v = (
        np.asarray(x, np.float64) @ layer.weight.numpy().T + layer.bias.numpy()
        for x, layer in zip((query, key, value), layers, strict=True)
    )
    size = net.embed_dim // net.num_heads
    parts = [slice(i * size, (i + 1) * size) for i in range(net.num_heads)]
    heads = [
        oracle.attention(q[..., p], k[..., p], v[..., p], mask, is_causal, None) for p in parts
    ]
    out = np.concatenate([out for out, _ in heads], -1)
    weights = np.stack([weights for _, weights in heads], -3)
    return out @ net.out_proj.weight.numpy().T + net.out_proj.bias.numpy(), weights


def module(**options):
    tessera.seed(5)
    net = M.MultiHeadAttention(6, 2, kdim=4, vdim=5, **options)
    for layer in (net.q_proj, net.k_proj, net.v_proj, net.out_proj):
        layer.bias.set_value(floats(6, seed=7))
    return net


def inputs(*leading):
    return [floats(*leading, *shape, seed=i) for i, shape in enumerate([(3, 6), (7, 4), (7, 5)])]


@pytest.mark.parametrize("leading", [(), (2,)])
@pytest.mark.parametrize("is_causal", [False, True])
def test_cross_attention(leading, is_causal):
    net, arrays = module(), inputs(*leading)
    tensors = [tessera.Tensor(each) for each in arrays]
    out, weights = net(*tensors, need_weights=True, is_causal=is_causal)
    want, want_weights = heads_oracle(net, *arrays, is_causal=is_causal)
    assert_close(out, want, rtol=1e-4, atol=1e-5)
    assert_close(weights, want_weights, rtol=1e-4, atol=1e-6)
    _, mean = net(*tensors, need_weights=True, average_attn_weights=True, is_causal=is_causal)
    assert_close(mean, want_weights.mean(-3), rtol=1e-4, atol=1e-6)
    assert net(*tensors)[1] is None


@pytest.mark.parametrize("padding_as_floats", [False, True])
def test_masks_of_heads_say_what_is_left_out(padding_as_floats):
    net, arrays = module(), inputs(2)
    left_out, padding = random_mask(3, 7, seed=1), np.zeros((2, 7), bool)
    left_out[:, 0] = False
    padding[1, 4:] = True
    given = np.where(padding, -np.inf, 0).astype(np.float32) if padding_as_floats else padding
    out, _ = net(*map(tessera.Tensor, arrays), tessera.Tensor(given), tessera.Tensor(left_out))
    want, _ = heads_oracle(net, *arrays, ~(left_out | padding[:, None]))
    assert_close(out, want, rtol=1e-4, atol=1e-5)


def test_a_mask_for_each_head():
    net, arrays = module(), inputs(2)
    mask = random_mask(4, 3, 7, seed=2)
    mask[..., 0] = False
    tensors = map(tessera.Tensor, arrays)
    _, weights = net(*tensors, attn_mask=tessera.Tensor(mask), need_weights=True)
    assert ((weights.numpy() == 0) == mask.reshape(2, 2, 3, 7)).all()


def test_self_attention_learns_and_is_saved():
    x = tessera.Tensor(floats(2, 3, 4))
    net, other = M.MultiHeadAttention(4, 2), M.MultiHeadAttention(4, 2)
    with GradManager().attach(net.parameters()) as manager:
        manager.backward((net(x, x, x)[0] ** 2).sum())
    assert len(list(net.parameters())) == 8
    assert all(each.grad is not None for each in net.parameters())
    other.load_state_dict(net.state_dict())
    assert other(x, x, x)[0].tolist() == net(x, x, x)[0].tolist()
    assert "embed_dim=4, num_heads=2" in repr(net)


def test_dropout_of_heads_is_for_training():
    net, tensors = module(attn_dropout=0.5, out_dropout=0.5), [*map(tessera.Tensor, inputs(2))]
    out = net(*tensors)[0].numpy()
    assert 0.2 < (out == 0).mean() < 0.8
    assert_close(net.eval()(*tensors)[0], heads_oracle(net, *inputs(2))[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("num_heads", [0, 4])
def test_heads_divide_the_size(num_heads):
    with pytest.raises(ValueError, match="num_heads must divide embed_dim 6, got"):
        M.MultiHeadAttention(6, num_heads)


@pytest.mark.parametrize("bias", [True, False])
def test_megengines_weights_are_converted(bias):
    """`io_weight_bias`: the projections as (in, out) matrices one after the other, then biases."""
    embed, kdim, vdim = 6, 4, 5
    net = M.Sequential(M.MultiHeadAttention(embed, 2, bias=bias, kdim=kdim, vdim=vdim))
    matrices = [floats(n, embed, seed=n) for n in (embed, kdim, vdim, embed)]
    vectors = [floats(embed, seed=i) for i in range(4 * bias)]
    joined = np.concatenate([each.ravel() for each in (*matrices, *vectors)]).reshape(1, -1)
    state = {"0.io_weight_bias": joined}
    assert net.load_state_dict(state) == [] and list(state) == ["0.io_weight_bias"]
    names = ["q_proj", "k_proj", "v_proj", "out_proj"]
    for number, name in enumerate(names):
        layer = getattr(net[0], name)
        assert np.array_equal(layer.weight.numpy(), matrices[number].T)
        assert not bias or np.array_equal(layer.bias.numpy(), vectors[number])
    net.load_state_dict(net.state_dict())
    with pytest.raises(ValueError, match=r"0.io_weight_bias must have \d+ elements, got 3"):
        net.load_state_dict({"0.io_weight_bias": joined[0, :3]})
