"""Networks that train in half of the memory they would take: their time beside that without a
limit, what was predicted, and how much of the memory that is reserved is used.
"""

import gc

import tessera
from harness import Row, interleaved, synced
from peers import catalog, own, own_networks
from peers.network import Input, Network
from tessera import config, device, dtr
from tessera.jit import estimate, trace

MOST_TRACED, MOST_EAGER, MOST_ERROR = 1.2, 1.3, 2  # times, times, percent
MIB = 1 << 20
NETWORKS = {
    "resnet_50": ("ResNet-50 training b8",
                  Network("resnet", (50,), (Input((8, 3, 224, 224)), Input((8,), 1000)),
                          "cross_entropy")),
    "encoder": ("Transformer encoder training",
                catalog.TRAINING["Transformer encoder training"]),
}  # fmt: skip


class Training:
    """A network's step; each has a model of its own."""

    def __init__(self, network):
        self.inputs = own_networks.tensors(network, network.arrays())
        model = own_networks.build(network).train()
        optimizer = own.MAKERS[network.optimizer](model.parameters())
        self.step = own_networks.training(model, own_networks.LOSSES[network.loss], optimizer)
        self.step(*self.inputs)  # makes the state of the optimizer

    def traced(self, **options):
        """A call of a trace of the step, and the bytes that the first one takes."""
        step = trace(self.step, symbolic=True, **options)
        run = synced(lambda: step(*self.inputs))
        return run, peak_of(run)


def peak_of(run):
    """Bytes that a call allocates at once beside those that are held before it."""
    gc.collect()
    device.reset_max_memory_stats()
    held = device.get_allocated_memory()
    run()
    return device.get_max_allocated_memory() - held


def traced_rows(name, network):
    config.set_trace_limit(8 << 30)  # two programs with their arenas
    training = Training(network)
    predicted = estimate(training.step, *training.inputs)
    limit = predicted.peak // 2
    within = estimate(training.step, *training.inputs, memory_limit=limit)
    plain, taken = training.traced()
    measured = {"plain": (predicted.peak, taken)}
    limited, taken = Training(network).traced(memory_limit=limit)
    measured["within a half"] = within.peak, taken
    one, two = (t * 1e3 for t in interleaved(limited, plain, rounds=5))
    note = f"{measured['within a half'][1] / MIB:.0f} of {measured['plain'][1] / MIB:.0f} MiB"
    found = [Row(f"{name}, traced, half the memory (PyTorch column: without a limit)", one, "ms",
                 two, 1 / MOST_TRACED, True, note)]  # fmt: skip
    for kind, (expected, real) in measured.items():
        error = abs(expected - real) / real * 100
        found.append(Row(f"{name}, {kind}: predicted beside measured memory", error, "%",
                         target=MOST_ERROR))  # fmt: skip
    return found


def eager_rows(name, network):
    training = Training(network)
    plain = synced(lambda: training.step(*training.inputs))
    plain()
    whole = peak_of(plain)
    used = device.get_max_allocated_memory()
    reserved = device.get_max_reserved_memory()
    threshold = device.get_allocated_memory() + whole // 2

    def evicting():
        dtr.eviction_threshold = threshold
        dtr.enable()
        try:
            plain()
        finally:
            dtr.disable()
            dtr.eviction_threshold = 0

    evicting()
    note = f"{peak_of(evicting) / MIB:.0f} of {whole / MIB:.0f} MiB"
    one, two = (t * 1e3 for t in interleaved(evicting, plain, rounds=5))
    return [
        Row(f"{name}, eager, half the memory by dtr (PyTorch column: without)", one, "ms", two,
            1 / MOST_EAGER, True, note),
        Row(f"{name}, eager: reserved over allocated memory", reserved / used, "times"),
    ]  # fmt: skip


def rows(name):
    title, network = NETWORKS[name]
    found = traced_rows(title, network)
    tessera.device.coalesce_free_memory()
    return found + eager_rows(title, network)


BENCHMARKS = {f"fit_memory_{name}": lambda name=name: rows(name) for name in NETWORKS}
