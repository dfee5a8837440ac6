"""The list of `tools/dev bench ops --peers`, without a peer: what it names can be called."""

import collections
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

import ops_peers  # noqa: E402

CALLS = list(ops_peers.calls())


def test_the_list_is_long_and_has_all_families():
    assert len({call.name for call in CALLS}) == len(CALLS) >= 100
    families = collections.Counter(call.family for call in CALLS)
    assert min(families.values()) >= 5, families


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_a_call_runs_and_has_the_gradients_that_are_timed(call):
    forward, backward = ops_peers.our_functions(call, ops_peers.values(call, 0))
    assert forward().size > 0
    if backward:
        grads = [grad for grad in backward() if grad is not None]
        assert grads and all(np.isfinite(grad.numpy()).all() for grad in grads)


def test_operands_are_what_a_specification_says():
    assert ops_peers.array("2,3", 0).shape == (2, 3)
    whole = ops_peers.array("i:9:50", 0)
    assert whole.dtype == np.int64 and whole.min() >= 0 and whole.max() < 9
    rows = ops_peers.array("p:3,50", 0)
    assert all(len(set(row)) == 50 for row in rows.tolist())
    matrix = ops_peers.array("+4", 0)
    assert (np.linalg.eigvalsh(matrix) > 0).all()
