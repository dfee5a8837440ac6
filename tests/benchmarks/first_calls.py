"""First calls of what the warm set is made for, and of strangers to it.

Strangers are the calls that tests/random draws: records' samples with other sizes, attributes and
dtypes. Both are counted by class: a call whose class another one had is none.
"""

import json

from eager_cache import ROOT, spread
from harness import Row, in_process

POPULATIONS = """
import functools, sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import tessera
from tessera import _core
from tests.records import samples
from tests.random import catalog, draw

OTHERS = ["bfloat16", "float16", "float64"]

def population():
    for record in samples.records().values():
        for sample in record.samples:
            dtypes = samples.dtypes_of(record, sample)
            first = next((each for each in ("float32", "int32") if each in dtypes), dtypes[0])
            for dtype in [first, *(each for each in OTHERS if each in dtypes and each != first)]:
                operands = samples.tensors(samples.arrays(record, sample, dtype))
                yield functools.partial(_core.apply, samples.operator(record, sample), *operands)

def strangers():
    records, weights = catalog.drawable()
    for seed in range(1000):
        random = np.random.RandomState(seed)
        record = records[random.choice(len(records), p=weights)]
        dtype = random.choice(["float32"] * 7 + OTHERS)
        drawn = catalog.draw_call(random, record, dtype, random.choice(draw.SIZES, 4))
        if all(np.prod(shape) <= 1 << 18 for shape, *_ in drawn.operands):
            arrays = [(samples.random_array(random, *each), each[1]) for each in drawn.operands]
            try:
                op = eval(f"cls({drawn.attrs})", {"cls": _core.op_class(record.opdef)})
            except ValueError:  # the draw does not fit
                continue
            yield functools.partial(_core.apply, op, *samples.tensors(arrays))
"""

MEASURE = """
import json, time
rows = []
for call in globals()[sys.argv[2]]():
    before, start = tessera.cache_stats(), time.perf_counter()
    try:
        call(); tessera.sync()
    except (IndexError, TypeError, ValueError):  # the draw does not fit
        continue
    first = time.perf_counter() - start
    after, start = tessera.cache_stats(), time.perf_counter()
    call(); tessera.sync()
    second = time.perf_counter() - start
    counts = {key: after[key] - before[key] for key in after}
    if counts["misses"]:
        rows.append([first - second - counts["primitive_seconds"], counts["compilations"]])
print(json.dumps(rows))
"""


def of(population):
    """The share of hits of the shipped set, and the time of a first call, beside its primitive."""
    rows = json.loads(in_process(POPULATIONS + MEASURE, ROOT, population, TESS_CACHE_DIR=""))
    hits = sum(not compilations for _, compilations in rows) / len(rows)
    title = f"first call, {population}"
    return [
        Row(f"{title}, share that the warm set answers", hits, ""),
        *spread(title, [seconds for seconds, _ in rows], "us", 1e6, None, None),
    ]


def first_calls():
    """Both."""
    return [*of("population"), *of("strangers")]


BENCHMARKS = {"eager_first_calls": first_calls}
