"""The options of optimize_for_inference: what each does, or why it is refused."""

import numpy as np
import pytest
import tessera.functional as F  # noqa: N812
from tessera import amp, jit
from tessera.utils.network import Network

from tests.frontends.python.jit.dumping import Model, model, tensor, traced
from tests.support.helper import same_bits

ALWAYS = [
    "enable_fuse_conv_bias_nonlinearity",
    "enable_fuse_conv_bias_with_z",
    "enable_fuse_grain",
    "enable_nchw88",
]
NEVER = [
    "enable_chwn4",
    "enable_fuse_preprocess",
    "enable_hwcd4",
    "enable_ioc16",
    "enable_nchw32",
    "enable_nchw4",
    "enable_nchw44",
    "enable_nchw44_dot",
    "enable_nchw64",
]


def launches(path, *arguments):
    """Of a run of the code in the file."""
    program = jit.load(path, allow_code=True)
    program(*arguments)
    return program._program.launches


@pytest.mark.parametrize("option", ALWAYS)
def test_what_the_compiler_does_in_any_case(option, tmp_path):
    x, paths = tensor(2, 6), [tmp_path / "plain.tess", tmp_path / "asked.tess"]
    call = model()
    call.dump(paths[0])
    call.dump(paths[1], **{option: True})
    assert launches(paths[0], x) == launches(paths[1], x)
    assert Network.load(paths[1]).metadata[option] is True
    call.dump(paths[1], optimize_for_inference=False, **{option: True})
    assert option not in Network.load(paths[1]).metadata


@pytest.mark.parametrize("option", NEVER)
def test_what_no_program_has_is_refused_by_name(option, tmp_path):
    call, path = model(), tmp_path / "net.tess"
    call.dump(path, targets=(), **{option: False})
    message = rf"optimize_for_inference: options must be among \[.+\], got \['{option}'\]"
    with pytest.raises(NotImplementedError, match=message):
        call.dump(tmp_path / "none.tess", **{option: True})
    with pytest.raises(NotImplementedError, match=message):
        Network.load(path).optimize_for_inference([], **{option: True})
    assert not (tmp_path / "none.tess").exists()


def test_other_names_are_refused(tmp_path):
    message = r"optimize_for_inference: options must be those of MegEngine, got \['enable_magic'\]"
    with pytest.raises(ValueError, match=message):
        model().dump(tmp_path / "net.tess", enable_magic=True)
    assert not (tmp_path / "net.tess").exists()


def test_operators_that_share_no_kernel(tmp_path):
    function, x = lambda x: F.exp(F.sin(x) * 2) + 1, tensor(5)
    call, path = traced(function, x), tmp_path / "net.tess"
    call.dump(path)
    assert launches(path, x) == 1
    call.dump(path, enable_fuse_grain=False)
    assert launches(path, x) == 4
    assert same_bits(jit.load(path, allow_code=True)(x), function(x))
    call.dump(path, enable_fuse_grain=False, optimize_for_inference=False)
    assert launches(path, x) == 1


def test_a_trace_without_fusion_is_dumped_so(tmp_path):
    x = tensor(5)
    call = jit.trace(lambda x: F.exp(x) + 1, capture_as_const=True, opt_level=0)
    call(x)
    call.dump(tmp_path / "net.tess")
    assert launches(tmp_path / "net.tess", x) == 2


def test_half_precision(tmp_path):
    net, path, x = Model().eval(), tmp_path / "half.tess", tensor(4, 6, seed=1)
    call = traced(net.__call__, x)
    info = call.dump(path, dims={"arg_0": {0: jit.Dim("n", 1, 8)}}, enable_io16xc32=True)
    program = jit.load(path)
    with amp.autocast():
        expected = net(x).astype("float16")
    assert program(x).dtype == np.float16 and same_bits(program(x), expected)
    assert same_bits(program(x[:2]), expected[:2])
    assert same_bits(jit.load(path, allow_code=True)(x), expected)
    assert Network.load(path).metadata["enable_io16xc32"] is True and info.nr_opr > 10
    assert call(x).dtype == np.float32
    call.dump(path)
    assert same_bits(jit.load(path)(x), net(x))


def test_half_precision_leaves_other_results(tmp_path):
    call = traced(lambda x: (F.argmax(x, 0), x.astype("float64"), x @ x), tensor(3, 3))
    call.dump(tmp_path / "net.tess", enable_io16xc32=True)
    results = jit.load(tmp_path / "net.tess")(tensor(3, 3))
    assert [each.dtype.name for each in results] == ["int32", "float64", "float16"]


def test_a_network_has_no_function_to_record(tmp_path):
    model().dump(tmp_path / "net.tess", targets=())
    network = Network.load(tmp_path / "net.tess")
    with pytest.raises(NotImplementedError, match=r"got \['enable_io16xc32'\]"):
        network.dump(tmp_path / "half.tess", enable_io16xc32=True)
