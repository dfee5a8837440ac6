"""Every file of every version: unchanged, opens, gives the outputs that it always gave."""

import io
import subprocess
from pathlib import Path

import numpy as np
import pytest
import tessera
from tessera import _core, jit
from tessera.utils.network import Network

from tests.golden import write
from tests.golden.sums import check_sums
from tests.support.helper import same_bits

GOLDEN = Path(__file__).parent
VERSIONS = sorted(each for each in GOLDEN.iterdir() if each.is_dir() and each.name.isdigit())
PROGRAMS = [path for folder in VERSIONS for path in sorted(folder.glob("*.tess"))]
TRACED = [path for folder in VERSIONS for path in sorted(folder.glob("*.ckpt"))]
TESS_RUN = Path("tools/tess-run").absolute()

# oneDNN picks an implementation by its own version and by processor: the order of its sums, and so
# their last bits, follow.
ONEDNN = (
    "adaptive_avg_pool2d",
    "avg_pool2d",
    "conv2d",
    "deformable_conv2d",
    "einsum",
    "linear",
    "local_conv2d",
    "logits",
    "matmul",
    "region_restricted_conv",
    "scaled_dot_product_attention",
)
# So do LAPACK, by what it was built for, and ducc0, whose order another version may change.
DUCC0 = ("fft",)
LAPACK = ("cholesky", "det", "eigh", "matinv", "qr", "slogdet", "solve", "svd")
TOLERANCE = 1e-5  # of the largest element: some hundred roundings of float32 (6e-8 each)


def has_code(path):
    return write.BASELINE.encode() in path.read_bytes()


def label(path):
    return f"{path.parent.name}/{path.stem}"


every = pytest.mark.parametrize("path", PROGRAMS, ids=map(label, PROGRAMS))
with_code = [path for path in PROGRAMS if has_code(path)]


def arrays_of(path):
    """(inputs, outputs) by name."""
    with np.load(path.with_suffix(".npz")) as file:
        return [
            {key.split("/")[1]: file[key] for key in file.files if key.startswith(kind)}
            for kind in ("in/", "out/")
        ]


def changes_of(name, dtype, version):
    """The changes of bits between a file of `version` and this build that concern a result."""
    return [
        (ulps, relative)
        for since, operators, dtypes, ulps, relative, _ in _core.bits_changes()
        if since > version
        and dtype in dtypes.split()
        and name.rsplit("_", 2)[0] in operators.split()
    ]


def check_changed(name, got, want, changes):
    """Within the distance that the changes of bits themselves give."""
    got, want = (
        each.astype(np.float32) if each.dtype.itemsize == 2 else each for each in (got, want)
    )
    for ulps, relative in changes:
        if ulps:
            np.testing.assert_array_max_ulp(got, want, ulps)
            continue
        limit = relative * np.abs(want).max(initial=0)
        np.testing.assert_allclose(got, want, rtol=0, atol=limit, err_msg=name)


def check(name, got, want, version):
    got = write.storable(got)
    if want.dtype == "V2":  # how NumPy reads the bfloat16 that it wrote
        assert got.dtype.name == "bfloat16", name
        got, want = got.view(np.uint16), want.view(np.uint16)
    assert (got.shape, got.dtype) == (want.shape, want.dtype), name
    if name.startswith((*ONEDNN, *LAPACK, *DUCC0)):
        limit = TOLERANCE * np.abs(want).max(initial=0)
        np.testing.assert_allclose(got, want, rtol=0, atol=limit, err_msg=name)
        return
    if got.dtype.kind == "f":  # every NaN is the same
        got, want = (
            np.where(np.isnan(each), np.nan, each).astype(each.dtype) for each in (got, want)
        )
    if changes := changes_of(name, got.dtype.name, version):
        check_changed(name, got, want, changes)
        return
    assert got.tobytes() == want.tobytes(), name


@pytest.mark.parametrize("folder", VERSIONS, ids=[each.name for each in VERSIONS])
def test_no_file_changed(folder):
    check_sums(folder)


def test_every_family_has_a_file():
    families = {record.family.lower() for record in write.S.records().values()}
    assert families | {"digits", "state", *write.FEATURES} <= {path.stem for path in PROGRAMS}


@pytest.mark.parametrize("feature", ["complex", *write.FEATURES])
def test_a_file_names_what_it_needs(feature):
    """Once in the graph, if it is one of graphs, and in the code; a plain file names nothing."""
    name = {"free_sizes": "size_expressions"}.get(feature, feature).encode()
    path = next(path for path in PROGRAMS if path.stem == feature and path.parent.name != "1")
    count = path.read_bytes().count(bytes([len(name)]) + name)
    assert count == (feature not in write.CODE_ALONE) + (feature in write.WITH_CODE)
    assert b"\x10size_expressions" not in path.with_name("digits.tess").read_bytes()


@every
@pytest.mark.parametrize("allow_code", [False, True])
def test_python(path, allow_code):
    inputs, outputs = arrays_of(path)
    program = jit.load(path, allow_code=allow_code)
    results = program(**inputs)
    results = results if isinstance(results, tuple) else (results,)
    assert set(program.inputs) == set(inputs) and set(program.outputs) == set(outputs)
    for name, result in zip(program.outputs, results, strict=True):
        check(name, result.numpy(), outputs[name], program.bits_version)


@every
def test_a_network_of_a_file_is_its_program(path, tmp_path):
    """Its graph as nodes, dumped again: the bits that it gives when this build compiles it."""
    inputs, _ = arrays_of(path)
    Network.load(path).dump(tmp_path / "again.tess", targets=(), optimize_for_inference=False)
    first, again = jit.load(path), jit.load(tmp_path / "again.tess")
    assert (again.inputs, again.outputs, again.dims) == (first.inputs, first.outputs, first.dims)
    assert list(again.state_dict()) == list(first.state_dict())
    for _ in range(2):
        assert same_bits(again(**inputs), first(**inputs))


@pytest.mark.parametrize("path", TRACED, ids=map(label, TRACED))
def test_a_traced_module(path):
    """Loads without its classes, is saved again as it was, and computes what it did."""
    inputs, outputs = arrays_of(path)
    file = tessera.load(path)
    net = file["net"]
    assert file["bias"] is net.conv.bias
    for _ in range(2):
        found = write.traced_outputs(net, inputs)
        assert set(found) == set(outputs)
        for name, value in found.items():
            check(name, value.numpy(), outputs[name], _core.bits_changes()[-1][0])
        again = io.BytesIO()
        tessera.save({"net": net, "bias": file["bias"]}, again)
        net = tessera.load(io.BytesIO(again.getvalue()))["net"]
    assert len(net.inner.graphs) == 2


def test_the_newest_version_has_a_traced_module():
    assert TRACED[-1].parent == VERSIONS[-1]


@pytest.mark.parametrize("path", with_code, ids=map(label, with_code))
def test_cpp(path, tmp_path):
    inputs, outputs = arrays_of(path)
    command = [TESS_RUN, path, "--threads", "1", "--verify"]
    for name, array in inputs.items():
        np.save(tmp_path / f"{name}.npy", array)
        command += ["--input", f"{name}={tmp_path / name}.npy"]
    for name in outputs:
        command += ["--output", f"{name}={tmp_path / name}.npy"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for name, want in outputs.items():
        check(name, np.load(tmp_path / f"{name}.npy"), want, jit.load(path).bits_version)


def test_every_version_has_code_for_cpp():
    assert [path.parent for path in with_code if path.stem == "digits"] == VERSIONS


def test_the_writer_never_overwrites(tmp_path):
    write.write_new(tmp_path / "a.npz", b"first")
    with pytest.raises(FileExistsError):
        write.write_new(tmp_path / "a.npz", b"second")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    (tmp_path / "b.tess").write_bytes(b"old")
    write.write_program(tmp_path, "b", None, {})
    assert (tmp_path / "b.tess").read_bytes() == b"old"
    assert before == {name: (tmp_path / name).read_bytes() for name in before}


def test_bits_are_counted(tmp_path):
    """A new file has this build's version; a change is a row that says how far results moved."""
    traced = jit.trace(lambda x: x + 1, capture_as_const=True)
    traced(tessera.tensor([1.0]))
    traced.dump(tmp_path / "p", arg_names=["x"])
    rows = _core.bits_changes()
    versions = [row[0] for row in rows]
    assert versions == sorted(versions) and set(versions) == set(range(1, versions[-1] + 1))
    assert jit.load(tmp_path / "p").bits_version == versions[-1]
    assert str(versions[-1]) == tessera._versions.versions()["bits_version"]
    known = set(write.S.records())
    for _, operators, dtypes, ulps, relative, why in rows:
        assert set(operators.split()) <= known and dtypes and bool(ulps) != bool(relative) and why


def test_bits_of_this_version_are_compared_exactly():
    one, other = np.float32([1.0]), np.float32([1.0000001])
    check("acos_0_y0", one, other, 0)
    with pytest.raises(AssertionError):
        check("acos_0_y0", one, other, _core.bits_changes()[-1][0])
    with pytest.raises(AssertionError):
        check("exp_0_y0", one, other, 0)
