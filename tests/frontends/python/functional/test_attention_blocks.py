"""Attention by blocks of keys beside the products and the softmax that it stands for."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera._core import ops
from tessera.autodiff import GradManager
from tessera.autodiff.modes import recording

from tests.support.helper import assert_close, floats

attention = F.nn.scaled_dot_product_attention
WIDE = {"rtol": 1e-10, "atol": 1e-10}


def operands(queries, keys, depth=5, width=7, leading=(2,), dtype="float64"):
    shapes = [(*leading, queries, depth), (*leading, keys, depth), (*leading, keys, width)]
    return [
        tessera.Tensor(floats(*shape, seed=seed) * 2, dtype=dtype)
        for seed, shape in enumerate(shapes)
    ]


def composed(query, key, value, mask=None, is_causal=False, scale=None):
    return ops.scaled_dot_product_attention(query, key, value, mask, is_causal, scale)[0]


def gradients(function, tensors, *rest):
    """The result and the gradients of a weighted sum of it."""
    with GradManager().attach(tensors) as manager:
        out = function(*tensors, *rest)
        weights = tessera.Tensor(floats(*out.shape, seed=9), dtype=out.dtype)
        manager.backward((out * weights).sum())
    return [out, *(each.grad for each in tensors)]


@pytest.mark.parametrize("queries", [1, 28, 29, 131])
@pytest.mark.parametrize("keys", [1, 255, 256, 257, 600])
@pytest.mark.parametrize("is_causal", [False, True])
def test_sizes_around_blocks(queries, keys, is_causal):
    def run(function, tensors):
        return gradients(lambda *each: function(*each, is_causal=is_causal), tensors)

    tensors = operands(queries, keys, leading=())
    for one, other in zip(run(attention, tensors), run(composed, tensors), strict=True):
        assert_close(one, other.numpy(), **WIDE)


@pytest.mark.parametrize("shapes", [
    ((2, 4, 9, 3), (2, 1, 5, 3), (2, 1, 5, 2)), ((4, 9, 3), (5, 3), (5, 2)),
    ((9, 3), (3, 5, 3), (2, 1, 5, 2)), ((2, 1, 9, 3), (4, 5, 3), (5, 1)), ((0, 3), (5, 3), (5, 2)),
    ((9, 0), (5, 0), (5, 2)), ((9, 3), (5, 3), (5, 0)), ((0, 9, 3), (0, 5, 3), (0, 5, 2)),
    ((9, 3), (0, 3), (0, 2)),
])  # fmt: skip
def test_leading_axes_and_sizes_of_0(shapes):
    tensors = [
        tessera.Tensor(floats(*shape, seed=i), dtype="float64") for i, shape in enumerate(shapes)
    ]
    scale = 0.5 if shapes[0][-1] == 0 else None

    def run(function):
        return gradients(lambda *each: function(*each, scale=scale), tensors)

    for one, other in zip(run(attention), run(composed), strict=True):
        assert one.shape == other.shape
        assert_close(one, other.numpy(), **WIDE)


@pytest.mark.parametrize("shape", [(), (300,), (40, 1), (2, 1, 300), (40, 300)])
@pytest.mark.parametrize("kind", ["bool", "float16", "float32", "float64"])
def test_masks_have_gradients_beside_them(shape, kind):
    tensors, chosen = operands(40, 300), np.asarray(floats(*shape, seed=3) > -0.4)
    mask = chosen if kind == "bool" else np.where(chosen, 0.5, -np.inf).astype(kind)
    tensors_and_mask = [*tensors, tessera.Tensor(mask)]
    got = gradients(lambda *each: attention(*each, tensors_and_mask[3]), tensors)
    wanted = gradients(lambda *each: composed(*each, tensors_and_mask[3]), tensors)
    for one, other in zip(got, wanted, strict=True):
        assert_close(one, other.numpy(), **WIDE)


def test_a_mask_of_floats_has_the_gradient_of_scores():
    tensors = [*operands(30, 270), tessera.Tensor(floats(270, seed=5), dtype="float64")]
    got, wanted = gradients(attention, tensors), gradients(composed, tensors)
    for one, other in zip(got, wanted, strict=True):
        assert_close(one, other.numpy(), **WIDE)


def test_sums_have_gradients():
    tensors = operands(30, 270)

    def sums(query, key, value):
        out, total = ops.attention(query, key, value)
        return F.concat([out, total[..., None]], -1)

    def plain(query, key, value):
        scores = F.matmul(query * 5**-0.5, key, transpose_b=True)
        return F.concat([composed(query, key, value), F.logsumexp(scores, -1, True)], -1)

    for one, other in zip(gradients(sums, tensors), gradients(plain, tensors), strict=True):
        assert_close(one, other.numpy(), **WIDE)


@pytest.mark.parametrize("masked", [False, True])
def test_gradients_of_gradients(masked):
    tensors = operands(9, 20)
    mask = tessera.Tensor(floats(9, 20, seed=4) > -0.3) if masked else None

    def second(function):
        with recording(tensors) as outer:
            with recording(tensors) as inner:
                out = function(*tensors, mask, is_causal=masked)
                grads = inner.backward([out], [F.ones_like(out) * out.detach()])
            total = sum((grad * grad).sum() for grad in grads)
            return outer.backward([total], [tessera.Tensor(1.0, dtype="float64")])

    def by_kernel(query, key, value, mask, is_causal):
        return attention(query, key, value, mask, is_causal=is_causal)

    for one, other in zip(second(by_kernel), second(composed), strict=True):
        assert_close(one, other.numpy(), rtol=1e-8, atol=1e-8)


def test_large_scores_of_later_blocks():
    query, key, value = operands(30, 900, dtype="float32")
    key = key * tessera.Tensor(np.linspace(0.1, 60, 900, dtype=np.float32)[:, None])
    wide = [each.astype("float64") for each in (query, key, value)]
    assert_close(attention(query, key, value), composed(*wide).numpy(), rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_no_number_shows_where_it_is_read(value):
    query, key, values = (each.numpy() for each in operands(40, 300, dtype="float32", leading=()))
    query[7, 0] = value
    out = attention(*map(tessera.Tensor, (query, key, values))).numpy()
    assert np.isnan(out[7]).all() and np.isfinite(np.delete(out, 7, 0)).all()
    query[7, 0] = 0
    key[280, 1] = np.nan
    seen = attention(*map(tessera.Tensor, (query, key, values))).numpy()
    assert np.isnan(seen).all()
    mask = np.arange(300) != 280
    hidden = attention(*map(tessera.Tensor, (query, key, values, mask))).numpy()
    assert np.isfinite(hidden).all()


def test_infinite_scores_give_what_the_softmax_does():
    query, key = np.ones((3, 2), np.float32), np.ones((4, 2), np.float32)
    added = np.zeros((3, 4), np.float32)
    added[0] = -np.inf
    added[1, 2] = np.inf
    added[2, :3] = -np.inf
    out = attention(*map(tessera.Tensor, (query, key, np.eye(4, dtype=np.float32), added))).numpy()
    assert (out[0] == 0).all() and np.isnan(out[1]).all() and out[2].tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_traces_and_batches_have_the_bits_of_eager_calls(dtype):
    tensors = operands(60, 300, 16, 32, (3, 2), dtype=dtype)
    mask = tessera.Tensor(floats(60, 300) > 0)

    def run(query, key, value):
        return attention(query, key, value, mask, is_causal=True)

    eager = [each.astype("float32").numpy() for each in gradients(run, tensors)]
    traced = jit.trace(lambda *each: gradients(run, list(each)))
    others = operands(60, 300, 16, 32, (3, 2), dtype=dtype)  # no gradients yet
    for one, other in zip(eager, traced(*others), strict=True):
        assert np.array_equal(one, other.astype("float32").numpy())
    alone = attention(*(each[1:2, :1] for each in tensors), mask, is_causal=True)
    assert np.array_equal(eager[0][1:2, :1], alone.astype("float32").numpy())


def test_memory_does_not_grow_with_the_matrix():
    spec = jit.Spec((1, 2, 2048, 64))
    matrix = 2 * 2048 * 2048 * 4
    assert jit.estimate(attention, spec, spec, spec).peak < matrix / 2
    assert jit.estimate(composed, spec, spec, spec).peak > matrix

    def step(query, key, value):
        return gradients(attention, [query, key, value])[1:]

    assert jit.estimate(step, spec, spec, spec).peak < matrix
