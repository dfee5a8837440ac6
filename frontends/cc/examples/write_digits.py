"""Writes scikit-learn's handwritten digits as two CSV files, to train on and held out."""

import sys

import numpy as np
from sklearn import datasets

SPLIT_SEED = 20240229
HELD_OUT = 360

train, held_out = sys.argv[1:]
digits = datasets.load_digits()
rows = np.concatenate([digits.data, digits.target[:, None]], axis=1).astype(np.int64)
rows = rows[np.random.RandomState(SPLIT_SEED).permutation(len(rows))]
np.savetxt(held_out, rows[:HELD_OUT], fmt="%d", delimiter=",")
np.savetxt(train, rows[HELD_OUT:], fmt="%d", delimiter=",")
