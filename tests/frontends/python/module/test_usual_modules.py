"""Modules and arguments that users of PyTorch expect: same padding, losses, a decoder's layer."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import module as M  # noqa: N812
from tessera.autodiff import GradManager

from tests.support.helper import assert_close, assert_same_everywhere, floats


def tensor(*shape, seed=0):
    return tessera.Tensor(floats(*shape, seed=seed))


def direct_conv1d(x, weight, dilation, before):
    """The sum of its definition, with zeros around x."""
    n, _, length = x.shape
    out = np.zeros((n, weight.shape[0], length))
    for t in range(length):
        for k in range(weight.shape[2]):
            place = t + k * dilation - before
            if 0 <= place < length:
                out[:, :, t] += x[:, :, place] @ weight[:, :, k].T
    return out


@pytest.mark.parametrize("dilation", [1, 2, 3])
@pytest.mark.parametrize("kernel", [1, 2, 3, 4])
def test_same_padding_beside_the_definition(kernel, dilation):
    """Half of dilation * (kernel - 1) zeros before, rounded down, as PyTorch has it."""
    net = M.Conv1d(3, 4, kernel, padding="same", dilation=dilation, bias=False)
    x = floats(2, 3, 7)
    before = dilation * (kernel - 1) // 2
    expected = direct_conv1d(x.astype("f8"), net.weight.numpy().astype("f8"), dilation, before)
    assert_close(net(tessera.Tensor(x)), expected, 1e-5, 1e-6)
    got = F.conv1d(tessera.Tensor(x), net.weight, padding="same", dilation=dilation)
    assert got.tolist() == net(tessera.Tensor(x)).tolist()


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_same_padding_keeps_sizes(axes):
    kind, function = getattr(M, f"Conv{axes}d"), getattr(F, f"conv{axes}d")
    sizes = (5, 6, 7)[:axes]
    for mode in ("zeros", "reflect") if axes < 3 else ("zeros",):
        net = kind(2, 3, (4, 3, 2)[:axes], padding="same", padding_mode=mode)
        assert net(tensor(1, 2, *sizes)).shape == (1, 3, *sizes)
        assert net(tensor(2, *sizes)).shape == (3, *sizes)  # without a batch
    got = function(tensor(1, 2, *sizes), tensor(3, 2, *(2,) * axes), padding="valid")
    assert got.shape == (1, 3, *(size - 1 for size in sizes))


def test_same_padding_in_every_mode():
    net = M.Conv2d(3, 4, (2, 3), padding="same", groups=1)
    (got,) = assert_same_everywhere(net, floats(2, 3, 5, 6))
    wide = np.pad(floats(2, 3, 5, 6), ((0, 0), (0, 0), (0, 1), (1, 1)))
    assert_close(got, F.conv2d(tessera.Tensor(wide), net.weight, net.bias).numpy())


def test_what_is_no_padding():
    with pytest.raises(ValueError, match='Conv1d: padding must be .*"same" or "valid", got \'full'):
        M.Conv1d(1, 1, 3, padding="full")
    with pytest.raises(ValueError, match=r'Conv2d: stride must be 1 .* "same", got \(2, 2\)'):
        M.Conv2d(1, 1, 3, 2, padding="same")
    with pytest.raises(ValueError, match='conv1d: stride must be 1 where padding is "same"'):
        F.conv1d(tensor(1, 1, 5), tensor(1, 1, 3), stride=2, padding="same")
    with pytest.raises(ValueError, match="ConvTranspose1d: padding must be numbers, got 'same'"):
        M.ConvTranspose1d(1, 1, 3, padding="same")
    for kind, sizes in ((M.LocalConv2d, (5, 5)), (M.DeformableConv2d, ())):
        with pytest.raises(
            ValueError, match=f"{kind.__name__}: padding must be numbers, got 'same"
        ):
            kind(1, 1, *sizes, 2, padding="same")
    with pytest.raises(ValueError, match="conv_transpose1d: padding must be numbers, got 'same'"):
        F.conv_transpose1d(tensor(1, 1, 5), tensor(1, 1, 3), padding="same")


def test_activations():
    x = floats(2, 3, 4)
    assert_close(M.Tanh()(tessera.Tensor(x)), np.tanh(x), 1e-6)
    expected = x * np.clip(x + 3, 0, 6) / 6
    assert_close(M.Hardswish()(tessera.Tensor(x)), expected, 1e-6, 1e-6)


def test_gelu_by_a_tangent():
    """D. Hendrycks, K. Gimpel, arXiv:1606.08415, section 2."""
    x = np.linspace(-6, 6, 101)
    wide = 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    net = M.GELU("tanh")
    assert_close(net(tessera.Tensor(x, dtype="float32")), wide, 1e-5, 2e-6)
    given = tessera.Tensor(x, dtype="float64")
    assert_close(F.gelu(given, approximate="tanh"), wide, 1e-12, 1e-15)
    assert np.abs(F.gelu(given).numpy() - wide).max() < 5e-4
    assert repr(net) == "GELU(approximate=tanh)" and repr(M.GELU()) == "GELU()"
    for call in (M.GELU, lambda kind: F.gelu(given, kind)):
        with pytest.raises(ValueError, match=r"approximate must be one of \['none', 'tanh'\]"):
            call("erf")


@pytest.mark.parametrize("affine", [False, True])
def test_instance_norms(affine):
    for axes, kind in ((1, M.InstanceNorm1d), (2, M.InstanceNorm2d)):
        net, x = kind(3, affine=affine), floats(2, 3, *(4, 5)[:axes])
        own = tuple(range(2, 2 + axes))
        wide = x.astype("f8")
        expected = (wide - wide.mean(own, keepdims=True)) / np.sqrt(
            wide.var(own, keepdims=True) + 1e-5
        )
        assert_close(net(tessera.Tensor(x)), expected, 1e-4, 1e-5)
        assert len(list(net.parameters())) == 2 * affine
        with pytest.raises(ValueError, match=f"{kind.__name__}: x must have {axes + 2} axes, got"):
            net(tensor(3, 4))


def log_softmax(x):
    return (
        x
        - x.max(1, keepdims=True)
        - np.log(np.exp(x - x.max(1, keepdims=True)).sum(1, keepdims=True))
    )


PRED, GIVEN = floats(4, 3).astype("f8"), floats(4, 3, seed=1).astype("f8")
LABELS = np.array([0, 2, -100, 1])
SHARES = np.clip(np.abs(PRED), 0.05, 0.95)
TRUTH = (GIVEN > 0).astype("f8")
WEIGHT = np.array([1.0, 2.0, 0.5])


def _of_labels(log_pred):
    counts = LABELS >= 0
    each = -log_pred[np.arange(4), np.where(counts, LABELS, 0)]
    weights = np.where(counts, WEIGHT[np.where(counts, LABELS, 0)], 0)
    return (each * weights).sum() / weights.sum()


def _huber(d, delta):
    size = np.abs(PRED - GIVEN)
    return np.where(size <= delta, 0.5 * size**2, delta * (size - 0.5 * delta)) / d


LOSSES = {
    "L1Loss": (M.L1Loss(), (PRED, GIVEN), np.abs(PRED - GIVEN).mean()),
    "MSELoss": (M.MSELoss("sum"), (PRED, GIVEN), ((PRED - GIVEN) ** 2).sum()),
    "SmoothL1Loss": (M.SmoothL1Loss(beta=0.5), (PRED, GIVEN), _huber(0.5, 0.5).mean()),
    "HuberLoss": (M.HuberLoss("none", 0.7), (PRED, GIVEN), _huber(1, 0.7)),
    "BCELoss": (M.BCELoss(), (SHARES, TRUTH),
                -(TRUTH * np.log(SHARES) + (1 - TRUTH) * np.log(1 - SHARES)).mean()),
    "BCEWithLogitsLoss": (M.BCEWithLogitsLoss(), (PRED, TRUTH),
                          (np.logaddexp(0, PRED) - TRUTH * PRED).mean()),
    "KLDivLoss": (M.KLDivLoss("sum"), (np.log(SHARES), SHARES[::-1].copy()),
                  (SHARES[::-1] * (np.log(SHARES[::-1]) - np.log(SHARES))).sum()),
    "CrossEntropyLoss": (M.CrossEntropyLoss(WEIGHT), (PRED, LABELS),
                         _of_labels(log_softmax(PRED))),
    "NLLLoss": (M.NLLLoss(WEIGHT), (log_softmax(PRED), LABELS), _of_labels(log_softmax(PRED))),
    "TripletMarginLoss": (
        M.TripletMarginLoss(margin=0.5, reduction="sum"), (PRED, GIVEN, GIVEN + 0.3),
        np.maximum(np.linalg.norm(PRED - GIVEN + 1e-6, axis=1)
                   - np.linalg.norm(PRED - GIVEN - 0.3 + 1e-6, axis=1) + 0.5, 0).sum()),
}  # fmt: skip


@pytest.mark.parametrize("name", LOSSES)
def test_losses_by_their_formulas(name):
    net, given, expected = LOSSES[name]
    tensors = [tessera.Tensor(each, dtype="float32" if each.dtype == "f8" else "int32")
               for each in given]  # fmt: skip
    assert_close(net(*tensors), expected, 1e-5, 1e-6)
    assert repr(net).startswith(f"{name}(reduction=")
    with pytest.raises(ValueError, match=f"{name}: reduction must be one of"):
        type(net)(reduction="average")


def test_a_losss_weights_are_a_buffer():
    net = M.CrossEntropyLoss(weight=[1.0, 2.0], label_smoothing=0.1, ignore_index=7)
    assert [name for name, _ in net.named_buffers()] == ["weight"]
    assert "ignore_index=7" in repr(net) and "label_smoothing=0.1" in repr(net)
    plain = M.CrossEntropyLoss(label_smoothing=0.3)
    pred, label = tensor(3, 4), tessera.tensor([0, 3, 1])
    log_pred = log_softmax(pred.numpy().astype("f8"))
    expected = -(0.7 * log_pred[np.arange(3), [0, 3, 1]] + 0.3 * log_pred.mean(1)).mean()
    assert_close(plain(pred, label), expected, 1e-5)


def attention(net, query, memory, mask=None):
    """Vaswani et al. 2017, section 3.2.2, one head after the other."""

    def project(layer, x):
        return x @ layer.weight.numpy().astype("f8").T + layer.bias.numpy()

    q, k = project(net.q_proj, query), project(net.k_proj, memory)
    v, width = project(net.v_proj, memory), q.shape[-1] // net.num_heads
    heads = []
    for h in range(net.num_heads):
        part = slice(h * width, (h + 1) * width)
        scores = q[..., part] @ k[..., part].swapaxes(1, 2) / np.sqrt(width)
        scores = scores if mask is None else np.where(mask, -np.inf, scores)
        e = np.exp(scores - scores.max(-1, keepdims=True))
        heads.append(e / e.sum(-1, keepdims=True) @ v[..., part])
    return project(net.out_proj, np.concatenate(heads, -1))


def norm(net, x):
    x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + net.eps)
    return x * net.weight.numpy() + net.bias.numpy()


@pytest.mark.parametrize("norm_first", [False, True])
def test_a_decoders_layer_beside_its_formula(norm_first):
    net = M.TransformerDecoderLayer(8, 2, 16, 0.0, norm_first=norm_first)
    x, memory = floats(3, 5, 8).astype("f8"), floats(3, 7, 8, seed=1).astype("f8")
    causal = np.triu(np.ones((5, 5), bool), 1)

    def feed(x):
        hidden = np.maximum(x @ net.linear1.weight.numpy().T + net.linear1.bias.numpy(), 0)
        return hidden @ net.linear2.weight.numpy().T + net.linear2.bias.numpy()

    if norm_first:
        own = norm(net.norm1, x)
        y = x + attention(net.self_attn, own, own, causal)
        y = y + attention(net.multihead_attn, norm(net.norm2, y), memory)
        y = y + feed(norm(net.norm3, y))
    else:
        y = norm(net.norm1, x + attention(net.self_attn, x, x, causal))
        y = norm(net.norm2, y + attention(net.multihead_attn, y, memory))
        y = norm(net.norm3, y + feed(y))
    given = [tessera.Tensor(each, dtype="float32") for each in (x, memory)]
    assert_close(net(*given, tgt_is_causal=True), y, 1e-4, 1e-5)
    assert_close(net(*given, tgt_mask=tessera.tensor(causal)), y, 1e-4, 1e-5)
    with GradManager().attach(net.parameters()) as gm:
        gm.backward(net(*given).sum())
    assert all(p.grad is not None for p in net.parameters())


def test_masks_of_a_decoders_memory():
    net = M.TransformerDecoderLayer(8, 2, 16, 0.0)
    x, memory = tensor(2, 3, 8), tensor(2, 4, 8, seed=1)
    left_out = np.array([[False, False, True, True], [False] * 4])
    got = net(x, memory, memory_key_padding_mask=tessera.tensor(left_out)).numpy()
    assert_close(got[:1], net(x[:1], memory[:1, :2]), 1e-5, 1e-6)
    assert_close(got[1:], net(x[1:], memory[1:]), 1e-5, 1e-6)
    with pytest.raises(ValueError, match="TransformerDecoderLayer: activation must be one of"):
        M.TransformerDecoderLayer(8, 2, activation="silu")
