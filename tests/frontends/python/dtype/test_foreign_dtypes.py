"""bfloat16 and float8 in a process that cannot import ml_dtypes, as where NumPy is alone."""

import json
import pickle
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
import tessera

# Runs the code of a test where an import of ml_dtypes fails; the last expression is printed.
BEFORE = """
import io, json, pickle, sys

class NoMlDtypes:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "ml_dtypes":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, NoMlDtypes())
import numpy as np
import tessera as ts
import tessera.functional as F
x = ts.tensor([[0.1, -2.5], [3.0, float("inf")]], dtype="bfloat16")
"""


def alone(code, *arguments):
    """Returns the `answer` of the code, through JSON."""
    after = "\nassert 'ml_dtypes' not in sys.modules\nprint(json.dumps(answer))"
    done = subprocess.run(
        [sys.executable, "-c", BEFORE + code + after, *map(str, arguments)],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_they_are_made_printed_and_computed():
    code = """
y = (x * 2).astype("bfloat16")
answer = [repr(x), str(x[0, 0]), x.tolist(), x[0, 1].item(), y.tolist(), str(y.dtype),
          F.ones((2,), dtype=ts.bfloat16).tolist(), F.sum(x[:, 0]).item()]
"""
    x = tessera.tensor([[0.1, -2.5], [3.0, float("inf")]], dtype="bfloat16")
    assert alone(code) == [
        repr(x), str(x[0, 0]), x.tolist(), -2.5, (x * 2).tolist(), "bfloat16", [1.0, 1.0],
        tessera.functional.sum(x[:, 0]).item(),
    ]  # fmt: skip
    assert repr(x).startswith("Tensor([[0.100098, -2.5],\n        [3, inf]], dtype=bfloat16")


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_texts_and_lists_of_all_numbers(name):
    """They are those of ml_dtypes, which NumPy prints by itself."""
    dtype = np.dtype(getattr(ml_dtypes, name))
    bits = np.arange(256, dtype=np.uint8)
    array = bits.view(dtype) if dtype.itemsize == 1 else (bits.astype(np.uint16) << 8).view(dtype)
    tensor = tessera.tensor(array)
    expected = np.array2string(array, separator=", ").split()
    assert repr(tensor).rpartition(", dtype")[0].removeprefix("Tensor(").split() == expected
    assert repr(tensor.tolist()) == repr(array.tolist())


def test_the_dtype_has_its_name():
    code = """
d = x.dtype
answer = [d == "bfloat16", "bfloat16" == d, d == ts.bfloat16, d != "float32", d == np.float32,
          np.dtype("float32") == d, d in ("float16", "bfloat16"), d.name, d.itemsize, d.kind,
          repr(d), hash(d) == hash(ts.dtype.bfloat16), pickle.loads(pickle.dumps(d)) == d,
          ts.dtype.is_dtype_equal(d, "bfloat16"), ts.tensor([1], dtype=d).dtype == d,
          x.astype(d).dtype == d, ts.float8_e5m2.itemsize]
"""
    assert alone(code) == [
        True, True, True, True, False, False, True, "bfloat16", 2, "V", "dtype(bfloat16)",
        True, True, True, True, True, 1,
    ]  # fmt: skip


@pytest.mark.parametrize(("tool", "call"), [("numpy", "x.numpy()"), ("__array__", "np.asarray(x)")])
def test_there_is_no_array_of_them(tool, call):
    code = f"""
try:
    answer = str({call}.dtype)
except ImportError as error:
    answer = str(error)
"""
    assert alone(code) == (
        f"{tool}: ml_dtypes must be installed for an array of bfloat16 (pip install "
        "tessera[dtypes]; astype(\"float32\") needs none), got No module named 'ml_dtypes'"
    )
    assert alone('answer = x.astype("float32").numpy().tolist()[1]') == [3.0, float("inf")]


def test_files_and_pickles(tmp_path):
    file = tmp_path / "x.tess"
    code = """
ts.save({"x": x}, sys.argv[1])
again = ts.load(sys.argv[1])["x"]
pickled = pickle.loads(pickle.dumps(x))
answer = [str(again.dtype), again.tolist(), str(pickled.dtype), pickled.tolist()]
"""
    x = tessera.tensor([[0.1, -2.5], [3.0, float("inf")]], dtype="bfloat16")
    assert alone(code, file) == ["bfloat16", x.tolist()] * 2
    there = tessera.load(file)["x"]
    assert there.dtype == ml_dtypes.bfloat16 and there.tolist() == x.tolist()
    again = pickle.loads(pickle.dumps(x))
    assert again.dtype == x.dtype and again.tolist() == x.tolist()


def test_a_model_of_bfloat16_is_trained():
    code = """
from tessera import module, optimizer
from tessera.autodiff import GradManager
from tessera.amp import autocast
ts.random.seed(1)
net = module.Linear(3, 2)
for p in net.parameters():
    p._reset(p.astype("bfloat16"))
manager, sgd = GradManager().attach(net.parameters()), optimizer.Adam(net.parameters(), lr=0.1)
losses = []
for _ in range(20):
    with manager:
        loss = ((net(F.ones((4, 3), dtype="bfloat16")) - 1) ** 2).mean()
        manager.backward(loss)
    sgd.step().clear_grad()
    losses.append(loss.item())
with autocast(low_prec_dtype="bfloat16"):
    kept = str((F.ones((2, 2)) @ F.ones((2, 2))).dtype)
traced = ts.jit.trace(lambda a: a + a)
answer = [str(loss.dtype), losses[-1] < losses[0], kept, traced(x).tolist()[0][1],
          net._repr_html_().count("bfloat16")]
"""
    assert alone(code) == ["bfloat16", True, "bfloat16", -5.0, 2]
