"""A decoder like GPT, which learns to write by characters, with a cache of keys and values.

    tools/dev python frontends/examples/gpt.py [--steps N] [--prompt TEXT] [--dump gpt.tess]

A. Radford et al.: Language Models are Unsupervised Multitask Learners, 2019. It reads what
scikit-learn says of its data sets. The file is `generate`: prompts and random numbers to texts.
"""

import functools

import numpy as np
import tessera as mge
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import training
from tessera.jit import Dim
from tessera.optimizer import AdamW

CONTEXT = 64
INPUTS = {  # the two lengths together are at most CONTEXT
    "prompt": {0: training.BATCH, 1: Dim("given", 1, CONTEXT)},
    "uniform": {0: training.BATCH, 1: Dim("made", 1, CONTEXT)},
}


@functools.cache
def text():
    """The characters that there are, and numbers of those of the text: int32[about 15 000]."""
    from sklearn import datasets

    names = ("iris", "digits", "wine", "breast_cancer", "diabetes", "linnerud")
    whole = "\n".join(getattr(datasets, f"load_{name}")().DESCR for name in names)
    characters = sorted(set(whole))
    number = {character: i for i, character in enumerate(characters)}
    return characters, np.array([number[each] for each in whole], np.int32)


class Block(M.Module):
    """Attention to what came before, then two linear layers, each added to its input."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = M.LayerNorm(width), M.LayerNorm(width)
        self.qkv, self.out = M.Linear(width, 3 * width), M.Linear(width, width)
        self.mlp = M.Sequential(M.Linear(width, 4 * width), M.GELU(), M.Linear(4 * width, width))

    def split(self, x):
        """float[N, L, width] -> queries, keys, values, each float[N, heads, L, width / heads]."""
        count, length, width = x.shape
        qkv = self.qkv(self.norm1(x)).reshape(count, length, 3, self.heads, width // self.heads)
        return [qkv[:, :, i].transpose(0, 2, 1, 3) for i in range(3)]

    def add(self, x, mixed):
        """The rest of the block, after the attention."""
        x = x + self.out(mixed.transpose(0, 2, 1, 3).reshape(x.shape))
        return x + self.mlp(self.norm2(x))

    def forward(self, x):
        """float[N, L, width], all positions at once."""
        query, key, value = self.split(x)
        return self.add(x, F.nn.scaled_dot_product_attention(query, key, value, is_causal=True))

    def step(self, x, at, cache):
        """float[N, 1, width] at the position `at`, which enters the cache
        float[2, N, heads, CONTEXT, width / heads].
        """
        query, key, value = self.split(x)
        cache[:, :, :, at] = F.stack([key[:, :, 0], value[:, :, 0]])
        is_seen = F.arange(CONTEXT, dtype="int32") <= at
        mixed = F.nn.scaled_dot_product_attention(query, cache[0], cache[1], is_seen)
        return self.add(x, mixed), cache


class GPT(M.Module):
    """Blocks between a table of characters and logits of the next one."""

    def __init__(self, characters, width=96, heads=4, layers=3, temperature=0.7):
        super().__init__()
        self.characters, self.width, self.heads = characters, width, heads
        self.temperature = temperature
        self.token = M.Embedding(characters, width)
        self.position = M.Embedding(CONTEXT, width)
        self.blocks = M.ModuleList([Block(width, heads) for _ in range(layers)])
        self.norm, self.head = M.LayerNorm(width), M.Linear(width, characters)
        for table in (self.token, self.position):
            M.init.normal_(table.weight, std=0.02)

    def forward(self, tokens):
        """int[N, L] -> logits float[N, L, characters]; L is at most CONTEXT."""
        places = F.arange(tokens.shape[1], dtype="int32")
        x = self.token(tokens) + self.position(places)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))

    def empty_caches(self, count):
        """One of each block, for `count` texts."""
        size = (2, count, self.heads, CONTEXT, self.width // self.heads)
        return [F.zeros(size) for _ in self.blocks]

    def step(self, token, at, caches):
        """int[N] at the position `at` -> logits float[N, characters], and the caches."""
        x = F.expand_dims(self.token(token) + self.position(at), 1)
        caches = list(caches)
        for number, block in enumerate(self.blocks):
            x, caches[number] = block.step(x, at, caches[number])
        return self.head(self.norm(x))[:, 0], caches

    def sample(self, logits, uniform):
        """The character up to which the probabilities add up to a number of 0 to 1."""
        sums = F.cumsum(F.softmax(logits / self.temperature, axis=1), axis=1)
        below = F.sum((sums < F.expand_dims(uniform, 1)).astype("int32"), axis=1)
        return F.minimum(below, self.characters - 1)

    def generate(self, prompt, uniform):
        """int32[N, P] and float[N, T] of 0 to 1 -> int32[N, P + T], the prompt and what follows."""
        texts = F.concat([prompt, F.zeros(uniform.shape, dtype="int32")], 1)
        given, length = mge.tensor(prompt.shape[1]), mge.tensor(texts.shape[1])
        uniform = F.concat([F.zeros(prompt.shape), uniform], 1)

        def write(at, texts, caches):
            logits, caches = self.step(texts[:, at], at, caches)
            new = self.sample(logits, uniform[:, at + 1])
            texts[:, at + 1] = F.where(at + 1 < given, texts[:, at + 1], new)
            return at + 1, texts, caches

        start = F.full((), 0, dtype="int32"), texts, self.empty_caches(prompt.shape[0])
        return F.while_loop(lambda at, *_: at < length - 1, write, *start)[1]


def batch(seed, count, held_out=False):
    """int32[count, CONTEXT] from random places, and the characters that follow each."""
    _, numbers = text()
    split = len(numbers) * 9 // 10
    low, high = (split, len(numbers) - CONTEXT) if held_out else (0, split - CONTEXT)
    places = np.random.RandomState(seed).randint(low, high, (count, 1))
    windows = numbers[places + np.arange(CONTEXT + 1)]
    return windows[:, :-1], windows[:, 1:]


def loss(model, tokens, following):
    """Cross entropy of the next character."""
    return F.nn.cross_entropy(model(tokens), following, axis=2)


def training_step(model):
    """AdamW."""
    return training.step_of(model, loss, AdamW(model.parameters(), lr=2e-3, weight_decay=0.01))


def main(arguments=None):
    """Trains, tells the loss for a text that is held out, writes, and dumps."""
    parser = training.parser(__doc__, steps=300)
    parser.add_argument("--prompt", default="The data set ", help="what the text begins with")
    options = parser.parse_args(arguments)
    mge.random.seed(0)
    characters, _ = text()
    model = GPT(len(characters))
    training.fit(training_step(model), batch, options)
    prompt = np.array([[characters.index(each) for each in options.prompt]] * 2, np.int32)
    uniform = np.random.RandomState(0).rand(2, CONTEXT - prompt.shape[1]).astype(np.float32)
    with mge.no_grad():
        score = loss(model.eval(), *training.tensors(batch(0, 64, held_out=True)))
        written = model.generate(*training.tensors([prompt, uniform]))
    print(f"held-out loss: {score.item():.3f}")
    for row in written.numpy():
        print("---", "".join(characters[each] for each in row), sep="\n")
    training.finish(model.generate, INPUTS, [prompt, uniform], options)


if __name__ == "__main__":
    main()
