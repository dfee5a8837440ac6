"""The records' samples as calls, for test_ops.py and the benchmark of one-op graphs."""

import ast
import functools
import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tessera
from tessera import _core

from tests import quick
from tests.records.oracles import oracle

SHORT = _core.dtype_table()
FLOATS = ("float16", "bfloat16", "float32", "float64")
FLOAT8 = {"float8_e4m3fn": 3, "float8_e5m2": 2}  # bits of mantissa
PARTS = {"complex64": "float32", "complex128": "float64"}
LOW_BIT = oracle.LOW_BIT  # the largest number


@dataclass(frozen=True)
class Operand:
    """One operand of a record."""

    name: str
    arity: str  # "one", "optional", "variadic"
    dtypes: tuple


@dataclass
class Sample:
    """Shapes, ranges and attributes of one call."""

    shapes: list
    attrs: dict
    low: list
    high: list
    dtypes: list


@dataclass
class Record:
    """What the tests need of one record."""

    name: str
    family: str
    opdef: str
    python: str
    operands: list
    attrs: list
    oracle: str
    has_gradient: bool
    stochastic: bool
    lowering: str
    samples: list


def value(text):
    """An attribute's value from its text in the record."""
    text = text.strip()
    if text in ("true", "false"):
        return text == "true"
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return {"INFINITY": np.inf, "-INFINITY": -np.inf}.get(text, text)


def attributes(text):
    """The attributes of "axes=[0];keepdims=true"."""
    pairs = (part.split("=", 1) for part in text.split(";") if part.strip())
    return {name.strip(): value(given) for name, given in pairs}


def _shape(text):
    return tuple(int(n) for n in text.split(",") if n.strip())


def _sample(entry):
    shapes = [_shape(text) for text in entry["shapes"]]
    ranges = [[float(n) for n in str(entry[end]).split(";")] for end in ("low", "high")]
    spread = [each * len(shapes) if len(each) == 1 else each for each in ranges]
    return Sample(
        shapes, attributes(entry["attrs"]), *spread, [SHORT.get(d, d) for d in entry["dtypes"]]
    )


@functools.cache
def entries():
    """The records as the generator wrote them."""
    path = os.environ.get("TESS_SAMPLES") or Path(__file__).parents[2] / "ops" / "samples.json"
    return json.loads(Path(path).read_text())


def constraints():
    """(operator, text) of every constraint, by its label."""
    return {
        each["label"]: (entry["name"], each["text"])
        for entry in entries()
        for each in entry["labels"]
    }


@functools.cache
def records():
    """All records, by name."""
    table = {row["name"]: row for row in _core.op_table()}
    return {entry["name"]: _record(entry, table[entry["name"]]) for entry in entries()}


def _record(entry, row):
    operands = [
        Operand(each["name"], each["arity"], tuple(SHORT.get(d, d) for d in each["dtypes"]))
        for each in entry["operands"]
    ]
    samples = [_sample(each) for each in entry["samples"]]
    attrs = [attr["name"] for attr in row["attrs"]]
    return Record(entry["name"], entry["family"], row["opdef"], row["python"], operands, attrs,
                  entry["oracle"], row["has_gradient"], row["stochastic"], row["lowering"],
                  samples)  # fmt: skip


def groups(record, sample):
    """The operand of each shape of a sample: a variadic one takes what the others leave."""
    extra = len(sample.shapes) - sum(each.arity == "one" for each in record.operands)
    result = []
    for operand in record.operands:
        count = {"one": 1, "variadic": extra, "optional": min(extra, 1)}[operand.arity]
        extra -= count if operand.arity != "one" else 0
        result += [operand] * count
    return result


def dtypes_of(record, sample):
    """The dtypes of the first operand that a sample runs with; [None] without an operand."""
    operands = groups(record, sample)
    return sample.dtypes or (list(operands[0].dtypes) if operands else [None])


def tested_dtypes(record, sample):
    """The dtypes that a test of all runs; the primary one alone in the quick subset."""
    return [primary(record, sample)] if quick.IS_ON else dtypes_of(record, sample)


def primary(record, sample):
    """The dtype of a test that runs a sample in one."""
    dtypes = dtypes_of(record, sample)
    return next((d for d in ("float32", "int32") if d in dtypes), dtypes[0])


def arrays(record, sample, dtype, seed=0):
    """Random operands of a sample: of `dtype` where the operand allows it."""
    random, result = np.random.RandomState(seed), []
    for number, (operand, shape) in enumerate(
        zip(groups(record, sample), sample.shapes, strict=True)
    ):
        own = dtype if dtype in operand.dtypes else operand.dtypes[0]
        own = (
            "int32" if own not in FLOATS and dtype in FLOATS and "int32" in operand.dtypes else own
        )
        result.append(
            (random_array(random, shape, own, sample.low[number], sample.high[number]), own)
        )
    if record.name == "searchsorted" and sample.shapes[0]:
        (line, own), values = result
        return [(np.sort(line, -1), own), values]
    if record.name in ("max_pool2d_backward", "max_pool3d_backward") and sample.attrs:
        return _true_output(record, sample, result)
    if record.name == "cholesky" and sample.shapes[0][-2:-1] == sample.shapes[0][-1:]:
        ((x, own),) = result
        return [(exact(oracle.positive_definite(x.astype(np.float64)), own), own)]
    return result


def _true_output(record, sample, operands):
    """max_pool2d_backward, or 3d, looks for the elements of `out` in x: they must be there."""
    (x, dtype), (_, own), dout = operands
    axes = x.ndim - 2
    out = oracle.max_pool(x, **{"strides": [1] * axes, "padding": [0] * axes, **sample.attrs})
    return [(x, dtype), (out.astype(x.dtype), own), dout]


def random_array(random, shape, dtype, low, high):
    """Numbers of [low, high), exact in `dtype`."""
    if dtype.startswith("q"):
        dtype = _core.dtype_storage()[dtype.partition("<")[0]]  # what is stored
    if dtype in LOW_BIT:
        first = max(int(low), -LOW_BIT[dtype])
        drawn = random.randint(first, max(min(int(high), LOW_BIT[dtype]), first) + 1, shape)
        return np.asarray(drawn | 1).astype(np.int8)
    if dtype == "bool":
        return np.asarray(random.rand(*shape) < 0.5)
    if dtype in PARTS:
        parts = [random.uniform(low, high, shape) for _ in range(2)]
        return np.asarray(parts[0] + 1j * parts[1]).astype(dtype)
    if dtype in FLOATS or dtype in FLOAT8:
        values = np.asarray(random.uniform(low, high, shape))
        return exact(values, dtype)
    first = max(int(low), np.iinfo(dtype).min)
    return np.asarray(random.randint(first, max(int(high), first + 1), shape)).astype(dtype)


def exact(values, dtype):
    """Floats rounded to `dtype`; float32 stands for what NumPy lacks, bfloat16 and float8."""
    if dtype in FLOAT8:
        cut = values.astype(np.float32).view(np.uint32) & (~np.uint32(0) << (23 - FLOAT8[dtype]))
        return np.where(np.abs(values) < 2**-6, 0, cut.view(np.float32)).astype(np.float32)
    if dtype != "bfloat16":
        return values.astype(dtype)
    bits = values.astype(np.float32).view(np.uint32)
    return (bits & 0xFFFF0000).view(np.float32).reshape(values.shape)


def tensors(operands):
    """Tensors of (array, dtype) pairs."""
    return [tessera.Tensor(array, dtype=dtype) for array, dtype in operands]


def operator(record, sample):
    """The OpDef of a sample."""
    attrs = {name: SHORT.get(value, value) if isinstance(value, str) else value
             for name, value in sample.attrs.items()}  # fmt: skip
    return _core.op_class(record.opdef)(**attrs)


def call(record, sample, operands):
    """The operator on tensors; results as a list."""
    return list(_core.apply(operator(record, sample), *operands))


def calls():
    """(name, lowering, function without arguments) of every record's first sample with elements.
    The OpDef is made before, so that a first call does not make its Python class.
    """
    for record in records().values():
        for sample in record.samples:
            if all(np.prod(shape) for shape in sample.shapes):
                dtypes = dtypes_of(record, sample)
                dtype = "float32" if "float32" in dtypes else dtypes[0]
                operands = tensors(arrays(record, sample, dtype))
                yield (
                    record.name,
                    record.lowering,
                    functools.partial(_core.apply, operator(record, sample), *operands),
                )
                break
