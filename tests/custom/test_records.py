"""Records of a file: eagerly, traced, fused, differentiated, from files, and their errors."""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
from tessera import autodiff
from tessera.autodiff import GradManager

DEMO = os.environ["TESS_DEMO"]
ops = ts.load_records(DEMO)
rng = np.random.default_rng(3)


def array(*shape, dtype=np.float32):
    return rng.normal(size=shape).astype(dtype)


def tensor(values):
    return ts.tensor(values, dtype=values.dtype.name)


def soft_clip(x, limit):
    return limit * F.tanh(x / limit)


def gradients(function, *inputs):
    inputs = [ts.Parameter(tensor(each)) for each in inputs]
    manager = GradManager().attach(inputs)
    with manager:
        manager.backward(function(*inputs).sum())
    return [each.grad.numpy() for each in inputs]


def numeric(function, inputs, which, step=1e-6):
    """Central differences of a sum, in float64."""
    found = np.zeros_like(inputs[which])
    for place in np.ndindex(*found.shape):
        sums = []
        for sign in (1, -1):
            moved = [each.copy() for each in inputs]
            moved[which][place] += sign * step
            sums.append(float(function(*map(tensor, moved)).sum().item()))
        found[place] = (sums[0] - sums[1]) / (2 * step)
    return found


def test_where_it_is():
    assert ts.ops.records is ops and ts.load_records(DEMO) is ops
    assert dir(ops) == ["centered", "clipped_rows", "gated", "soft_clip"]
    assert ops.soft_clip.__doc__.startswith("soft_clip(x, limit=1.0, *, inplace=False)")
    assert "what it never reaches, in [0.001, 1000]" in ops.soft_clip.__doc__


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_eager_has_the_bits_of_the_formula(dtype):
    x = tensor(array(3, 5, dtype=dtype))
    for limit in (0.7, 1.5, 3.0):
        wanted = soft_clip(x, limit).numpy()
        np.testing.assert_array_equal(ops.soft_clip(x, limit=limit).numpy(), wanted)
    assert ops.soft_clip(x).dtype == x.dtype


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_dtypes(dtype):
    x = ts.tensor(array(4, 6)).astype(dtype)
    made = ops.soft_clip(x, limit=1.5)
    assert made.dtype == x.dtype
    wanted = soft_clip(x.astype("float32"), 1.5)
    np.testing.assert_allclose(made.astype("float32").numpy(), wanted.numpy(), rtol=1e-2, atol=1e-3)


def test_promotion_and_broadcasting():
    x, gate = ts.tensor(array(3, 5)), tensor(array(5, dtype="float64"))
    made = ops.gated(x, gate)
    assert made.numpy().dtype == np.float64 and made.shape == (3, 5)
    np.testing.assert_array_equal(made.numpy(), (x.astype("float64") * F.sigmoid(gate)).numpy())


def test_composites():
    x = ts.tensor(array(3, 5))
    centered = x - x.mean(-1, keepdims=True)
    np.testing.assert_array_equal(ops.centered(x).numpy(), centered.numpy())
    rows = soft_clip(centered, 0.5).sum(-1)
    np.testing.assert_allclose(ops.clipped_rows(x, limit=0.5).numpy(), rows.numpy(), rtol=1e-5)
    rows = soft_clip(x, 0.5).sum(-1)
    made = ops.clipped_rows(x, limit=0.5, centre=False)
    np.testing.assert_allclose(made.numpy(), rows.numpy(), rtol=1e-5)


def test_traced_it_is_fused_and_has_the_same_bits():
    x, y = ts.tensor(array(8, 16)), ts.tensor(array(8, 16))

    @ts.jit.trace
    def own(x, y):
        return F.relu(soft_clip(x + y, 1.5) * 3)

    @ts.jit.trace
    def theirs(x, y):
        return F.relu(ops.soft_clip(x + y, limit=1.5) * 3)

    for _ in range(2):
        wanted, made = own(x, y).numpy(), theirs(x, y).numpy()
    np.testing.assert_array_equal(made, wanted)


CASES = {
    "soft_clip": (lambda x: ops.soft_clip(x, limit=1.5), [(2, 3)]),
    "gated": (lambda x, y: ops.gated(x, y), [(2, 3), (3,)]),
    "centered": (lambda x: ops.centered(x) * ops.centered(x), [(2, 3)]),
    "clipped_rows": (lambda x: ops.clipped_rows(x * x, limit=0.5), [(2, 3)]),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("traced", [False, True])
def test_gradients(name, traced):
    function, shapes = CASES[name]
    inputs = [array(*shape, dtype=np.float64) for shape in shapes]
    wanted = [numeric(function, inputs, i) for i in range(len(inputs))]
    called = ts.jit.trace(function) if traced else function
    for made, expected in zip(gradients(called, *inputs), wanted, strict=True):
        np.testing.assert_allclose(made, expected, rtol=1e-5, atol=1e-7)


def test_second_gradient():
    x = ts.tensor([0.3, -0.8])
    slope = autodiff.grad(lambda x: ops.soft_clip(x, limit=1.5).sum())
    second = autodiff.grad(lambda x: slope(x).sum())(x).numpy()
    bent = np.tanh(x.numpy() / 1.5)
    np.testing.assert_allclose(second, -2 * bent * (1 - bent**2) / 1.5, rtol=1e-4)


def test_file_runs_where_the_rows_are_loaded(tmp_path):
    rows = tmp_path / "records.json"
    include = os.path.join(os.path.dirname(ts.__file__), "include")
    command = [os.environ["TESS_TBLGEN"], "--gen-tess-rows", "-I", include]
    subprocess.run([*command, DEMO, "-o", rows], check=True)
    assert ts.load_records(rows) is ops
    x = array(4, 4)
    model = ts.jit.trace(lambda x: ops.clipped_rows(ops.soft_clip(x) + 1), capture_as_const=True)
    wanted = model(ts.tensor(x)).numpy()
    model.dump(str(tmp_path / "model.tess"), arg_names=["x"])
    np.save(tmp_path / "x.npy", x)
    run = [os.path.abspath(os.environ["TESS_RUN"]), "model.tess", "--input", "x=x.npy"]
    out = ["--library", str(rows), "--output", "output0=y.npy"]
    subprocess.run([*run, *out], check=True, cwd=tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), wanted)
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode and 'library records (written with version "1.0") must be loaded' in (
        done.stderr
    )


def test_errors(tmp_path, monkeypatch):
    x = ts.tensor(array(2, 3))
    with pytest.raises(ValueError, match=r"records.soft_clip: limit must be in \[0.001, 1000"):
        ops.soft_clip(x, limit=0)
    with pytest.raises(TypeError, match="records.soft_clip: x must"):
        ops.soft_clip(ts.tensor([1, 2]))
    with pytest.raises(ValueError, match="operands must broadcast"):
        ops.gated(x, ts.tensor(array(2)))
    with pytest.raises(FileNotFoundError, match="load_records: a file must open"):
        ts.load_records(tmp_path / "nowhere.td")
    with pytest.raises(FileNotFoundError, match="load_records: a file must open"):
        ts.load_records(tmp_path / "nowhere.json")
    (tmp_path / "changed.json").write_text(
        json.dumps({"format": "tessera records", "version": 7, "rows": []})
    )
    with pytest.raises(NotImplementedError, match="version of the format must be 1, got 7"):
        ts.load_records(tmp_path / "changed.json")
    text = pathlib.Path(DEMO).read_text()
    (tmp_path / "wrong.td").write_text(text.replace("Elementwise_;", 'Library<"magic">;', 1))
    with pytest.raises(ValueError, match="soft_clip: .*in a plug-in, got|scalar dag"):
        ts.load_records(tmp_path / "wrong.td")
    (tmp_path / "other.td").write_text(text.replace("0.001", "0.002"))
    with pytest.raises(ValueError, match="names of operators must differ, got 'records.centered'"):
        ts.load_records(tmp_path / "other.td")
    monkeypatch.setenv("TESS_TBLGEN", str(tmp_path / "none"))
    with pytest.raises(FileNotFoundError, match="tess-tblgen must be there"):
        ts.load_records(DEMO)
