"""The pictures that the examples learn from, which scikit-learn ships: 1797 handwritten digits, and
two photographs, of a temple in China and of a flower.
"""

import functools

import numpy as np

HELD_OUT = 360  # digits, and the last columns of the photographs, that nothing is trained on
SHADES = " .:-=+*#%@"  # of a printed picture


@functools.cache
def digits():
    """float32[1797, 8, 8] of 0 to 1, and what they are: int32[1797]."""
    from sklearn import datasets

    found = datasets.load_digits()
    order = np.random.RandomState(20240229).permutation(len(found.images))
    return (found.images[order] / 16).astype(np.float32), found.target[order].astype(np.int32)


@functools.cache
def photographs():
    """float32[2, 3, 106, 160] of -1 to 1: each pixel is the mean of 4 by 4."""
    from sklearn import datasets

    images = np.stack(datasets.load_sample_images().images)[:, :424] / 127.5 - 1
    small = images.reshape(2, 106, 4, 160, 4, 3).mean((2, 4))
    return small.transpose(0, 3, 1, 2).astype(np.float32)


def some_digits(random, count, held_out=False):
    """`count` digits and what they are."""
    images, labels = digits()
    low, high = (0, HELD_OUT) if held_out else (HELD_OUT, len(labels))
    chosen = random.randint(low, high, count)
    return images[chosen], labels[chosen]


def crops(random, count, size=32, held_out=False):
    """float32[count, 3, size, size] from random places, and the photographs they are of."""
    images = photographs()
    low, high = (160 - size - 8, 161 - size) if held_out else (0, 160 - 2 * size)
    labels = random.randint(0, 2, count).astype(np.int32)
    rows, columns = random.randint(0, 107 - size, count), random.randint(low, high, count)
    places = zip(labels, rows, columns, strict=True)
    return np.stack([images[n, :, y : y + size, x : x + size] for n, y, x in places]), labels


def parts(seed, count, held_out=False):
    """A batch: float32[count, 3, 32, 32], and for each 0: temple, or 1: flower."""
    return crops(np.random.RandomState(seed), count, held_out=held_out)


def show(images):
    """Prints pictures, float[N, H, W] of 0 to 1, side by side."""
    for rows in zip(*(images.clip(0, 0.99) * len(SHADES)).astype(int), strict=True):
        print("   ".join("".join(SHADES[shade] * 2 for shade in row) for row in rows))
