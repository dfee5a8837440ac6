"""A transformer of one's own, as BERT has it, with masks, tied weights and a warm-up."""

import math

import megengine as mge
import megengine.functional as F  # noqa: N812
import megengine.module as M  # noqa: N812
import megengine.optimizer as optim
import numpy as np
from megengine import Parameter
from megengine.autodiff import GradManager

WORDS, LENGTH, WIDTH, HEADS = 12, 6, 16, 2


class SelfAttention(M.Module):
    """softmax(Q K' / sqrt(d) + mask) V, in heads."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.query, self.key, self.value = (M.Linear(width, width) for _ in range(3))
        self.dropout = M.Dropout(0.0)

    def split(self, x):
        x = x.reshape(x.shape[0], x.shape[1], self.heads, self.size)
        return x.transpose(0, 2, 1, 3)

    def forward(self, x, mask):
        query, key, value = (self.split(f(x)) for f in (self.query, self.key, self.value))
        scores = F.matmul(query, key.transpose(0, 1, 3, 2)) / math.sqrt(self.size)
        weights = self.dropout(F.softmax(scores + mask, axis=-1))
        mixed = F.matmul(weights, value).transpose(0, 2, 1, 3)
        return F.flatten(mixed, 2)


class Block(M.Module):
    """Attention and two layers, each beside a shortcut and before a normalisation."""

    def __init__(self, width, heads):
        super().__init__()
        self.attention = SelfAttention(width, heads)
        self.output = M.Linear(width, width)
        self.norm1, self.norm2 = M.LayerNorm(width, eps=1e-6), M.LayerNorm(width, eps=1e-6)
        self.mlp = M.Sequential(M.Linear(width, 4 * width), M.GELU(), M.Linear(4 * width, width))

    def forward(self, x, mask):
        x = self.norm1(x + self.output(self.attention(x, mask)))
        return self.norm2(x + self.mlp(x))


class Encoder(M.Module):
    """Fills in words that are masked; the output layer is the embedding's transpose."""

    def __init__(self, layers=2):
        super().__init__()
        self.words = M.Embedding(WORDS, WIDTH)
        self.positions = Parameter(np.zeros((1, LENGTH, WIDTH), dtype="float32"))
        self.blocks = [Block(WIDTH, HEADS) for _ in range(layers)]
        self.bias = Parameter(np.zeros(WORDS, dtype="float32"))
        self.apply(self.init)
        M.init.normal_(self.positions, std=0.3)

    @staticmethod
    def init(module):
        if isinstance(module, (M.Linear, M.Embedding)):
            M.init.normal_(module.weight, 0.0, 0.2)
        if isinstance(module, M.Linear) and module.bias is not None:
            M.init.zeros_(module.bias)

    def forward(self, words, lengths):
        x = self.words(words) + self.positions[:, : words.shape[1]]
        inside = F.arange(words.shape[1]).reshape(1, -1) < lengths.reshape(-1, 1)
        mask = (1.0 - inside.astype("float32")) * -1e4
        mask = F.expand_dims(mask, [1, 2])
        for block in self.blocks:
            x = block(x, mask)
        return F.matmul(x, self.words.weight, transpose_b=True) + self.bias


def batch(seed, count=32):
    """Words that count upwards, one of which is hidden (word 0); lengths; the places, the words."""
    rng = np.random.RandomState(seed)
    words = (rng.randint(0, WORDS - 1, (count, 1)) + np.arange(LENGTH)) % (WORDS - 1) + 1
    lengths = rng.randint(LENGTH - 2, LENGTH + 1, count)
    places = rng.randint(0, LENGTH - 2, count)
    answers = words[np.arange(count), places].copy()
    words[np.arange(count), places] = 0
    words[np.arange(LENGTH)[None] >= lengths[:, None]] = 0
    return [mge.tensor(each, dtype="int32") for each in (words, lengths, places, answers)]


def picked(logits, places):
    """Of each row what stands at its place."""
    return logits[F.arange(len(places)).astype("int32"), places]


def train(model, steps, warm=10):
    groups = [
        {"params": [p for n, p in model.named_parameters() if "norm" not in n and "bias" not in n],
         "weight_decay": 0.01},
        {"params": [p for n, p in model.named_parameters() if "norm" in n or "bias" in n],
         "weight_decay": 0.0},
    ]  # fmt: skip
    assert sum(len(group["params"]) for group in groups) == len(list(model.parameters()))
    optimizer = optim.Adam(groups, lr=0.0, betas=(0.9, 0.98))
    manager = GradManager().attach(model.parameters())
    losses = []
    for step in range(steps):
        rate = 0.02 * min((step + 1) / warm, math.sqrt(warm / (step + 1)))
        for group in optimizer.param_groups:
            group["lr"] = rate
        words, lengths, places, answers = batch(step)
        with manager:
            loss = F.nn.cross_entropy(picked(model(words, lengths), places), answers)
            manager.backward(loss)
        optimizer.step().clear_grad()
        losses.append(loss.item())
    return losses


def check_mask(model):
    """What lies behind the length of a row changes nothing within it."""
    words, lengths, _, _ = batch(3)
    logits = model(words, lengths).numpy()
    other = words.numpy().copy()
    behind = np.arange(LENGTH)[None] >= lengths.numpy()[:, None]
    other[behind] = 5
    changed = model(mge.tensor(other, dtype="int32"), lengths).numpy()
    np.testing.assert_allclose(changed[~behind], logits[~behind], rtol=1e-4, atol=1e-4)


def check_attention(model):
    """The first block's attention beside NumPy in float64."""
    layer, rng = model.blocks[0].attention, np.random.RandomState(1)
    x = rng.normal(size=(2, LENGTH, WIDTH))
    got = layer(mge.tensor(x, dtype="float32"), 0.0).numpy()
    state = {name: value.astype("float64") for name, value in layer.state_dict().items()}
    q, k, v = (
        (x @ state[f"{name}.weight"].T + state[f"{name}.bias"])
        .reshape(2, LENGTH, HEADS, -1).transpose(0, 2, 1, 3) for name in ("query", "key", "value")
    )  # fmt: skip
    scores = q @ k.transpose(0, 1, 3, 2) / math.sqrt(WIDTH // HEADS)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    wanted = (weights @ v).transpose(0, 2, 1, 3).reshape(2, LENGTH, WIDTH)
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


def main():
    mge.random.seed(14)
    model = Encoder()
    assert [name for name, _ in model.named_children()] == ["blocks.0", "blocks.1", "words"]
    losses = train(model, 150)
    assert np.mean(losses[-10:]) < 0.5 * losses[0], losses
    model.eval()
    words, lengths, places, answers = batch(1000)
    right = F.topk_accuracy(picked(model(words, lengths), places), answers, topk=1).item()
    assert right > 0.5, right
    check_mask(model)
    check_attention(model)
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}, {100 * right:.0f} % of the words right")


if __name__ == "__main__":
    main()
