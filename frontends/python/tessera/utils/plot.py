"""Curves of training and confusion matrices, drawn by matplotlib (the extra "plot").

>>> from tessera.utils.plot import plot_curves
>>> axes = plot_curves({"train": [2.0, 1.0, 0.5]}, ylabel="loss")
>>> axes.get_ylabel(), len(axes.lines)
('loss', 1)
"""

import numpy as np

from .._extras import importing

__all__ = ["confusion_matrix", "plot_confusion_matrix", "plot_curves"]


def confusion_matrix(labels, predictions, num_classes=None):
    """How often a class was taken for another one: int64[C, C], labels in rows.

    Args:
        labels, predictions: integer[N], the classes from 0 on; predictions may be
            float[N, C], of which the largest of a row counts
        num_classes: C; without it the largest class met, and one

    Raises:
        ValueError: both must have N entries, between 0 and C - 1
        TypeError: classes must be integers

    Example:
        >>> from tessera.utils.plot import confusion_matrix
        >>> confusion_matrix([0, 1, 1], [0, 1, 0]).tolist()
        [[1, 0], [1, 1]]
    """
    labels, predictions = np.asarray(labels), np.asarray(predictions)
    if predictions.ndim == 2:
        num_classes = num_classes or predictions.shape[1]
        predictions = predictions.argmax(axis=1)
    if labels.ndim != 1 or labels.shape != predictions.shape:
        raise ValueError(
            f"confusion_matrix: labels and predictions must have one entry each, got shapes "
            f"{labels.shape} and {predictions.shape}"
        )
    both = np.stack([labels, predictions])
    if both.dtype.kind not in "iu" and both.size:
        raise TypeError(f"confusion_matrix: classes must be integers, got {both.dtype}")
    both = both.astype(np.int64)
    classes = num_classes or both.max(initial=-1) + 1
    if both.size and not (both.min() >= 0 and both.max() < classes):
        raise ValueError(
            f"confusion_matrix: classes must be from 0 to {classes - 1}, "
            f"got {both.min()} to {both.max()}"
        )
    matrix = np.zeros((classes, classes), dtype=np.int64)
    np.add.at(matrix, tuple(both), 1)
    return matrix


def plot_curves(curves, xlabel="step", ylabel="", title="", log=False, axes=None):
    """Draws numbers over steps, a line for each name.

    Args:
        curves: {name: numbers[N]} or {name: (steps[N], numbers[N])}, tensors as well; gaps stay
            where numbers are NaN
        xlabel, ylabel, title: texts
        log: the vertical axis is logarithmic
        axes: matplotlib's, to draw into; without them those of a new figure

    Returns:
        the axes, whose `figure.savefig(path)` writes a picture

    Raises:
        ImportError: matplotlib must be installed
        ValueError: steps and numbers must be as many
    """
    axes = _new_axes("plot_curves") if axes is None else axes
    for name, values in curves.items():
        is_pair = isinstance(values, tuple) and len(values) == 2 and np.ndim(values[0]) == 1
        numbers = np.asarray(values[1] if is_pair else values, dtype=np.float64)
        steps = np.asarray(values[0]) if is_pair else np.arange(numbers.size)
        if steps.shape != numbers.shape or numbers.ndim != 1:
            raise ValueError(
                f"plot_curves: {name} must have a number for each step, got shapes {steps.shape} "
                f"and {numbers.shape}"
            )
        marker = "o" if numbers.size == 1 else None  # a line of one point cannot be seen
        axes.plot(steps, numbers, label=str(name), marker=marker)
    axes.set(xlabel=xlabel, ylabel=ylabel, title=title)
    if log:
        axes.set_yscale("log")
    axes.grid(alpha=0.3)
    if curves:
        axes.legend()
    return axes


def plot_confusion_matrix(matrix, class_names=None, normalize=False, title="", axes=None):
    """Draws a confusion matrix, a square with its number for each pair of classes.

    Args:
        matrix: number[C, C], as `confusion_matrix` makes it
        class_names: C texts; numbers without them
        normalize: shows shares of each row's sum; a row without entries stays 0
        title, axes: as those of `plot_curves`

    Returns:
        the axes

    Raises:
        ImportError: matplotlib must be installed
        ValueError: the matrix must be square, with a name for each class

    Example:
        >>> from tessera.utils.plot import plot_confusion_matrix
        >>> axes = plot_confusion_matrix([[3, 1], [0, 4]], ["cat", "dog"], normalize=True)
        >>> [text.get_text() for text in axes.texts]
        ['0.75', '0.25', '0.00', '1.00']
    """
    matrix = np.asarray(matrix)
    names = list(range(len(matrix))) if class_names is None else list(class_names)
    if matrix.ndim != 2 or matrix.shape != (len(names),) * 2:
        raise ValueError(
            f"plot_confusion_matrix: matrix must be square, with a name for each class, got shape "
            f"{matrix.shape} and {len(names)} names"
        )
    axes = _new_axes("plot_confusion_matrix") if axes is None else axes
    if normalize:
        matrix = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    axes.imshow(matrix, cmap="Blues", vmin=0)
    ticks = np.arange(len(names))
    axes.set_xticks(ticks, names, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(ticks, names)
    axes.set(xlabel="prediction", ylabel="label", title=title)
    middle = matrix.max(initial=0) / 2
    for row, column in np.ndindex(*matrix.shape):
        value = matrix[row, column]
        text = f"{value:.2f}" if matrix.dtype.kind == "f" else str(value)
        color = "white" if value > middle else "black"
        axes.text(column, row, text, ha="center", va="center", color=color)
    return axes


def _new_axes(tool):
    """Those of a figure that no window shows and nobody else holds."""
    with importing(tool, "matplotlib", "'tessera[plot]' or matplotlib"):
        from matplotlib.figure import Figure
    return Figure(layout="constrained").add_subplot()
