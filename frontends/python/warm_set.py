"""Compiles the operators that ship with the package, for each level of the processor.

    warm_set.py SAMPLES_JSON OUTPUT_FOLDER

The population they are taken from, what matters most first, as many as fit:
1. the first two training steps of each network in frontends/examples;
2. every sample of every record, in float32 or int32 where the record has it, else its first dtype;
3. every record that reduces one operand along one axis of up to three, in float32;
4. every record in every dtype, with its sample of the highest ranks;
5. every sample of every record in the other floats.
`tools/dev bench eager_first_calls` says how many calls outside of it are answered all the same.
"""

import functools
import json
import sys
from pathlib import Path

import digits_net
import networks
import numpy as np
import tessera
from tessera import _core

LEVELS = ("x86-64-v3", "x86-64-v4")
MAX_BYTES = 6_000_000  # in all levels together
LONG = _core.dtype_table()
FIRST = ("float32", "int32")  # the dtypes that most programs use
FLOATS = ("bfloat16", "float16", "float64")  # the other dtypes of floats
RARE = (
    "uint16",
    "uint32",
    "uint64",
    "float8_e4m3fn",
    "float8_e5m2",
    "complex64",
    "complex128",
    "intb1",
    "intb2",
    "intb4",
)  # compiled at their first call; fmt: skip


def run_examples():
    """The first two steps of each network, without a trace."""
    images = np.zeros((128, 1, 8, 8), np.float32), np.zeros(128, np.int32)
    digits_net.Training(images, seed=0, epochs=1, traced=False).run()
    for build, batch in (
        (networks.mlp, networks.mlp_batch),
        (networks.resnet18, networks.resnet_batch),
        (networks.encoder, networks.encoder_batch),
    ):
        inputs, target = batch()
        target = target.astype("int32") if target.dtype.kind == "i" else target
        step = build()
        for _ in range(2):
            step(tessera.tensor(inputs), tessera.tensor(target))


def operands_of(record, shapes):
    """The operand of the record that each shape belongs to: a variadic one takes what is left."""
    extra = len(shapes) - sum(each["arity"] == "one" for each in record["operands"])
    result = []
    for operand in record["operands"]:
        count = {"one": 1, "variadic": extra, "optional": min(extra, 1)}[operand["arity"]]
        extra -= count if operand["arity"] != "one" else 0
        result += [operand] * count
    return result


def dtype_of(operand, wanted):
    """`wanted`, or what the operand has instead."""
    dtypes = [LONG.get(each, each) for each in operand["dtypes"]]
    return next((each for each in (wanted, *FIRST) if each in dtypes), dtypes[0])


def attribute(text):
    """An attribute of a sample: JSON, or a dtype."""
    text = text.strip()
    if text in LONG or "<" in text:  # a quantized dtype has one name
        return LONG.get(text, text)
    return json.loads(text.replace("INFINITY", "Infinity"))


def attributes(text):
    """The attributes of "axes=[0];keepdims=true"."""
    pairs = (part.split("=", 1) for part in text.split(";") if part.strip())
    return {name.strip(): attribute(value) for name, value in pairs}


def dtypes_of(record, sample):
    """The dtypes of the first operand, what most programs use first; [None] without an operand."""
    operands = record["operands"] if sample["shapes"] else []
    dtypes = [
        LONG.get(each, each)
        for each in sample["dtypes"] or (operands[0]["dtypes"] if operands else [])
    ]
    dtypes = [each for each in dtypes if each not in RARE]
    return sorted(dtypes, key=lambda each: each not in FIRST) or [None]


def numbers(shape, dtype, high):
    """A tensor of ones; of floats with twos on the diagonals of matrices, which LAPACK takes; none
    above `high`, so that an index stays one.
    """
    values = np.ones(shape)
    if dtype.startswith(("float", "bfloat")) and len(shape) > 1:
        values += np.eye(*shape[-2:])
    return tessera.Tensor(np.minimum(values, high), dtype=dtype)


def highest(sample):
    """The largest number of each operand."""
    highs = [float(text) for text in sample["high"].split(";")]
    return highs + highs[-1:] * (len(sample["shapes"]) - len(highs))


def run_sample(record, sample, dtype):
    """One call of the record's operator."""
    shapes = [[int(n) for n in text.split(",") if n.strip()] for text in sample["shapes"]]
    tensors = [
        numbers(shape, dtype_of(operand, dtype), high)
        for operand, shape, high in zip(
            operands_of(record, shapes), shapes, highest(sample), strict=False
        )
    ]
    op = _core.op_class(record["opdef"])(**attributes(sample["attrs"]))
    _core.apply(op, *tensors)


def run_samples(records):
    """Every sample of every record, in one dtype."""
    for record in records:
        for sample in record["samples"]:
            run_sample(record, sample, dtypes_of(record, sample)[0])


def run_axes(records):
    """Every reduction of one operand, along one axis."""
    for record in records:
        attrs = {name for sample in record["samples"] for name in attributes(sample["attrs"])}
        if len(record["operands"]) != 1 or not {"axes", "keepdims"} <= attrs:
            continue
        dtype = dtype_of(record["operands"][0], FIRST[0])
        for rank in range(1, 4):
            x = tessera.Tensor(np.ones([2] * rank), dtype=dtype)
            for axis in range(rank):
                _core.apply(_core.op_class(record["opdef"])(axes=[axis]), x)


def run_layouts(_):
    """Copies of turned, cut and stepped tensors: operators ask for row-major operands."""
    for dtype in ("float32", "float16", "int8", "float64"):
        for rank in range(1, 5):
            x = tessera.Tensor(np.ones([4] * rank), dtype=dtype)
            cut = [slice(3)] * (rank - 1)
            for view in (x[..., ::2], x.transpose(*reversed(range(rank))), x[:, *cut]):
                view.numpy()


def run_dtypes(records):
    """Every record in every dtype, with its sample of the highest ranks."""
    for record in records:
        if samples := [each for each in record["samples"] if "0" not in each["shapes"]]:
            largest = max(samples, key=lambda each: sum(map(len, each["shapes"])))
            for dtype in dtypes_of(record, largest):
                run_sample(record, largest, dtype)


def run_floats(records):
    """Every sample of every record, in the floats that fewer programs use."""
    for dtype in FLOATS:
        for record in records:
            for sample in record["samples"]:
                if dtype in dtypes_of(record, sample):
                    run_sample(record, sample, dtype)


def classes(records):
    """Texts of the classes, what matters most first."""
    wanted = {}  # broadcasts of different ranks may be one class
    of_records = (
        functools.partial(run, records)
        for run in (run_samples, run_layouts, run_axes, run_dtypes, run_floats)
    )
    for run in (run_examples, *of_records):
        run()
        tessera.sync()
        wanted.update(dict.fromkeys(_core.cached_classes()))
    return list(wanted)


def main(samples, folder):
    """Writes a file for each level."""
    wanted = classes(json.loads(Path(samples).read_text()))
    count = _core.write_warm_set(folder, LEVELS, wanted, MAX_BYTES)
    print(f"{count} of {len(wanted)} classes")


if __name__ == "__main__":
    main(*sys.argv[1:])
