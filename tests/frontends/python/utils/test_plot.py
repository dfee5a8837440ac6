"""utils.plot: the numbers that are drawn, and that a picture comes of them."""

import cv2
import numpy as np
import pytest
import tessera
from tessera.utils.plot import confusion_matrix, plot_confusion_matrix, plot_curves

from tests.support.helper import run_without


def picture(axes, path):
    axes.figure.savefig(path)
    return cv2.imread(str(path))


def test_counts_are_those_of_scikit_learn():
    from sklearn.metrics import confusion_matrix as expected

    rng = np.random.default_rng(0)
    labels, predictions = rng.integers(0, 7, (2, 500))
    got = confusion_matrix(tessera.tensor(labels), predictions, 8)
    assert got.dtype == np.int64 and (got == expected(labels, predictions, labels=range(8))).all()


def test_the_largest_score_is_the_prediction():
    scores = tessera.tensor([[0.1, 0.9, 0.0], [0.8, 0.1, 0.0]])
    assert confusion_matrix([1, 1], scores).tolist() == [[0, 0, 0], [1, 1, 0], [0, 0, 0]]


def test_small_integers_do_not_overflow():
    ones = np.ones(1000, dtype="uint8")
    assert confusion_matrix(ones, ones).tolist() == [[0, 0], [0, 1000]]
    assert confusion_matrix([], []).shape == (0, 0)


def test_curves(tmp_path):
    axes = plot_curves(
        {"train": tessera.tensor([4.0, 2.0, 1.0]), "test": ([0, 2], [5.0, 3.0])},
        ylabel="loss", title="run", log=True,
    )  # fmt: skip
    lines = {line.get_label(): line.get_xydata().tolist() for line in axes.lines}
    assert lines == {"train": [[0, 4], [1, 2], [2, 1]], "test": [[0, 5], [2, 3]]}
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert texts == ["train", "test"] and axes.get_yscale() == "log"
    image = picture(axes, tmp_path / "curves.png")
    assert image.shape[0] > 100 and len(np.unique(image.reshape(-1, 3), axis=0)) > 10


def test_curves_into_axes_that_are_there(tmp_path):
    first = plot_curves({"a": [1.0]})
    assert plot_curves({"b": [2.0, 3.0]}, axes=first) is first and len(first.lines) == 2
    assert first.lines[0].get_marker() == "o" and first.lines[1].get_marker() == "None"
    assert plot_curves({}).lines is not None


def test_a_matrix(tmp_path):
    axes = plot_confusion_matrix([[9, 1], [0, 0]], ["cat", "dog"])
    assert [text.get_text() for text in axes.texts] == ["9", "1", "0", "0"]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["cat", "dog"]
    assert axes.images[0].get_array().tolist() == [[9, 1], [0, 0]]
    assert picture(axes, tmp_path / "matrix.png").std() > 10
    shares = plot_confusion_matrix([[9, 1], [0, 0]], normalize=True)
    assert [text.get_text() for text in shares.texts] == ["0.90", "0.10", "0.00", "0.00"]
    assert shares.get_xlabel() == "prediction" and shares.get_ylabel() == "label"


def test_refusals():
    with pytest.raises(ValueError, match=r"one entry each, got shapes \(2,\) and \(3,\)"):
        confusion_matrix([0, 1], [0, 1, 1])
    with pytest.raises(ValueError, match="classes must be from 0 to 1, got 0 to 2"):
        confusion_matrix([0, 1], [0, 2], 2)
    with pytest.raises(ValueError, match="classes must be from 0 to 1, got -1 to 1"):
        confusion_matrix([0, 1], [0, -1])
    with pytest.raises(TypeError, match="classes must be integers, got float64"):
        confusion_matrix([0.5], [1.0])
    with pytest.raises(ValueError, match=r"matrix must be square, .* got shape \(1, 2\) and 1"):
        plot_confusion_matrix([[1, 2]])
    with pytest.raises(ValueError, match=r"square, .* got shape \(2, 2\) and 3 names"):
        plot_confusion_matrix([[1, 2], [3, 4]], "abc")
    with pytest.raises(ValueError, match=r"plot_curves: a must .* got shapes \(2,\) and \(1,\)"):
        plot_curves({"a": ([0, 1], [1.0])})


def test_without_matplotlib():
    code = (
        "from tessera.utils.plot import *\nprint(confusion_matrix([0], [0]).tolist())\n"
        "for call in (lambda: plot_curves({}), lambda: plot_confusion_matrix([[1]])):\n"
        "    try:\n        call()\n    except ImportError as error: print(error)\n"
    )
    done = run_without("matplotlib.figure", code)
    lines = done.stdout.splitlines()
    assert lines[0] == "[[1]]" and lines[1].startswith(
        "plot_curves: matplotlib must be installed (pip install 'tessera[plot]' or matplotlib), got"
    )
    assert lines[2].startswith("plot_confusion_matrix: matplotlib must be installed")
