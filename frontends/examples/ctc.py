"""An LSTM that tags the columns of a picture with digits, trained by CTC on lines of handwriting.

    tools/dev python frontends/examples/ctc.py [--steps N] [--dump ctc.tess]

A. Graves et al.: Connectionist Temporal Classification, 2006. A line has two to four digits of
scikit-learn at random distances; the labels do not say where they are. The file is `read`.
"""

import numpy as np
import pictures
import tessera as mge
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import training
from tessera.optimizer import Adam, clip_grad_norm

COLUMNS, LONGEST, BLANK = 48, 4, 10
INPUTS = {"line": {0: training.BATCH}}


class Reader(M.Module):
    """A bidirectional LSTM and a linear layer."""

    def __init__(self, hidden=64, layers=1):
        super().__init__()
        self.lstm = M.LSTM(8, hidden, layers, batch_first=True, bidirectional=True)
        self.head = M.Linear(2 * hidden, BLANK + 1)

    def forward(self, line):
        """Columns float[N, L, 8] -> logits of the digits and of no digit, float[N, L, 11]."""
        hidden, _ = self.lstm(line)
        return self.head(hidden)

    def read(self, line):
        """The digit that begins in each column, or -1: int32[N, L].

        The best class of each column, without repetitions and blanks.
        """
        best = F.argmax(self(line), axis=2)
        before = F.concat([F.full_like(best[:, :1], BLANK), best[:, :-1]], 1)
        begins = F.logical_and(F.not_equal(best, before), F.not_equal(best, BLANK))
        return F.where(begins, best, F.full_like(best, -1))


def batch(seed, count, held_out=False):
    """float32[count, COLUMNS, 8], the digits int32[count, LONGEST], and how many: int32[count]."""
    random = np.random.RandomState(seed)
    lines = np.zeros((count, COLUMNS, 8), np.float32)
    labels = np.zeros((count, LONGEST), np.int32)
    lengths = random.randint(2, LONGEST + 1, count).astype(np.int32)
    for line, label, length in zip(lines, labels, lengths, strict=True):
        images, label[:length] = pictures.some_digits(random, length, held_out)
        at = random.randint(0, 4)
        for image in images:
            line[at : at + 8] = image.T
            at += 8 + random.randint(0, 4)
    return lines, labels, lengths


def loss(model, line, label, length):
    """Minus the logarithm of the probability of the digits, over how many they are."""
    probabilities = F.softmax(model(line), axis=2).transpose(1, 0, 2)
    columns = F.full((line.shape[0],), line.shape[1], dtype="int32")
    return F.nn.ctc_loss(probabilities, columns, label, length, blank=BLANK)


def training_step(model):
    """Adam with clipped gradients."""
    optimizer = Adam(model.parameters(), lr=1e-2)
    manager = mge.autodiff.GradManager().attach(model.parameters())

    def step(line, label, length):
        with manager:
            value = loss(model, line, label, length)
            manager.backward(value)
        clip_grad_norm(model.parameters(), max_norm=1.0)
        optimizer.step().clear_grad()
        return value

    return step


def errors(read, label, length):
    """The share of lines that are not read as they are."""
    found = [row[row >= 0].tolist() for row in read]
    wanted = [row[:size].tolist() for row, size in zip(label, length, strict=True)]
    return sum(a != b for a, b in zip(found, wanted, strict=True)) / len(wanted)


def main(arguments=None):
    """Trains, reads lines of digits that are held out, and dumps."""
    options = training.parser(__doc__, steps=300).parse_args(arguments)
    mge.random.seed(0)
    model = Reader()
    training.fit(training_step(model), batch, options)
    line, label, length = batch(0, 128, held_out=True)
    with mge.no_grad():
        found = model.eval().read(mge.tensor(line)).numpy()
    for row, wanted, size in list(zip(found, label, length, strict=True))[:4]:
        print(f"read {row[row >= 0].tolist()}, written {wanted[:size].tolist()}")
    print(f"held-out lines read wrongly: {errors(found, label, length):.1%}")
    training.finish(model.read, INPUTS, [line[:4]], options)


if __name__ == "__main__":
    main()
