"""Test cases in a file: what input_data takes, and what tess-run finds."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera.utils.network import Network

from tests.frontends.python.jit.dumping import Model, model, tensor, traced
from tests.support.helper import floats, same_bits

RUN, DUMP = (Path(f"tools/tess-{name}").absolute() for name in ("run", "dump"))


def run(path, *options):
    """The lines that tess-run prints, and what it says of a failure."""
    command = [RUN, path, "--test", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode == 0) == (done.stderr == "")
    return done.stdout.splitlines(), done.stderr.strip()


def test_two_cases_of_two_inputs(tmp_path):
    np.save(tmp_path / "a.npy", floats(2, 6))
    call = traced(lambda x, y: (x + y, F.argmax(x, 1)), tensor(2, 6), tensor(6))
    path = tmp_path / "net.tess"
    info = call.dump(
        path,
        arg_names=["x", "y"],
        output_names=["sum", "place"],
        input_data=[f"x:{tmp_path}/a.npy;y:#rand(0,1)", "#rand(-2, 3)"],
    )
    assert info.tot_bytes == path.stat().st_size and info.inputs == ["x", "y"]
    lines, error = run(path)
    assert error == "" and lines == [
        *(f"test {case}: output {name}: largest error 0, at most 0.0001"
          for case in (0, 1) for name in ("sum", "place")),
        f"{path}: the tests pass",
    ]  # fmt: skip
    dumped = subprocess.run([DUMP, path], capture_output=True, text=True, check=True).stdout
    assert "test 1: 2 inputs, 2 outputs within 0.0001" in dumped
    x, y = tensor(2, 6, seed=3), tensor(6, seed=4)
    assert same_bits(jit.load(path)(x, y)[0], x + y)


def test_silence_and_cases_that_only_run(tmp_path):
    call, path = model(), tmp_path / "net.tess"
    call.dump(path, input_data=["#rand(0,1)"], silent=True)
    assert run(path) == ([f"{path}: the tests pass"], "")
    call.dump(path, input_data=["#rand(0,1)"], no_assert=True)
    assert run(path) == ([f"{path}: the tests pass"], "")


def with_tests_of(tmp_path, expected, max_error, dtype="float32"):
    """A file of `x * 2` that expects `expected` of ones."""
    plain, path = tmp_path / "plain.tess", tmp_path / "net.tess"
    traced(lambda x: x * 2, F.ones(3, dtype=dtype)).dump(plain, arg_names="x", output_names="y")
    arrays = {"x": F.ones(3, dtype=dtype)}, {"y": tessera.Tensor(expected, dtype=dtype)}
    cases = [tuple(jit.input_data._files(each) for each in arrays)]
    tessera._core.add_tests(str(plain), str(path), cases, max_error, True)
    return path


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int32", "uint8"])
def test_results_that_are_too_far_off(tmp_path, dtype):
    path = with_tests_of(tmp_path, [2, 2, 4], 0.125, dtype)
    lines, error = run(path)
    assert lines == []
    message = "test 0: output y must be within 0.125 of the file's, got 1 at [2]"
    assert error == f"{path}: {message}"
    path = with_tests_of(tmp_path, [2, 2, 4], 1, dtype)
    assert run(path) == (
        ["test 0: output y: largest error 1, at most 1", f"{path}: the tests pass"],
        "",
    )


def test_errors_are_relative_above_one(tmp_path):
    """|a - b| / max(min(|a|, |b|), 1), as MegEngine's assert_equal has it."""
    path = with_tests_of(tmp_path, [2, 2.5, 1], 0.5)
    assert run(path)[1].endswith("got 1 at [2]")  # 1 / max(min(2, 1), 1)
    path = with_tests_of(tmp_path, [2, 2.5, 2], 0.25)
    assert run(path)[0][0] == "test 0: output y: largest error 0.25, at most 0.25"


@pytest.mark.parametrize("given", [np.nan, np.inf])
def test_numbers_that_are_none(tmp_path, given):
    path = with_tests_of(tmp_path, [2, given, 2], 1e30)
    assert run(path)[1].endswith("got inf at [1]")
    call, path = traced(lambda x: x / 0, F.ones(2)), tmp_path / "equal.tess"
    call.dump(path, input_data=[{"arg_0": np.array([0, 1], "float32")}])
    assert run(path)[0][0] == "test 0: output output0: largest error 0, at most 0.0001"


def test_another_shape(tmp_path):
    path = with_tests_of(tmp_path, [2, 2], 1)
    assert run(path)[1].endswith("output y must be float32[2], got float32[3]")


def test_free_sizes_and_states(tmp_path):
    count = tessera.Tensor([0.0], name="count")

    def counting(x):
        count[...] = count + 1
        return x * count

    call, path = traced(counting, tensor(2, 6)), tmp_path / "net.tess"
    cases = [{"x": floats(rows, 6, seed=rows)} for rows in (1, 5, 3)]
    dims = {"x": {0: jit.Dim("n", 1, 8)}}
    call.dump(path, arg_names="x", dims=dims, input_data=cases)
    lines, error = run(path)
    assert len(lines) == 4 and error == ""


def test_sizes_that_data_decides(tmp_path):
    call, path = traced(lambda x: x[x > 0], tensor(6)), tmp_path / "net.tess"
    call.dump(path, input_data=[{"arg_0": floats(6, seed=2)}])
    assert run(path)[1] == ""


@pytest.mark.parametrize("dtype", ["bool", "int64", "complex64", "float16", "bfloat16"])
def test_dtypes_of_inputs(tmp_path, dtype):
    call, path = traced(lambda x: F.stack([x, x]), F.ones(3, dtype=dtype)), tmp_path / "net.tess"
    call.dump(path, input_data=["#rand(0,9)", {"arg_0": F.zeros(3, dtype=dtype)}])
    assert run(path)[1] == ""


def image_file(tmp_path, height=4, width=6):
    cv2 = pytest.importorskip("cv2")
    pixels = np.random.default_rng(0).integers(0, 255, (height, width, 3), dtype=np.uint8)
    cv2.imwrite(str(tmp_path / "image.png"), pixels)
    return tmp_path / "image.png", pixels


@pytest.mark.parametrize(
    ("shape", "form"),
    [
        ((1, 3, 4, 6), lambda pixels: pixels.transpose(2, 0, 1)[None]),
        ((3, 4, 6), lambda pixels: pixels.transpose(2, 0, 1)),
        ((1, 4, 6, 3), lambda pixels: pixels[None]),
    ],
)
def test_images(tmp_path, shape, form):
    path, pixels = image_file(tmp_path)
    (arrays,) = inputs_of(tmp_path, shape, [str(path)])
    assert np.array_equal(arrays, form(pixels).astype("float32"))


def inputs_of(tmp_path, shape, input_data, **options):
    """The inputs in the file of a function that returns its argument doubled, as it sees them."""
    seen = []
    made = jit.input_data._outputs

    def noted(program, tensors):
        seen.append(tensors["x"].numpy())
        return made(program, tensors)

    call = traced(lambda x: x * 2, F.ones(shape))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jit.input_data, "_outputs", noted)
        dims = {"x": {0: jit.Dim("n", 1, 64)}} if len(shape) != 3 else None
        file = tmp_path / "net.tess"
        call.dump(file, arg_names="x", dims=dims, input_data=input_data, **options)
    assert run(file)[1] == ""
    return seen


def test_images_of_one_channel_and_other_sizes(tmp_path):
    path, _ = image_file(tmp_path)
    (gray,) = inputs_of(tmp_path, (1, 1, 4, 6), [str(path)])
    assert gray.shape == (1, 1, 4, 6)
    (resized,) = inputs_of(tmp_path, (1, 3, 8, 3), [str(path)], resize_input=True)
    assert resized.shape == (1, 3, 8, 3)


def test_repeats_and_transforms(tmp_path):
    np.save(tmp_path / "a.npy", floats(2, 3))
    options = {"repeat": 3, "input_transform": "data / np.std(data)"}
    (found,) = inputs_of(tmp_path, (2, 3), [f"{tmp_path}/a.npy"], **options)
    expected = np.repeat(floats(2, 3), 3, axis=0)
    assert np.array_equal(found, expected / np.std(expected))


def test_a_list_of_cases_in_a_file(tmp_path):
    np.save(tmp_path / "a.npy", floats(2, 3))
    (tmp_path / "cases").write_text(f"x:{tmp_path}/a.npy\n\n#rand(0,1,5,...)\n")
    found = inputs_of(tmp_path, (2, 3), [f"@{tmp_path}/cases", "x:#rand(2,3, 4, 3)"])
    assert [each.shape for each in found] == [(2, 3), (5, 3), (4, 3)]
    assert found[2].min() >= 2 and found[2].max() <= 3
    np.random.seed(5)
    first = inputs_of(tmp_path, (2, 3), "#rand(0,1)")
    np.random.seed(5)
    assert np.array_equal(inputs_of(tmp_path, (2, 3), "#rand(0,1)"), first)


def refusal(tmp_path, error, message, input_data, shape=(2, 3), **options):
    call, path = traced(lambda x: x * 2, F.ones(shape)), tmp_path / "net.tess"
    with pytest.raises(error, match=message):
        call.dump(path, arg_names="x", input_data=input_data, **options)
    assert not path.exists()


def test_what_is_no_test(tmp_path):
    np.save(tmp_path / "a.npy", floats(2, 3))
    array = f"{tmp_path}/a.npy"
    (tmp_path / "text").write_text("text")
    needed = r"dump: input_data must have one part for each of \['x'\], got \["
    refusal(tmp_path, ValueError, needed, ["x:a;y:b"])
    refusal(tmp_path, ValueError, needed, [{"y": 1}])
    refusal(tmp_path, ValueError, "dump: input_data must have a case, got", [])
    for spec in ("#rand", "#rand(1)", "#rand(a,b)", "#rand(0,1,2,x)"):
        refusal(tmp_path, ValueError, r"dump: input_data must be #rand\(min,max\) or", [spec])
    refusal(tmp_path, FileNotFoundError, "none.npy", ["none.npy"])
    refusal(tmp_path, ValueError, r"must be an array \(.npy\) or an image", [f"{tmp_path}/text"])
    refusal(tmp_path, ValueError, "dump: resize_input must come with images", [array],
            resize_input=True)  # fmt: skip
    refusal(tmp_path, ValueError, "dump: maxerr must be at least 0, got -1", [array], maxerr=-1)
    refusal(tmp_path, ValueError, r"dump: data of input x must have 2 axes, got \[2\]",
            [{"x": [1.0, 2.0]}])  # fmt: skip
    refusal(
        tmp_path, ValueError, r"net.tess: input x must be f32\[2, 3\]", [{"x": np.ones((5, 3))}]
    )
    image, _ = image_file(tmp_path)
    refusal(tmp_path, ValueError, "dump: an input for an image must have 1 or 3 channels, got x",
            [str(image)])  # fmt: skip


def test_files_without_tests(tmp_path):
    path = tmp_path / "net.tess"
    model().dump(path)
    lines, error = run(path)
    assert error == f"{path}: checkTests: the file must have tests, got none"
    lines, error = run(path, "--input", "arg_0=a.npy")
    assert error == "tess-run: --test must come without --input, --output and --labels, got 1"


def test_a_test_that_lacks_an_output(tmp_path):
    plain, path = tmp_path / "plain.tess", tmp_path / "net.tess"
    traced(lambda x: (x, x + 1), tensor(3)).dump(plain, arg_names="x", output_names=["y", "z"])
    file = jit.input_data._files({"y": tensor(3)})
    for case, name in (((file, {}), "x"), (({"x": file["y"]}, file), "z")):
        tessera._core.add_tests(str(plain), str(path), [case], 0.0, True)
        assert run(path)[1].endswith(f"a test must have an array for {name}, got none")


def test_an_edited_network_has_no_tests(tmp_path):
    path = tmp_path / "net.tess"
    model().dump(path, input_data=["#rand(0,1)"])
    Network.load(path).dump(path)
    assert run(path)[1].endswith("the file must have tests, got none")


def test_a_stream_has_them_too(tmp_path):
    net, x = Model().eval(), tensor(2, 6)
    with open(tmp_path / "net.tess", "wb") as file:
        traced(net.__call__, x).dump(file, input_data=[{"arg_0": x}])
    assert run(tmp_path / "net.tess")[1] == ""
