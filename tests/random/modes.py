"""The ways to run a program: with the bits of the eager run, or numbers near those in float64."""

import contextlib
import re
import threading

import tessera
from tessera import _core, amp, jit
from tessera.autodiff import detect_anomaly
from tessera.device import Device

from tests.random.around import around
from tests.random.estimates import limited, without_values
from tests.random.files import free, loaded, sim_run, smaller_isa, tess_run
from tests.random.float64 import fast, float64
from tests.random.gradients import gradient_dropped, gradient_outside, sim_gradient
from tests.random.graphs import traced_module
from tests.random.interchange import onnx
from tests.random.networks import network, nodes, partitioned
from tests.random.observe import (
    CALLS,
    SkippedError,
    difference,
    eager,
    fresh,
    observed,
    skipping_refusals,
)
from tests.random.outside import outside
from tests.random.program import REFUSALS
from tests.random.settings import dropped, profiled, recorded, setting, without_winograd
from tests.support.helper import as_list, bits

# Modes: each takes a program and returns the text of a difference.


def traced(program, what="traced", **options):
    """Three calls of a trace, with other data each."""
    expected = eager(program)
    function, captured = program.instance()
    return difference(observed(jit.trace(function, **options), program, captured), expected, what)


def symbolic(program):
    """Lazy first calls."""
    return traced(program, "symbolic", symbolic=True)


def unfused(program):
    """One kernel for each operator."""
    return traced(program, "unfused", without_fusion=True)


def in_little_memory(program):
    """Traced for a goal that no program reaches: what can be computed again is not kept."""
    config = jit.DTRConfig(eviction_threshold=1)
    return traced(program, "in little memory", dtr_config=config)


def donated(program):
    """Results in the memory of the arguments: nobody looks at those afterwards."""
    if any(s.writes for s in program.statements):
        raise SkippedError("an argument may be written in place")
    function, captured = program.instance()
    positions = tuple(range(len(program.of_kind("argument"))))
    call, rows = jit.trace(function, donate_argnums=positions), []
    tessera.seed(program.seed)
    for seed in CALLS:
        rows.append((bits(as_list(call(*program.arguments(seed)))), []))
    wanted, kept = eager(program)
    return difference(
        (rows, bits(list(captured.values()))), ([(row, []) for row, _ in wanted], kept), "donated"
    )


def autocast(program):
    """Each operator in the precision of its record: within a trace, and around one."""
    low = ("float16", "bfloat16")[program.seed % 2]

    def run(wrap):
        function, captured = program.instance()
        return observed(wrap(function), program, captured)

    def cast(function):
        return amp.autocast(low_prec_dtype=low)(function)

    with skipping_refusals():
        expected = run(cast)
    try:
        within, around = run(lambda f: jit.trace(cast(f))), run(lambda f: cast(jit.trace(f)))
    except ValueError as error:
        if "body must return each carried value" in str(error):  # eager makes no trip
            raise SkippedError(str(error)) from None
        raise
    found = difference(within, expected, "autocast")
    return found or difference(around, expected, "autocast around a trace")


def _threads(count):
    def mode(program):
        before = eager(program)
        calls = tessera.cache_stats()["results_of_libraries"]
        with setting(tessera.config.get_num_threads, tessera.config.set_num_threads, count):
            found = traced(program, f"traced with {count} threads")
            with contextlib.suppress(SkippedError):
                found = found or loaded(program)
            now = eager(program)
        if tessera.cache_stats()["results_of_libraries"] == calls and not found:
            found = difference(now, before, f"{count} threads beside one")
        return found

    mode.__doc__ = f"{count} threads; without library calls the bits of one."
    return mode


def level_0(program):
    """Every operator at once, on the calling thread."""
    expected = eager(program)
    with setting(tessera.config.get_async_level, tessera.config.set_async_level, 0):
        function, captured = program.instance()
        found = difference(observed(function, program, captured), expected, "async level 0")
        return found or traced(program, "traced at async level 0")


# The message of detect_anomaly about an operator.
_ANOMALY = re.compile(r"\w+: .*must be finite, got")


def anomaly(program):
    """Within detect_anomaly, eagerly and traced: the bits of all calls, or an operator that makes
    a NaN or an infinity, in both.
    """
    expected, refused = eager(program), []
    for wrap, what in ((lambda f: f, "anomaly"), (jit.trace, "traced, anomaly")):
        function, captured = program.instance()
        try:
            with detect_anomaly():
                got = observed(wrap(function), program, captured)
        except ValueError as error:
            if not _ANOMALY.match(str(error)):
                raise
            refused.append(str(error).partition(":")[0])
            continue
        if refused:
            return f"{what}: nothing said, where eager named {refused[0]}"
        if found := difference(got, expected, what):
            return found
    if len(refused) == 1:
        return f"traced, anomaly: {refused[0]} named, where eager named nothing"
    if refused:
        raise SkippedError(f"{refused[0]} makes a NaN or an infinity")
    return ""


def again(program):
    """Eager calls that have come back: gradients and composites have become programs."""
    first = eager(program)
    eager(program), eager(program)
    return difference(eager(program), first, "eager again")


def two_threads(program):
    """Two Python threads share one trace."""
    if program.optimizer or program.stochastic or any(s.writes for s in program.statements):
        raise SkippedError("threads would share a state")
    function, _ = program.instance()
    call = jit.trace(function)
    call(*program.arguments(CALLS[0])), call(*program.arguments(CALLS[0]))
    expected = [row for row, _ in fresh(program)]
    found = []

    def work(offset):
        try:
            for turn in range(6):
                number = (turn + offset) % len(CALLS)
                got = bits(as_list(call(*program.arguments(CALLS[number]))))
                if got != expected[number]:
                    found.append(
                        difference(([(got, [])], []), ([(expected[number], [])], []), "two threads")
                    )
        except Exception as error:  # noqa: BLE001: told by the thread that waits
            found.append(f"two threads: {error!r}")

    workers = [threading.Thread(target=work, args=(offset,)) for offset in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return found[0] if found else ""


def aliased(program):
    """One tensor in two places at some calls: two arguments, or one and a captured tensor."""
    alike = [(a, b) for n, a in enumerate(program.inputs) for b in program.inputs[n + 1:]
             if (a.shape, a.dtype, a.free) == (b.shape, b.dtype, b.free)
             and "argument" in (a.kind, b.kind)]  # fmt: skip
    if not alike:
        raise SkippedError("no two inputs are alike")
    pair, together = alike[program.seed % len(alike)], ((0, 1), (2,))[program.seed % 2]

    def rows(wrap):
        function, captured = program.instance()
        call, seen = wrap(function), []
        tessera.seed(program.seed)
        for number, seed in enumerate((CALLS[0], CALLS[0], CALLS[1], CALLS[0])):
            tensors = dict(captured)
            names = [each.name for each in program.of_kind("argument")]
            tensors.update(zip(names, program.arguments(seed), strict=True))
            if number in together:
                argument, other = pair if pair[0].kind == "argument" else pair[::-1]
                tensors[argument.name] = tensors[other.name]
            arguments = [tensors[name] for name in names]
            seen.append((bits(as_list(call(*arguments))), bits(arguments)))
        return seen, bits(list(captured.values()))

    with skipping_refusals():
        expected = rows(lambda function: function)
    return difference(rows(jit.trace), expected, f"{pair[0].name} is {pair[1].name}")


def resized(program):
    """Calls of one trace at several sizes of the free dimension, those that eager takes."""
    if not program.has_free:
        raise SkippedError("nothing is free")
    first = next(each for each in program.inputs if each.free).shape[0]
    sizes = [first, first, first + 3, first * 2, 2, 1, first + 3, first]

    def rows(wrap, given):
        function, captured = program.instance()
        call, seen = wrap(function), []
        tessera.seed(program.seed)
        for number, size in enumerate(given):
            arguments = program.arguments(CALLS[number % len(CALLS)], size)
            seen.append((bits(as_list(call(*arguments))), bits(arguments)))
        tessera.sync()
        return seen, bits(list(captured.values()))

    def is_taken(size):
        with contextlib.suppress(*REFUSALS):
            rows(lambda function: function, [size])
            return True
        return False

    taken = [size for size in sizes if is_taken(size)]
    with skipping_refusals():
        expected = rows(lambda function: function, taken)
    return difference(rows(jit.trace, taken), expected, f"sizes {taken}")


def sim(program):
    """On the emulated accelerator, eagerly and traced; its work in an order of the seed's."""
    expected = eager(program)
    _core.seed_sim_device(program.seed)
    with setting(tessera.get_default_device, tessera.set_default_device, "sim0"):
        function, captured = program.instance()
        found = difference(observed(function, program, captured), expected, "sim0")
        function, captured = program.instance()
        return found or difference(
            observed(jit.trace(function), program, captured), expected, "traced on sim0"
        )


def _draws(device):
    """Whether the generator of a device was drawn from since the program began."""
    return tessera.random.default_rng.on(Device(device)).state_dict()["offset"] > 0


def sim_inputs(program):
    """Its tensors on the emulated accelerator; what it makes of none is made on the host."""
    expected = eager(program)
    with setting(tessera.get_default_device, tessera.set_default_device, "sim0"):
        kept = [program.instance() for _ in range(2)]

    def called(function):
        def call(*arguments):
            with setting(tessera.get_default_device, tessera.set_default_device, "cpu0"):
                return function(*arguments)

        return call

    def run(wrap, pair, what):
        with setting(tessera.get_default_device, tessera.set_default_device, "sim0"):
            got = observed(called(wrap(pair[0])), program, pair[1])
        if _draws("cpu0") and _draws("sim0"):
            raise SkippedError("each of two devices draws from its own generator")
        return difference(got, expected, what)

    try:
        found = run(lambda function: function, kept[0], "inputs on sim0")
        return found or run(jit.trace, kept[1], "traced with inputs on sim0")
    except ValueError as error:
        if "must be on one device" in str(error):  # it makes tensors of its own
            raise SkippedError(str(error)) from None
        raise


ALWAYS = {"traced": traced, "loaded": loaded}
DRAWN = {
    "symbolic": symbolic,
    "unfused": unfused,
    "in_little_memory": in_little_memory,
    "limited": limited,
    "without_values": without_values,
    "donated": donated,
    "autocast": autocast,
    "smaller_isa": smaller_isa,
    "tess_run": tess_run,
    "network": network,
    "nodes": nodes,
    "partitioned": partitioned,
    "onnx": onnx,
    "traced_module": traced_module,
    "sim": sim,
    "sim_gradient": sim_gradient,
    "sim_inputs": sim_inputs,
    "sim_run": sim_run,
    "threads_1": _threads(1),
    "threads_2": _threads(2),
    "threads_3": _threads(3),
    "threads_8": _threads(8),
    "without_winograd": without_winograd,
    "profiled": profiled,
    "recorded": recorded,
    "dropped": dropped,
    "gradient_dropped": gradient_dropped,
    "level_0": level_0,
    "anomaly": anomaly,
    "again": again,
    "free": free,
    "resized": resized,
    "two_threads": two_threads,
    "gradient_outside": gradient_outside,
    "aliased": aliased,
    "around": around,
    "float64": float64,
    "fast": fast,
    "outside": outside,
}
ALL = {**ALWAYS, **DRAWN}
# The modes of a device, for campaigns on it alone.
DEVICES = {"sim0": ("sim", "sim_gradient", "sim_inputs", "sim_run")}
