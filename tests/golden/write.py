"""Writes the golden files that a version's folder lacks: README.md says what they are."""

import hashlib
import sys
from pathlib import Path

import numpy as np
import tessera
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
from tessera import amp, core, jit
from tessera.autodiff import GradManager, no_grad
from tessera.traced_module import trace_module

from frontends.examples.digits_net import Training, load_digits
from tests.records import samples as S  # noqa: N812
from tests.support.helper import same_bits

EPOCHS = 20
FEATURES = (
    "data_sizes",
    "float8",
    "free_sizes",
    "grown_values",
    "lookups",
    "loops",
    "low_bit",
    "trip_sizes",
)  # what files name, beside families
CODE_ALONE = ("lookups",)  # features that graphs have not
# The others hold the graph only.
WITH_CODE = ("activation", "brought", "digits", "state", *FEATURES)
BASELINE = "x86-64-v3"


def write_new(path, data):
    """Writes a file that must not exist, and its line in SHA256SUMS."""
    with open(path, "xb") as file:
        file.write(data)
    with open(path.parent / "SHA256SUMS", "a") as sums:
        sums.write(f"{hashlib.sha256(data).hexdigest()}  {path.name}\n")


def write_program(folder, name, function, inputs, dims=None):
    """`name`.tess and `name`.npz of a function from tensors to named tensors."""
    path = folder / f"{name}.tess"
    if path.exists():
        print(f"{path}: stays as it is")
        return
    outputs = {}
    traced = jit.trace(lambda *args: _values(function(*args), outputs), capture_as_const=True)
    traced(*inputs.values())
    draft = folder / f"{name}.draft"
    traced.dump(draft, arg_names=list(inputs), output_names=list(outputs), dims=dims,
                targets=[BASELINE] if name in WITH_CODE else [])  # fmt: skip
    results = _values(function(*inputs.values()), outputs)  # state goes on from the dump
    assert same_bits(jit.load(draft)(*inputs.values()), results), name
    arrays = {f"in/{key}": value.numpy() for key, value in inputs.items()}
    for key, value in zip(outputs, results, strict=True):
        arrays[f"out/{key}"] = storable(value.numpy())
    np.savez_compressed(folder / f"{name}.draft.npz", **arrays)
    for source, suffix in ((draft, ".tess"), (folder / f"{name}.draft.npz", ".npz")):
        write_new(path.with_suffix(suffix), source.read_bytes())
        source.unlink()
    print(f"{path}: {len(inputs)} inputs, {len(outputs)} outputs, {path.stat().st_size} bytes")


def storable(array):
    """The array, or, of float8, which NumPy's files do not have, its bytes."""
    return array.view(np.uint8) if array.dtype.name.startswith("float8") else array


def _values(named, seen):
    """The tensors of a dict, whose keys `seen` keeps."""
    seen.update(named)
    return tuple(named.values())


def write_digits(folder):
    """The main job's program."""
    if (folder / "digits.tess").exists():
        return
    train, test = load_digits()
    model = Training(train, 0, EPOCHS, True).run().model.eval()
    batch = jit.Dim("batch", 1, 512)
    write_program(folder, "digits", lambda image: {"logits": model(image)},
                  {"image": tessera.tensor(test[0][:16])}, {"image": {0: batch}})  # fmt: skip


def write_state(folder):
    """A program that updates variables: a small one, and one in a section of its own."""
    count = tessera.Tensor(np.zeros((), "int32"))
    mean = tessera.Tensor(np.zeros((1025,), "float32"))

    def function(x):
        count._reset(count + 1)
        mean._reset(mean + (x - mean) * 0.25)
        return {"count": count * 2, "mean": mean * 2}

    numbers = np.random.default_rng(0).standard_normal(1025, dtype="float32")
    write_program(folder, "state", function, {"x": tessera.Tensor(numbers)})


def _grown_values(x):
    grads = GradManager().attach([x])
    with grads:
        y = F.while_loop(lambda y: F.abs(y).sum() < 1e4, lambda y: F.tanh(y) + y * 1.5, x)
        grads.backward((y * y).sum())
    grad, x.grad = x.grad, None
    return {"y": y, "grad": grad}


def _lookups(x):
    places = F.floor(F.abs(x) * 10).astype("int32") % 6
    grads = GradManager().attach([x])
    with grads:
        y = F.gather(x, 0, places) * x[places[:, 0]]
        grads.backward((y * y).sum())
    grad, x.grad = x.grad, None
    return {"y": y, "grad": grad}


def _data_sizes(x):
    found = x[x > 0]
    return {"found": found * 2, "range": F.arange(found.shape[0]) + found}


def _trip_sizes(x):
    def step(total, row):
        found = row[row > 0]
        return total * 0.5 + found.sum(), (found * F.arange(found.shape[0])).sum()

    total, sums = F.scan(step, x.sum(), x)
    return {"total": total, "sums": sums}


def _float8(x):
    narrow = [x.astype(dtype) for dtype in ("float8_e4m3fn", "float8_e5m2")]
    return {f"wide{i}": each.astype("float32") for i, each in enumerate(narrow)}


def _low_bit(x):
    few = {name: (x * 4).astype(name) for name in ("intb1", "intb2", "intb4")}
    return {name: F.roll(each, 1, 0).astype("float32") for name, each in few.items()}


def write_features(folder):
    """One program for each feature that a reader must know, but for complex numbers."""
    x = tessera.Tensor(np.random.default_rng(1).standard_normal((6, 5), dtype="float32"))
    for name, function in {"float8": _float8, "low_bit": _low_bit}.items():
        write_program(folder, name, function, {"x": x})

    def _step(state, row):
        return state * 0.5 + row, state - row

    def _loops(x):
        last, states = F.scan(_step, x[0], x)
        return {"last": last, "states": states}

    def _free_sizes(x):
        rows, columns = x.shape
        return {
            "flat": F.reshape(x * 2, (rows * columns,)),
            "ones": F.ones((rows + 1, 2)) * x[0, 0],
        }

    functions = {
        "data_sizes": _data_sizes,
        "loops": _loops,
        "grown_values": _grown_values,
        "trip_sizes": _trip_sizes,
        "lookups": _lookups,
    }
    for name, function in functions.items():
        write_program(folder, name, function, {"x": x})
    write_program(folder, "free_sizes", _free_sizes, {"x": x}, {"x": {0: jit.Dim("rows", 1, 64)}})


class Inner(M.Module):
    """Is called in two ways, so that it has two graphs."""

    def __init__(self):
        super().__init__()
        self.norm, self.scales = (
            M.LayerNorm(6),
            [tessera.Parameter([0.5]), tessera.Parameter([2.0])],
        )

    def forward(self, x, which=0):
        """The first or the second scale."""
        return self.norm(x) * self.scales[which]


class Whole(M.Module):
    """Has every kind of expression, loops and branches, contexts and constants."""

    def __init__(self):
        super().__init__()
        self.conv, self.bn = M.Conv2d(3, 4, 3, padding="same"), M.BatchNorm2d(4)
        self.layers = M.ModuleList([M.Linear(6, 6), M.GELU("tanh"), M.LSTM(6, 6)])
        self.inner, self.seen = Inner(), tessera.Tensor(np.zeros(6, "float32"))

    def forward(self, image, more):
        """Several outputs, in a dict and a tuple."""
        rows = F.reshape(self.bn(self.conv(image)), (image.shape[0] * 4, -1))[:, :6]
        rows = self.layers[1](self.layers[0](rows)) + more["bias"]
        last, states = F.scan(lambda s, row: (s * 0.5 + row, s - row), rows[0], rows)
        self.seen = F.cond(last.sum() > 0, lambda x: x * 2, lambda x: x - rows[1], last)
        (soft,) = core.apply(core.ops.builtin.Softmax(axis=1), self.inner(rows))
        with no_grad(), amp.autocast(enabled=False):
            twice = F.concat([self.inner(rows, which=1), rows * np.float32(3)], axis=0)
        sequence, _ = self.layers[2](F.expand_dims(states, 1))
        bits = F.abs(more["bias"]) * tessera.Tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        return {"linear": (rows, states, soft, twice, sequence), "bits": [bits, last.shape]}


def write_traced(folder):
    """A traced module in a checkpoint: `traced.ckpt`, and its inputs and outputs."""
    path = folder / "traced.ckpt"
    if path.exists():
        return
    tessera.seed(0)
    draw = np.random.default_rng(0)
    inputs = {"image": draw.standard_normal((2, 3, 5, 4), dtype="float32"),
              "bias": draw.standard_normal(6, dtype="float32")}  # fmt: skip
    traced = trace_module(Whole().eval(), *traced_arguments(inputs))
    outputs = traced_outputs(traced, inputs)
    draft = folder / "traced.draft"
    tessera.save({"net": traced, "bias": traced.conv.bias}, draft)
    arrays = {f"in/{key}": value for key, value in inputs.items()}
    arrays.update((f"out/{key}", value.numpy()) for key, value in outputs.items())
    np.savez_compressed(folder / "traced.draft.npz", **arrays)
    for source, suffix in ((draft, ".ckpt"), (folder / "traced.draft.npz", ".npz")):
        write_new(path.with_suffix(suffix), source.read_bytes())
        source.unlink()


def traced_arguments(inputs):
    """The arguments of Whole."""
    return tessera.Tensor(inputs["image"]), {"bias": tessera.Tensor(inputs["bias"])}


def traced_outputs(net, inputs):
    """Results by name: those that begin with "linear" are of oneDNN."""
    found = net(*traced_arguments(inputs))
    named = {f"linear_{i}": value for i, value in enumerate(found["linear"])}
    return {**named, "bits": found["bits"][0], "linear_seen": net.seen}


def cases(family):
    """(name, record, sample, operands) of every sample of a family."""
    for record in S.records().values():
        for number, sample in enumerate(record.samples if record.family == family else ()):
            dtypes = S.dtypes_of(record, sample)
            dtype = next((d for d in ("float32", "int32") if d in dtypes), dtypes[0])
            operands = S.tensors(S.arrays(record, sample, dtype))
            yield f"{record.name}_{number}", record, sample, operands


def write_family(folder, family):
    """Every sample of a family's records, in one program."""
    inputs, calls = {}, []
    for name, record, sample, operands in cases(family):
        calls.append((name, record, sample, len(inputs), len(inputs) + len(operands)))
        inputs.update({f"{name}_x{i}": operand for i, operand in enumerate(operands)})

    def function(*args):
        results = {}
        for name, record, sample, first, last in calls:
            for i, result in enumerate(S.call(record, sample, args[first:last])):
                results[f"{name}_y{i}"] = result
        return results

    write_program(folder, family.lower(), function, inputs)


def main():
    """Everything that is missing."""
    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    write_digits(folder)
    write_state(folder)
    write_features(folder)
    write_traced(folder)
    for family in sorted({record.family for record in S.records().values()}):
        write_family(folder, family)


if __name__ == "__main__":
    main()
