"""The transformer of an encoder and a decoder."""

import transformer

from tests.examples.harness import Example


class TestTransformer(Example):
    module = transformer
    steps, count = 30, 8

    @classmethod
    def make(cls):
        return transformer.Transformer(width=16, heads=2, layers=1)

    @classmethod
    def inference(cls, model):
        return model.eval().translate


def test_numbers_have_names():
    names = {
        0: "zero",
        13: "thirteen",
        40: "forty",
        99: "ninety nine",
        300: "three hundred",
        1007: "one thousand seven",
        9876: "nine thousand eight hundred seventy six",
    }
    assert {number: " ".join(transformer.words_of(number)) for number in names} == names
    assert max(len(transformer.words_of(number)) for number in range(10000)) < transformer.LONGEST


def test_some_numbers_are_held_out():
    for held_out in (False, True):
        digits, _ = transformer.batch(0, 300, held_out)
        ends = {(a, b) for a, b in digits[:, 2:].tolist()} & {(3, 7), (7, 3)}
        assert ends == ({(3, 7), (7, 3)} if held_out else set())
