"""Oracles of linear algebra: what NumPy and SciPy have under other names, or with other signs."""

import numpy as np
import scipy.linalg


def of_symmetric(function, x):
    """What a function gives for the mean of matrices and their transposed."""
    return function((x + x.swapaxes(-1, -2)) / 2)


def _signs(vectors):
    """For each column the sign of its first largest element."""
    place = np.abs(vectors).argmax(-2) if vectors.size else np.zeros(vectors.shape[:-2], int)
    largest = np.take_along_axis(vectors, place[..., None, :], -2) if vectors.size else vectors
    return np.where(largest < 0, -1.0, 1.0)


def eigh(x):
    """Eigenvalues and vectors whose largest elements are positive."""
    w, v = np.linalg.eigh(x)
    return w, v * _signs(v)


def svd(x):
    """The reduced decomposition; the largest elements of left vectors are positive."""
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    signs = _signs(u)
    return u * signs, s, vh * signs.swapaxes(-1, -2) if u.size else vh


def solve_triangular(a, b, lower, transpose, unit_diagonal):
    """SciPy's, matrix by matrix."""
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (np.broadcast_to(x, batch + x.shape[-2:]) for x in (a, b))
    out = np.zeros(b.shape)
    for i in np.ndindex(batch):
        if out[i].size:
            out[i] = scipy.linalg.solve_triangular(
                a[i], b[i], int(transpose), lower, unit_diagonal=unit_diagonal
            )
    return out


def positive_definite(x):
    """A product of matrices with their transposed, beside which the diagonal is not small."""
    return x @ x.swapaxes(-1, -2) + np.eye(x.shape[-1]) * x.shape[-1]
