"""Drawn pictures: equal for a seed, of every class, and told apart without noise."""

import numpy as np

from tests.benchmarks import drawn


def test_pictures_of_a_seed():
    images, labels = drawn.pictures(3, 200)
    again, same = drawn.pictures(3, 200)
    assert np.array_equal(images, again) and np.array_equal(labels, same)
    assert images.shape == (200, 3, 32, 32) and images.dtype == np.float32
    assert set(labels.tolist()) == set(range(drawn.CLASSES))
    assert not np.array_equal(images, drawn.pictures(4, 200)[0])


def test_a_picture_has_two_colors_and_noise():
    plain, labels = drawn.pictures(5, 100, noise=0.0)
    noisy, same = drawn.pictures(5, 100, noise=0.5)
    assert np.array_equal(labels, same) and abs((noisy - plain).std() - 0.5) < 0.01
    counts = [len(np.unique(image.reshape(3, -1), axis=1).T) for image in plain]
    assert max(counts) == 2 and np.mean(counts) > 1.95
