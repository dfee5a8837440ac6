"""Programs whose loops and sizes data decides, from Python to C++ without Python: the bits stay."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera import module as M  # noqa: N812

from tests.support.helper import bits, default_device, flat, floats

TOOL, PROGRAM = (Path(name).absolute() for name in ("tools/tess-run", "tests/e2e/deployed"))
WORDS, HIDDEN, WIDTH, LONGEST, END, LIKELY = 11, 6, 3, 12, 0, -5


class Decoder(M.Module):
    """Says a sentence about a state, a word at a time."""

    def __init__(self):
        super().__init__()
        tessera.seed(7)
        self.embedding, self.cell = M.Embedding(WORDS, HIDDEN), M.GRUCell(HIDDEN, HIDDEN)
        self.head = M.Linear(HIDDEN, WORDS)
        self.head.bias[END] = 1.8
        self.only_end = tessera.Tensor([0.0] + [-np.inf] * (WORDS - 1))
        self.first = tessera.Tensor([0.0] + [-np.inf] * (WIDTH - 1))

    def extend(self, at, h, scores, texts, ended):
        """Each sentence by a word, the best of all of them."""
        count = scores.shape[0]
        h = self.cell(self.embedding(texts[:, at - 1]), h)
        words = F.where(F.expand_dims(ended, 1), self.only_end, F.logsoftmax(self.head(h) * 4, 1))
        sums = F.expand_dims(scores, 2) + words.reshape(count, WIDTH, WORDS)
        scores, chosen = F.topk(sums.reshape(count, WIDTH * WORDS), WIDTH)
        rows = (F.arange(count, dtype="int32").reshape(-1, 1) * WIDTH + chosen // WORDS).flatten()
        word, texts = (chosen % WORDS).flatten().astype("int32"), texts[rows]
        texts[:, at] = word
        return at + 1, h[rows], scores, texts, F.logical_or(ended[rows], F.equal(word, END))

    def forward(self, states):
        """Scores and words of the best sentences, the likely ones, and how many words it took."""
        count = states.shape[0]

        def goes_on(at, h, scores, texts, ended):
            return F.logical_and(at < LONGEST, ended.astype("int32").min() < 1)

        start = (
            F.full((), 1, dtype="int32"),
            F.repeat(states, WIDTH, 0),
            F.broadcast_to(self.first, (count, WIDTH)),
            F.full((count * WIDTH, LONGEST), END, dtype="int32"),
            F.full((count * WIDTH,), False, dtype="bool"),
        )
        at, _, scores, texts, _ = F.while_loop(goes_on, self.extend, *start)
        return scores, texts, texts[scores.flatten() > LIKELY], at


def states(number):
    """Of 1 to 5 sentences."""
    return [floats(1 + number, HIDDEN, seed=number)]


def likely_boxes(scores, boxes):
    """Boxes above a threshold, of them the best, where they are, and how many there were."""
    kept = F.non_zero(scores > 0.25).flatten()
    best, order = F.topk(scores[kept], 4)
    return best, boxes[kept[order]] * 2, (scores > 0.25).astype("int32").sum()


def best_boxes(scores, boxes):
    """The best boxes, of them those above a threshold, and how many these are."""
    best, order = F.topk(scores, 4)
    kept, rows = best > 0.9, F.broadcast_to(order.reshape(-1, 1), (4, 4))
    return best[kept], F.gather(boxes, 0, rows)[kept], kept.astype("int32").sum()


def parted(scores, boxes):
    """The scores above a threshold before the others, beside the boxes; how many are above.

    At their largest sizes the parts would be more than the boxes: the results have no bound.
    """
    order = F.concat([scores[scores > 0.5], scores[scores <= 0.5]], 0)
    beside = order + boxes[:, 0]
    return beside, order[4:-9:-1] * 2, F.isnan(order), (scores > 0.5).astype("int32").sum()


def said(scores, boxes):
    """Boxes in front of the best one, and others, as many as are above a threshold, in sizes and
    bounds that tensors say; how many there are.
    """
    best, many = F.argmax(scores), (scores > 0.5).astype("int32").sum()
    before, last = boxes[:best] * 2, scores[-many:] + 1
    ranges = F.linspace(0, 1, many) + F.arange(many), F.repeat(scores[best : best + 2], many)
    return before, last, *ranges, F.pad(scores, ((many, 0),)), F.eye(3, many) * scores[0], many


def by_class(scores, boxes):
    """For each class the boxes above a threshold that suppress no other: their sum, their number,
    and how many there are of all classes.
    """

    def step(total, own):
        kept = F.non_zero(own > 0.6).flatten()
        best = F.vision.nms(boxes[kept], own[kept], 0.5)
        chosen, count = boxes[kept[best]], best.shape[0]
        return total + count, (chosen.sum(0), F.arange(count).sum() + chosen.mean())

    total, (sums, means) = F.scan(step, F.zeros((), dtype="int32"), scores)
    return sums, means, total


def classes(number):
    """Scores of 3 classes and corners of 20 to 76 boxes."""
    corners = found(number)[1]
    corners[:, 2:] += corners[:, :2] + 1
    return [floats(3, len(corners), seed=number, low=0, high=1), corners]


def found(number):
    """Scores and corners of 20 to 76 boxes."""
    count = 20 + 14 * number
    return [floats(count, seed=number, low=0, high=1), floats(count, 4, seed=number)]


def fifty(number):
    """Scores and corners of as many boxes each time."""
    return [floats(50, seed=number, low=0, high=1), floats(50, 4, seed=number)]


SENTENCES, BOXES = jit.Dim("sentences", 1, 64), jit.Dim("boxes", 8, 512)
HEAD = {"scores": {0: BOXES}, "boxes": {0: BOXES}}
PROGRAMS = {
    "beam search": (lambda: Decoder().eval(), states, {"states": {0: SENTENCES}}),
    "threshold, top-k, gather": (lambda: likely_boxes, found, HEAD),
    "top-k, gather, threshold": (lambda: best_boxes, found, HEAD),
    "a threshold for each class": (
        lambda: by_class,
        classes,
        {"scores": {1: BOXES}, "boxes": {0: BOXES}},
    ),
    "sizes that tensors say": (lambda: said, found, HEAD),
    "results without a bound": (lambda: parted, fifty, {"scores": {}, "boxes": {}}),
}


class Case:
    """A program, its file, and folders with inputs of different sizes."""

    def __init__(self, name, folder):
        self.make, self.inputs, dims = PROGRAMS[name]
        function, self.names, self.path = self.make(), list(dims), folder / "program.tess"
        call = jit.trace(lambda *args: function(*args), capture_as_const=True)
        call(*self.tensors(2))
        call.dump(self.path, arg_names=self.names, dims=dims, targets=["host", "sim"])
        self.folders, self.expected = [], []
        for number in range(5):
            self.folders.append(folder / str(number))
            self.folders[-1].mkdir()
            for name, array in zip(self.names, self.inputs(number), strict=True):
                np.save(self.folders[-1] / f"{name}.npy", array)
            self.expected.append(bits(function(*self.tensors(number))))
        self.outputs = jit.load(self.path).outputs

    def tensors(self, number):
        """The inputs of a folder on the default device."""
        return [tessera.Tensor(array) for array in self.inputs(number)]

    def taken(self):
        """What the folders' outputs hold, which are then gone."""
        rows = []
        for folder in self.folders:
            files = [folder / f"{name}.npy" for name in self.outputs]
            rows.append(bits([np.load(file) for file in files]))
            for file in files:
                file.unlink()
        return rows


@pytest.fixture(scope="module", params=PROGRAMS)
def case(request, tmp_path_factory):
    return Case(request.param, tmp_path_factory.mktemp("deployed"))


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done


def test_data_decides(case):
    """What is under test differs from call to call: the words of a search, the number of boxes."""
    assert len({row[-1] for row in case.expected}) > 2


@pytest.mark.parametrize("device", ["cpu0", "sim0"])
def test_python_gives_the_bits(case, device):
    """Eagerly, traced, and from the file without and with its code."""
    with default_device(device):
        function = case.make()
        calls = [function, jit.trace(lambda *args: function(*args))]
        for call in [*calls, *(jit.load(case.path, allow_code=code) for code in (False, True))]:
            results = [call(*case.tensors(number)) for number in range(len(case.folders))]
            assert [bits(each) for each in results] == case.expected
            assert {each.device for each in flat(results)} == {device}


@pytest.mark.parametrize("device", ["cpu0", "sim0"])
def test_the_deploy_library_gives_the_bits(case, device):
    run(PROGRAM, case.path, device, *case.folders)
    assert case.taken() == case.expected


@pytest.mark.parametrize("device", ["cpu0", "sim0"])
def test_tess_run_gives_the_bits(case, device):
    for folder in case.folders:
        inputs = [f"--input={name}={folder}/{name}.npy" for name in case.names]
        outputs = [f"--output={name}={folder}/{name}.npy" for name in case.outputs]
        run(TOOL, case.path, f"--device={device}", *inputs, *outputs)
    assert case.taken() == case.expected
