"""A transformer of an encoder and a decoder, which says numbers in words.

    tools/dev python frontends/examples/transformer.py [--steps N] [--dump transformer.tess]

A. Vaswani et al.: Attention Is All You Need, 2017. The data are made here: numbers of up to four
digits, such as 4107, and their names, "four thousand one hundred seven"; those of which the last
two digits are 37 or 73 are held out. The file is `translate`.
"""

import math

import numpy as np
import tessera as mge
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import training
from tessera.optimizer import Adam

DIGITS, LONGEST = 4, 8  # of a number; of its words with what ends them
NAMES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety "
    "hundred thousand"
)
WORDS = ["", *NAMES.split()]  # the first one ends a name, and begins it
SMALL, TENS = WORDS[1:21], WORDS[21:29]
INPUTS = {"number": {0: training.BATCH}}


def words_of(number):
    """The name of 0 to 9999, in words."""
    if number < 20:
        return [SMALL[number]]
    if number < 100:
        return [TENS[number // 10 - 2]] + (words_of(number % 10) if number % 10 else [])
    unit, name = (1000, "thousand") if number >= 1000 else (100, "hundred")
    rest = words_of(number % unit) if number % unit else []
    return [*words_of(number // unit), name, *rest]


def places(length, width):
    """Sines and cosines of the position, section 3.5: float32[length, width]."""
    angle = np.arange(length)[:, None] / 10000 ** (np.arange(0, width, 2) / width)
    return np.stack([np.sin(angle), np.cos(angle)], 2).reshape(length, width).astype(np.float32)


class DecoderLayer(M.Module):
    """Attention to the words before, to the number, and two linear layers."""

    def __init__(self, width, heads, dropout):
        super().__init__()
        self.own = M.MultiHeadAttention(width, heads, dropout)
        self.other = M.MultiHeadAttention(width, heads, dropout)
        self.mlp = M.Sequential(M.Linear(width, 4 * width), M.ReLU(), M.Linear(4 * width, width))
        self.norm1, self.norm2, self.norm3 = (M.LayerNorm(width) for _ in range(3))
        self.dropout = M.Dropout(dropout)

    def forward(self, x, memory):
        """float[N, L, width] and the encoder's float[N, S, width]."""
        x = self.norm1(x + self.dropout(self.own(x, x, x, is_causal=True)[0]))
        x = self.norm2(x + self.dropout(self.other(x, memory, memory)[0]))
        return self.norm3(x + self.dropout(self.mlp(x)))


class Transformer(M.Module):
    """From digits to words."""

    def __init__(self, width=64, heads=4, layers=2, dropout=0.1):
        super().__init__()
        self.digit, self.word = M.Embedding(10, width), M.Embedding(len(WORDS), width)
        self.places = mge.tensor(places(LONGEST + 1, width))
        self.encoder = M.Sequential(
            *(M.TransformerEncoderLayer(width, heads, 4 * width, dropout) for _ in range(layers))
        )
        self.decoder = M.ModuleList([DecoderLayer(width, heads, dropout) for _ in range(layers)])
        self.head = M.Linear(width, len(WORDS))
        for table in (self.digit, self.word):
            M.init.normal_(table.weight, std=1 / math.sqrt(width))

    def encode(self, number):
        """int[N, DIGITS] -> float[N, DIGITS, width]."""
        return self.encoder(self.digit(number) + self.places[:DIGITS])

    def decode(self, words, memory):
        """The words before, int[N, L] -> logits of the next ones, float[N, L, len(WORDS)]."""
        x = self.word(words) + self.places[: words.shape[1]]
        for layer in self.decoder:
            x = layer(x, memory)
        return self.head(x)

    def forward(self, number, words):
        """Logits of the words: each one from those before it."""
        before = F.concat([F.zeros_like(words[:, :1]), words[:, :-1]], 1)
        return self.decode(before, self.encode(number))

    def translate(self, number):
        """int32[N, DIGITS] -> int32[N, LONGEST]: the likeliest word after those before it, until
        all names have ended.
        """
        memory = self.encode(number)

        def say(at, before):
            following = F.argmax(self.decode(before, memory), axis=2)
            before[:, at + 1] = following[:, at]
            return at + 1, before

        def goes_on(at, before):
            is_at_end = F.logical_and(at > 0, F.equal(F.max(before[:, at]), 0))
            return F.logical_and(at < LONGEST, F.logical_not(is_at_end))

        nothing = F.zeros((number.shape[0], LONGEST + 1), dtype="int32")
        return F.while_loop(goes_on, say, F.full((), 0, dtype="int32"), nothing)[1][:, 1:]


def batch(seed, count, held_out=False):
    """int32[count, DIGITS], and int32[count, LONGEST] of numbers of words, which zeros end."""
    random, numbers = np.random.RandomState(seed), []
    while len(numbers) < count:  # as many of each length
        number = random.randint(10 ** random.randint(1, DIGITS + 1))
        if (number % 100 in (37, 73)) == held_out:
            numbers.append(number)
    digits = [[int(digit) for digit in f"{number:0{DIGITS}}"] for number in numbers]
    names = np.zeros((count, LONGEST), np.int32)
    for row, number in zip(names, numbers, strict=True):
        words = words_of(number)
        row[: len(words)] = [WORDS.index(word) for word in words]
    return np.array(digits, np.int32), names


def loss(model, number, words):
    """Cross entropy of each word."""
    return F.nn.cross_entropy(model(number, words), words, axis=2)


def training_step(model):
    """Adam with the paper's numbers."""
    optimizer = Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.98), eps=1e-9)
    return training.step_of(model, loss, optimizer)


def main(arguments=None):
    """Trains, says numbers that are held out, and dumps."""
    options = training.parser(__doc__, steps=800).parse_args(arguments)
    mge.random.seed(0)
    model = Transformer()
    training.fit(training_step(model), batch, options)
    number, words = batch(0, 64, held_out=True)
    with mge.no_grad():
        said = model.eval().translate(mge.tensor(number)).numpy()
    for digits, row in list(zip(number, said, strict=True))[:4]:
        name = " ".join(WORDS[word] for word in row if word)
        print(f"{''.join(map(str, digits))}: {name}")
    print(f"held-out names that are right: {(said == words).all(axis=1).mean():.1%}")
    training.finish(model.translate, INPUTS, [number[:4]], options)


if __name__ == "__main__":
    main()
