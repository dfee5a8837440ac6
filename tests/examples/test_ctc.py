"""The LSTM that is trained by CTC."""

import ctc
import numpy as np
import tessera

from tests.examples.harness import Example


class TestReader(Example):
    module = ctc
    steps, count = 20, 8

    @classmethod
    def make(cls):
        return ctc.Reader(hidden=12)

    @classmethod
    def inference(cls, model):
        return model.eval().read


def test_repetitions_and_blanks_are_left_out():
    best = [[10, 3, 3, 10, 3, 7, 7, 10]]
    model = ctc.Reader(hidden=2)
    model.forward = lambda line: tessera.tensor(np.eye(11)[best])
    assert model.read(None).numpy().tolist() == [[-1, 3, -1, -1, 3, 7, -1, -1]]
    assert (
        ctc.errors(np.array([[-1, 3, 4], [5, -1, -1]]), np.array([[3, 4], [5, 6]]), [2, 2]) == 0.5
    )
