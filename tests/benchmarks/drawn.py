"""Pictures of shapes and textures, drawn by NumPy from a seed: what small networks tell apart."""

import numpy as np

SIZE = 32
_COLORS = 3


def _triangle(u, v):
    return np.maximum(np.abs(u) * 1.7 + v, -v)


def _grid(u, v):
    return np.cos(2 * np.pi * u) + np.cos(2 * np.pi * v)


# Functions of coordinates around the middle of a drawing, which is where they are positive.
_KINDS = [
    lambda u, v: 1 - np.hypot(u, v),  # disc
    lambda u, v: 0.25 - np.abs(np.hypot(u, v) - 0.9),  # ring
    lambda u, v: 0.9 - np.maximum(np.abs(u), np.abs(v)),  # square
    lambda u, v: 0.22 - np.abs(np.maximum(np.abs(u), np.abs(v)) - 0.85),  # frame
    lambda u, v: 0.75 - _triangle(u, v),  # triangle
    lambda u, v: np.minimum(0.3 - np.minimum(np.abs(u), np.abs(v)),
                            1.1 - np.maximum(np.abs(u), np.abs(v))),  # cross
    lambda u, v: np.sin(2 * np.pi * u),  # stripes
    lambda u, v: np.sin(2 * np.pi * u) * np.sin(2 * np.pi * v),  # chequers
    lambda u, v: _grid(u, v) - 0.8,  # dots
    lambda u, v: np.sin(2 * np.pi * np.hypot(u, v)),  # circles within circles
]  # fmt: skip
CLASSES = len(_KINDS)


def pictures(seed, count, noise=0.5):
    """float32[count, 3, 32, 32] of mean 0 about, and what they are: int32[count].

    Place, size, angle, both colours and the contrast are random, a drawing is brighter than what is
    around it, and normal noise is added.
    """
    random = np.random.default_rng(seed)
    labels = random.integers(0, CLASSES, count).astype(np.int32)
    masks = np.zeros((count, 1, SIZE, SIZE), np.float32)
    for image, label in zip(masks[:, 0], labels, strict=True):
        image[...] = _KINDS[label](*_coordinates(random)) > 0
    colors = random.normal(size=(2, count, _COLORS, 1, 1)).astype(np.float32)
    contrast = random.uniform(0.5, 1, (count, 1, 1, 1)).astype(np.float32)
    gap = np.abs(colors[1]) / np.linalg.norm(colors[1], axis=1, keepdims=True) * 1.7 * contrast
    images = 0.5 * colors[0] + gap * (masks - 0.5)
    images += noise * random.standard_normal(images.shape, np.float32)
    return images, labels


def _coordinates(random):
    """Coordinates of the pixels in the system of a drawing that is turned, moved and scaled."""
    size, angle = random.uniform(6, 11), random.uniform(0, 2 * np.pi)
    x, y = np.meshgrid(*(np.arange(SIZE) - SIZE / 2 - random.uniform(-3, 3) for _ in range(2)))
    u, v = x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)
    return u / size, v / size
