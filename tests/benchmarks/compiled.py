"""Whole networks and single operators, traced, beside all peers: each row in turns in one run.

`tools/dev bench compiled --peers` measures all; a part of a benchmark's name chooses rows. Outputs
must agree with PyTorch's, and those of each other peer with Tessera's, before they are timed.
"""

import gc
import re
import sys

import limits
import numpy as np
import peers
from harness import Row, interleaved
from peers import catalog

ROUNDS, SECONDS, REST = 7, 0.05, 0.005
TOLERANCES = {"float32": 1e-3, "bfloat16": 5e-2}  # of the largest element


def told(column, title, error):
    """Says why a column is empty."""
    text = str(error).strip().splitlines()
    print(f"bench: {column} has no figure for {title}: {type(error).__name__}: {text[:1]}",
          file=sys.stderr, flush=True)  # fmt: skip


def functions_of(adapters, method, network, title):
    """{column: (adapter, function)} of those that compute the network."""
    inputs, found = network.arrays(), {}
    for column, adapter in adapters.items():
        try:
            function = adapter and getattr(adapter, method)(network, inputs)
            if function:
                found[column] = adapter.arrays(function()), function
        except Exception as error:  # a peer's failure is an empty column
            told(column, title, error)
    return found


def largest_error(ours, theirs):
    """Largest difference, as a part of the largest element."""
    return np.abs(ours - theirs).max() / np.abs(ours).max()


def check(title, found, tolerance, error=largest_error):
    """Raises RuntimeError unless all have computed the same: `error` of two arrays is at most
    `tolerance`.
    """
    (first, wanted), *others = ((column, arrays) for column, (arrays, _) in found.items())
    for column, arrays in others:
        for ours, theirs in zip(wanted, arrays, strict=True):
            if ours.shape != theirs.shape or not error(ours, theirs) <= tolerance:
                raise RuntimeError(f"bench: {title}: {column} computes what {first} does not")


def row_of(title, values, unit, limit=None):
    """A Row of figures by column."""
    theirs = {column: values.get(column) for column in peers.COLUMNS}
    best = min((each for each in theirs.values() if each is not None), default=None)
    return Row(title, values.get("Tessera"), unit, best, peers=theirs, limit=limit)


def timed(title, method, network, agree=None, limit=limits.seconds, rounds=ROUNDS,
          seconds=SECONDS):  # fmt: skip
    """The Row of one network, in ms. `agree` is (tolerance, error) as check() takes them, None:
    that of the dtype; `limit` gives the least seconds of a call of the network, or None.
    """
    adapters = {"Tessera": peers.load("Tessera"), **peers.wanted()}
    found = functions_of(adapters, method, network, title)
    if found:
        check(title, found, *(agree or (TOLERANCES[network.dtype],)))
    functions = [function for _, function in found.values()]
    times = interleaved(*functions, rounds=rounds, seconds=seconds, rest=REST)
    values = {column: each * 1e3 for column, each in zip(found, times, strict=True)}
    gc.collect()
    least = limit(network)
    return row_of(title, values, "ms", least and least * 1e3)


def named(prefix, rows, measure):
    """Benchmarks of one row each, by their names; `measure` makes a Row of title and network."""
    return {
        prefix + re.sub("[^a-z0-9]+", "_", title.lower()): (
            lambda title=title, network=network: [measure(title, network)]
        )
        for title, network in rows.items()
    }


def by_method(method):
    """A function that measures networks by a method of the adapters."""
    return lambda title, network: timed(title, method, network)


BENCHMARKS = {
    **named("compiled_", catalog.INFERENCE, by_method("inference")),
    **named("compiled_", catalog.TRAINING, by_method("training_step")),
    **named("compiled_", catalog.EAGER, by_method("eager_step")),
}
