"""Random numbers: Philox4x32-10 of Salmon and others, 2011, in Python's integers."""

import numpy as np

_MASK = 0xFFFFFFFF


def _philox(seed, counter):
    words = [counter & _MASK, counter >> 32 & _MASK, 0, 0]
    keys = [seed & _MASK, seed >> 32 & _MASK]
    for _ in range(10):
        p, q = words[0] * 0xD2511F53, words[2] * 0xCD9E8D57
        words = [q >> 32 ^ words[1] ^ keys[0], q & _MASK, p >> 32 ^ words[3] ^ keys[1], p & _MASK]
        keys = [(keys[0] + 0x9E3779B9) & _MASK, (keys[1] + 0xBB67AE85) & _MASK]
    return words


def _unit(high, low, wide):
    return ((high << 21) | (low >> 11)) * 2.0**-53 if wide else (high >> 8) * 2.0**-24


def _draw(seed, offset, shape, function):
    counters = range(int(offset), int(offset) + int(np.prod(shape)))
    return np.array([function(_philox(int(seed), c)) for c in counters]).reshape(shape)


def philox_uniform(seed, offset, shape, dtype):
    """Numbers of [0, 1): 53 bits for float64, else 24."""
    wide = dtype == "float64"
    return _draw(seed, offset, shape, lambda w: _unit(w[0], w[1], wide))


def philox_normal(seed, offset, shape, dtype):
    """Box and Muller's transformation of two uniform numbers."""
    wide = dtype == "float64"

    def number(w):
        u, v = 1 - _unit(w[0], w[1], wide), _unit(*(w[2:] if wide else (w[1], w[1])), wide)
        return np.sqrt(-2 * np.log(u)) * np.cos(2 * np.pi * v)

    return _draw(seed, offset, shape, number)


def dropout(x, seed, offset, p):
    """Elements whose uniform number is below p are 0; the mask is a hidden result."""
    kept = _draw(seed, offset, x.shape, lambda w: _unit(w[0], w[1], False)) >= p
    return np.where(kept, x / (1 - p), 0)
