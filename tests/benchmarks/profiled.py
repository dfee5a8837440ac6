"""Time of whole networks while a profile is taken, beside the time without one."""

import time

import networks
import tessera
from harness import Row
from tessera import jit
from tessera.utils.profiler import Profiler

ROUNDS, CALLS = 12, 3
MOST = 1.05  # times as long


def shortest(function):
    """The least seconds of one call without and with a profile, in turns. Its JSON, which is made
    when it has ended, is no part of them."""
    plain, profiled, profiler = [], [], Profiler()

    def _once(times):
        start = time.perf_counter()
        function()
        tessera.sync()
        times.append(time.perf_counter() - start)

    for _ in range(ROUNDS):
        for _ in range(CALLS):
            _once(plain)
        profiler.start()
        for _ in range(CALLS):
            _once(profiled)
        profiler.stop()
    return min(plain), min(profiled)


def rows(name, eager):
    """Time with a profile over that without one, eager and traced."""
    traced = jit.trace(eager, symbolic=True)
    for mode, call in (("eager", eager), ("traced", traced)):
        for _ in range(3):
            call()
        plain, profiled = shortest(call)
        note = f"{1e3 * plain:.3g} ms without"
        yield Row(f"{name} {mode}, profiled", profiled / plain, "x", None, MOST, note=note)


def resnet18():
    """Inference of batch 8, 64 x 64."""
    net, images = networks.ResNet18(), tessera.tensor(networks.resnet_batch()[0])
    net.eval()
    return list(rows("ResNet-18 inference", lambda: net(images)))


def encoder():
    """A training step of four layers of width 256, 8 heads, 128 positions, batch 4."""
    step, batch = networks.encoder(), tuple(map(tessera.tensor, networks.encoder_batch()))
    return list(rows("Transformer encoder step", lambda: step(*batch)))


BENCHMARKS = {"profiled_resnet18": resnet18, "profiled_encoder": encoder}
