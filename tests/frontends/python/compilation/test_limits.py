"""Nothing grows for ever: each cache, driven to its limit, stays within it."""

import json
import os
import subprocess
import sys

import pytest

# What a process does that fills a cache, and the statistics that say how full it is.
FILLING = {
    "operators": (
        "bytes",
        "limit",
        "config.set_cache_limit(1 << 18)\n"
        "for n in range(1, 400):\n"
        "    F.sum(tensor(2, 3, n % 7 + 1), n % 3)\n"
        "    F.norm(tensor(4), ord=n + 0.5)\n",
    ),
    "bindings of operators": (
        "binding_bytes",
        "binding_limit",
        "config.set_cache_limit(1 << 22)\n"
        "for n in range(1, 400):\n"
        "    F.matmul(tensor(n, 3), tensor(3, 2))\n"
        "    F.softmax(tensor(n, 3), 1)\n",
    ),
    "primitives of the library": (
        "primitive_bytes",
        "primitive_limit",
        "for n in range(40, 240):\n"
        "    F.matmul(tensor(n, 64), tensor(64, 64))\n"
        "for n in range(8, 1600):\n"
        "    F.avg_pool2d(tensor(1, 16, 8, n), 2)\n",
    ),
    "gradient graphs": (
        "backward_plan_bytes",
        "backward_plan_limit",
        "x = tensor(4)\n"
        "for n in range(6000):\n"
        "    with GradManager().attach(x) as manager:\n"
        "        manager.backward(F.sum(apply(builtin.Pad(low=[n], high=[1]), F.sin(x))[0]))\n"
        "    x.grad = None\n",
    ),
}

PROGRAM = """
import json
import numpy as np
import tessera
import tessera.functional as F
from tessera import config
from tessera.autodiff import GradManager
from tessera.core import apply
from tessera.core.ops import builtin

def tensor(*shape):
    return tessera.Tensor(np.ones(shape, dtype=np.float32))

{fill}
tessera.sync()
print(json.dumps(tessera.cache_stats()))
"""


@pytest.mark.parametrize("what", FILLING)
def test_a_cache_stays_within_its_limit(what):
    held, limit, fill = FILLING[what]
    env = {**os.environ, "TESS_CACHE_DIR": ""}
    command = [sys.executable, "-c", PROGRAM.format(fill=fill)]
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    stats = json.loads(done.stdout)
    assert 0 < stats[limit] < 1 << 40
    assert stats[limit] / 2 < stats[held] <= stats[limit], "full, and no fuller"
