"""What dump returns, and what the file keeps beside the program: metadata and strip info."""

import io
import json

import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera.utils.network import Network

from tests.frontends.python.jit.dumping import Model, model, tensor, traced
from tests.support.helper import same_bits


def test_the_information_tuple(tmp_path):
    path = tmp_path / "net.tess"
    info = model().dump(path, arg_names="x", output_names="y")
    assert isinstance(info, jit.DumpInfo) and isinstance(info, tuple)
    assert info._fields == (
        "nr_opr", "tot_bytes", "tensor_value_bytes", "content_hash", "inputs", "outputs", "params"
    )  # fmt: skip
    assert info.nr_opr == len(Network.load(path).all_oprs)
    assert info.tot_bytes == path.stat().st_size
    parameters = 6 * 4 + 4 + 4 * 3 + 3
    assert info.tensor_value_bytes == 4 * (parameters + 1)  # and the number 1
    assert (info.inputs, info.outputs) == (["x"], ["y"])
    assert sorted(info.params) == ["first.bias", "first.weight", "second.bias", "second.weight"]


def test_states_count_as_parameters(tmp_path):
    count = tessera.Tensor([1.0, 2.0], name="count")

    def counting(x):
        count[...] = count + x
        return count * 2

    info = traced(counting, tensor(2)).dump(tmp_path / "counting.tess", targets=())
    assert info.params == ["count"] and info.tensor_value_bytes >= 8
    assert info.outputs == ["output0"]


def test_the_hash_is_that_of_the_content(tmp_path):
    first, again = (model().dump(tmp_path / name, targets=()) for name in ("a.tess", "b.tess"))
    assert first.content_hash == again.content_hash < 1 << 64
    other = model().dump(tmp_path / "c.tess", targets=(), user_info=1)
    assert other.content_hash != first.content_hash


def test_a_network_gives_one_too(tmp_path):
    first = model().dump(tmp_path / "net.tess", arg_names=["x"], output_names=["y"], targets=())
    info = Network.load(tmp_path / "net.tess").dump(io.BytesIO(), targets=())
    assert isinstance(info, jit.DumpInfo)
    assert info[:1] + info[2:3] == first[:1] + first[2:3]
    assert (info.inputs, info.outputs, info.params) == (["x"], ["y"], [])


def test_names_of_arguments_and_results(tmp_path):
    def dict_of(x, *, scale, shifts):
        return {"sum": x + shifts[0], "product": x * scale - shifts[1]}

    arguments = {"scale": tensor(3), "shifts": [tensor(3), tensor(3)]}
    call = traced(dict_of, tensor(3), **arguments)
    path = tmp_path / "net.tess"
    info = call.dump(path, targets=())
    assert info.inputs == ["arg_0", "scale", "shifts_0", "shifts_1"]
    assert info.outputs == ["sum", "product"]
    assert call.dump(path, targets=(), arg_names="x").inputs[:2] == ["x", "scale"]
    assert call.dump(path, targets=(), arg_names=list("abcd")).inputs == list("abcd")
    assert call.dump(path, targets=(), output_names=("p", "q")).outputs == ["p", "q"]
    for names in (["a", "b"], ["scale"], []):
        with pytest.raises(ValueError, match="dump: arg_names must be 4 different names, got"):
            call.dump(path, arg_names=names)
    with pytest.raises(ValueError, match=r"dump: output_names must be 2 different names, got \['"):
        call.dump(path, output_names="y")


def test_metadata(tmp_path):
    path, info = tmp_path / "net.tess", {"author": "me", "scores": [1, 2.5, None]}
    call = model()
    call.dump(path, targets=(), user_info=info, enable_nchw88=True)
    assert Network.load(path).metadata == {
        "user_info": info,
        "graph_modified": False,
        "optimized_for_inference": True,
        "enable_nchw88": True,
    }
    call.dump(path, targets=())
    assert Network.load(path).metadata == {
        "user_info": None,
        "graph_modified": False,
        "optimized_for_inference": False,
    }
    network = Network.load(path)
    network.dump(path, targets=())
    assert Network.load(path).metadata["graph_modified"]
    call.dump(path, targets=(), enable_metadata=False, user_info=info)
    assert Network.load(path).metadata is None
    with pytest.raises(TypeError, match="dump: user_info must be what JSON knows, got {1, 2}"):
        call.dump(path, user_info={1, 2})


def test_a_plain_file_grows_by_one_short_text(tmp_path):
    call = model()
    plain = call.dump(tmp_path / "a.tess", enable_metadata=False).tot_bytes
    assert 0 < call.dump(tmp_path / "b.tess").tot_bytes - plain <= 128


def test_strip_info(tmp_path):
    path, strip = tmp_path / "net.tess", tmp_path / "strip.json"
    info = model().dump(path, targets=(), strip_info_file=strip)
    first = json.loads(strip.read_text())
    assert first["opr_types"] == ["linear", "relu", "sub"] and first["dtypes"] == ["float32"]
    assert first["hash"] == info.content_hash
    other = traced(lambda x: F.argmax(x, 0), tensor(3))
    info = other.dump(path, targets=(), strip_info_file=str(strip), append_json=True)
    both = json.loads(strip.read_text())
    assert both["opr_types"] == ["argmax", "linear", "relu", "sub"]
    assert both["dtypes"] == ["float32", "int32"] and both["hash"] == info.content_hash
    other.dump(path, targets=(), strip_info_file=strip)
    assert json.loads(strip.read_text())["opr_types"] == ["argmax"]


def test_strip_info_in_a_stream(tmp_path):
    stream = io.StringIO()
    model().dump(tmp_path / "net.tess", targets=(), strip_info_file=stream)
    other = traced(lambda x: F.argmax(x, 0), tensor(3))
    other.dump(tmp_path / "net.tess", targets=(), strip_info_file=stream, append_json=True)
    assert json.loads(stream.getvalue())["opr_types"] == ["argmax", "linear", "relu", "sub"]


def test_operators_within_loops_count(tmp_path):
    strip = io.StringIO()

    def looping(x):
        return F.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, F.sin(x)), F.full((), 0), x)[1]

    traced(looping, tensor(3)).dump(tmp_path / "l.tess", targets=(), strip_info_file=strip)
    assert "sin" in json.loads(strip.getvalue())["opr_types"]


REFUSED = {
    "append": ({"append": True}, "append must be False, got True: a file has one program"),
    "a format": ({"dump_format": "FBS_V2"}, "dump_format must be None or 'tess', got 'FBS_V2'"),
    "a version": ({"model_version": 3}, "model_version must be 2, the only one of this format,"),
}


@pytest.mark.parametrize("what", list(REFUSED))
def test_what_no_file_of_this_format_has(what, tmp_path):
    options, message = REFUSED[what]
    call = model()
    with pytest.raises(NotImplementedError, match=f"^dump: {message}"):
        call.dump(tmp_path / "net.tess", **options)
    call.dump(tmp_path / "plain.tess", targets=())
    with pytest.raises(NotImplementedError, match=f"^dump: {message}"):
        Network.load(tmp_path / "plain.tess").dump(tmp_path / "net.tess", **options)
    assert not (tmp_path / "net.tess").exists()


def test_options_without_effect_change_no_byte(tmp_path):
    call = model()
    for name, options in {
        "plain": {},
        "all": {"keep_opr_priority": True, "no_change_graph": True, "dump_format": "tess"},
    }.items():
        call.dump(tmp_path / name, targets=(), **options)
    assert (tmp_path / "plain").read_bytes() == (tmp_path / "all").read_bytes()


def test_the_program_is_the_function(tmp_path):
    net, path, x = Model().eval(), tmp_path / "net.tess", tensor(2, 6, seed=1)
    traced(net.__call__, x).dump(path, keep_var_name=0, keep_opr_name=True, user_info="me")
    assert same_bits(jit.load(path)(x), net(x))
