"""Kinds of files that tessera.load reads, and damaged ones of them."""

import io
import json
import re
import zipfile
import zlib
from collections import OrderedDict

import numpy as np
import pytest
import tessera
from tessera.dtype import is_dtype_equal

from tests.support.helper import same_bits

EXPECTED = np.arange(100, dtype=np.float32)


def saved(value):
    file = io.BytesIO()
    tessera.save(value, file)
    return file.getvalue()


def loaded(content, **options):
    return tessera.load(io.BytesIO(bytes(content)), **options)


@pytest.fixture(scope="module")
def whole():
    return saved({"w": EXPECTED, "epoch": 3, "x": {"y": tessera.Tensor([1.0, 2.0])}})


def test_truncated_files_are_errors(whole):
    for length in range(0, len(whole), 3):
        with pytest.raises(ValueError, match="^load: .* must .*, got "):
            loaded(whole[:length])


def check_flipped(content, positions):
    """Flips one bit in each byte; what loads all the same has the values of before."""
    for position in positions:
        for bit in (0x01, 0x10):
            data = bytearray(content)
            data[position] ^= bit
            try:
                got = loaded(data)
            except ValueError as error:
                assert re.match("load: .* must .*, got ", str(error), re.DOTALL)
                continue
            assert got["epoch"] == 3
            np.testing.assert_array_equal(got["w"], EXPECTED)


def test_flipped_bits_never_change_values(whole):
    check_flipped(whole, range(len(whole)))


def test_a_flipped_bit_is_named(whole):
    data = bytearray(whole)
    data[-1] ^= 1
    with pytest.raises(ValueError, match="^load: the bytes of a tensor must be .* for 'x.y'$"):
        loaded(data)


def header_of(content):
    """(header, numbers) of a file in the layout of safetensors, read by hand."""
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def with_header(header, numbers):
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + numbers


def test_the_layout_is_that_of_safetensors():
    """As its README says: an array of each dtype, read by hand."""
    value = {
        "net": {"0.weight": np.float32([[1.5], [2.5]]), "flag": np.array([True, False])},
        "list": [np.int64(7), tessera.Tensor([1.0], dtype="bfloat16")],
        "c": np.complex64([1 + 2j]),
    }
    header, numbers = header_of(saved(value))
    metadata = header.pop("__metadata__")
    assert all(type(text) is str for text in metadata.values())
    found = {
        name: (entry["dtype"], entry["shape"], numbers[slice(*entry["data_offsets"])])
        for name, entry in header.items()
    }
    assert found == {
        "net.0.weight": ("F32", [2, 1], np.float32([1.5, 2.5]).tobytes()),
        "net.flag": ("BOOL", [2], b"\x01\x00"),
        "list.0": ("I64", [], np.int64(7).tobytes()),
        "list.1": ("BF16", [1], b"\x80\x3f"),
        "c": ("F32", [1, 2], np.float32([1, 2]).tobytes()),
    }
    places = sorted(entry["data_offsets"] for entry in header.values())
    assert places[0][0] == 0 and places[-1][1] == len(numbers)
    assert all(a[1] == b[0] for a, b in zip(places, places[1:], strict=False))  # no gaps
    assert (len(saved(value)) - len(numbers)) % 64 == 0


def test_names_of_tensors_are_unique_and_text():
    value = {"a": {"b": np.int8([1])}, "a.b": np.int8([2]), "__metadata__": np.int8([3]),
             "\ud800": np.int8([4]), (1, "x"): np.int8([5])}  # fmt: skip
    header, _ = header_of(saved(value))
    assert set(header) == {"__metadata__", "a.b", "a.b~2", "__metadata__~2", "?", "(1, 'x')"}
    assert {key: value for key, value in loaded(saved(value)).items() if key != "a"}.keys() == {
        key for key in value if key != "a"
    }
    assert loaded(saved(np.int8([6]))).tolist() == [6]


def test_files_of_other_tools_are_tensors_by_name():
    numbers = np.float32([1, 2, 3, 4]).tobytes() + b"\x80\x3f" + b"\x01"
    header = {
        "w": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
        "h": {"dtype": "BF16", "shape": [], "data_offsets": [16, 18]},
        "b": {"dtype": "BOOL", "shape": [1], "data_offsets": [18, 19]},
        "e": {"dtype": "I64", "shape": [0], "data_offsets": [19, 19]},
    }
    for metadata in ({}, {"__metadata__": {"format": "pt"}}):
        got = loaded(with_header({**metadata, **header}, numbers))
        assert list(got) == ["w", "h", "b", "e"]
        assert got["w"].tolist() == [[1.0, 2.0], [3.0, 4.0]] and got["h"].dtype == "bfloat16"
        assert got["h"].item() == 1.0 and got["b"].tolist() == [True] and got["e"].shape == (0,)


def entry(**changes):
    return {"a": {"dtype": "I32", "shape": [1], "data_offsets": [0, 4], **changes}}


@pytest.mark.parametrize(
    "header",
    [
        [],
        {"a": 3},
        {"a": {}},
        {"__metadata__": 3},
        {"__metadata__": {"tessera": "{}"}},
        entry(dtype="F8_E4M3"),
        entry(dtype=["I32"]),
        entry(dtype="U7"),
        entry(shape=[-1]),
        entry(shape=[True]),
        entry(shape=["1"]),
        entry(shape=[2**62, 4]),
        entry(shape=[1] * 100),
        entry(data_offsets=[0, 8]),
        entry(data_offsets=[4, 8]),
        entry(data_offsets=[4, 0]),
        entry(data_offsets=[0]),
        {**entry(), "b": entry()["a"]},
        {"__metadata__": {"tessera": "[" * 100_000, "tessera_crc32": "0"}},
    ],
)
def test_damaged_headers(header):
    with pytest.raises(ValueError, match="(?s)^load: .* must .*, got "):
        loaded(with_header(header, b"1234"))


def test_a_length_that_lies_takes_no_memory():
    with pytest.raises(ValueError, match="^load: the file must be whole, got 1 of 4294967295 byte"):
        loaded(b"\xff\xff\xff\xff\0\0\0\0{")


def of_structure(tree, **changes):
    """A file whose structure says `tree`, with one tensor of 4 bytes, "a"."""
    header = {"format": "tessera-save", "version": 2, "tree": tree, **changes}
    text = json.dumps(header)
    metadata = {"tessera": text, "tessera_crc32": str(zlib.crc32(text.encode()))}
    return with_header({"__metadata__": metadata, **entry()}, b"1234")


NODE = {"dtype": "int32", "shape": [1], "member": "a", "crc32": zlib.crc32(b"1234")}


def test_structures():
    assert loaded(of_structure({"array": NODE})).tolist() == [0x34333231]
    assert loaded(of_structure({"tensor": NODE})).tolist() == [0x34333231]


@pytest.mark.parametrize(
    "tree",
    [
        {"unknown": 1},
        {"unknown": NODE},
        {"array": {**NODE, "member": "b"}},
        {"array": {**NODE, "dtype": "float32"}},
        {"array": {**NODE, "dtype": "object"}},
        {"array": {**NODE, "shape": [1, 1]}},
        {"array": {**NODE, "crc32": 0}},
        {"array": {"member": "a"}},
        {"tensor": {**NODE, "name": 3}},
        {"tensor": {**NODE, "device": "nowhere"}, "array": NODE},
        {"set": [{"list": []}]},
        {"slice": [1]},
        {"range": [0, 1, 0]},
        {"complex": "x"},
    ],
)
def test_damaged_structures(tree):
    with pytest.raises(ValueError, match="(?s)^load: .* must .*, got "):
        loaded(of_structure(tree))


def test_structures_without_end():
    deep = '{"list": [' * 5000 + "1" + "]}" * 5000
    text = '{"format": "tessera-save", "version": 2, "tree": ' + deep + "}"
    metadata = {"tessera": text, "tessera_crc32": str(zlib.crc32(text.encode()))}
    header = b'{"a":' + b"[" * 100_000
    for content in (
        with_header({"__metadata__": metadata}, b""),
        len(header).to_bytes(8, "little") + header,
    ):
        with pytest.raises(ValueError, match="^load: .* must .*, got RecursionError"):
            loaded(content)


def test_files_of_later_versions():
    with pytest.raises(ValueError, match="^load: the file's version must be at most 2, got 3$"):
        loaded(of_structure(1, version=3))


@pytest.mark.parametrize(
    "content", [b"", b"x", b"hello, world", bytes(100), b"\x93NUMPY\x01\x00v\x00"]
)
def test_foreign_bytes(content):
    with pytest.raises(
        ValueError, match="^load: the file must (be one that save wrote|have bytes)"
    ):
        loaded(content)


# What save of version 1 wrote: compressed, in hexadecimal.
VERSION_1 = """
78da7593bb4ec3301486d30b0826183a5462003c734b8240aa5495ce1de81e32b8d485a034a96c97aaaa22f501909078
2216c4825819790a4624ce71d236272acec5f6f1f93fff3e51ba9d4ab566a5edd0faf2cff73e4b9685cf3644b414e2e4
41c5d18c0d6239e49a350e98164a09c98f157f14ece8803d0aa9823882251b662881e18cf5835b4cf73c3681ac191b71
c987420b99aeeae908f3d8208cb9761d04a97b6e621e701c1f024331ec99fc339844a04641c8a7429e4c447077af5992
409ec77a66072d221517f03dc3b72f089fc2ed0c12194818289d7998a5e6101344039660a43785e363a4dd6e3631148d
c3d06c3e1e8506ce38f3133f45c60619cbbe90a26f8ae162804bc9a7d46710e98b7362d225269dcca4324475cb43beae
90050641b880f0f14ebae4a3378ebe3fb660943e35cbb853a767256bd7c4ac6c2d6daf2d7c51c2fedbb3a8c2a84a0936
12aa59d6a29fb7aeaea8fae3e6e9ba0ea33a553ba8ae6759758bb652d697b39e127fbd97c99a13b9eb4f64dc81a752b9
56f9ff5758b4b9d97af9631465b49879d90f0817a52daa6801f3aacbf252651755b47079d578a5728a2a5a9cbcea7da5
72bb9d8d4d8c6ec0b58325a8e0ec0fbb80d47c
"""


@pytest.fixture(scope="module")
def archive():
    return zlib.decompress(bytes.fromhex(VERSION_1))


def test_archives_of_version_1(archive):
    for got in (loaded(archive), loaded(archive, map_location=lambda device: "cpu0")):
        assert type(got["w"]) is tessera.Parameter and got["w"].name == "layer.weight"
        assert got["w"].tolist() == [[1.5, -2.0]]
        assert got["b"].dtype == "bfloat16" and got["b"].tolist() == [1.0, 3.0]
        assert got["n"] == [1, float("inf"), b"\x00", None, ("a",)]
        assert type(got["o"]) is OrderedDict and got["o"]["s"] == 2.5
        assert got["o"][3].tolist() == [0, 1, 2] and got["o"][3].dtype == np.int64


# What save of version 2 wrote, so.
VERSION_2 = """
78dacd54db8eda3010a555fb1fc8cfe9ca3772415a2ddb8795fa0d04454e30bb9142826c038b10d27e5a3fade34b5436
8187bed542243e9e33e7783cf1fbf7891b6754145b69c45a185114687e46466a2d95407374ced1a6535b6172349fe6fd
c20f2d0e3247112007a974ddb57699dab95152da0910d775e568cb658e8e361ab09d5002b4a4ea63cc69277dee4dd309
c3a84fabdf84c797249ad29585b6725b7a5e4897a34a5596309f32ce12922419e1165ecb435d85acd56e8f7d700bc21e
6bc449aa87a3ac5fdfc0e0e502e9c162192c1ad9eaee86bfd21924f1d0e0d85d39704712cc328a339adc76d73b688383
a6d6a6dffb3914c6c7d7ed06c21d5a9ee0303cfafcfcf8e8e076df347e0ffb5de3dde548e468e5295a9ae038cc9b60c4
0a79aefd5f5d56c150170c756a2d955cfbc3640e124a89d3b848756b623eac101b55a87b60c31a31c667599ac6b8af86
0ee2ba128db8d72f63b11b5a7aa045318e718a673803ad7eaf5590bbb3b1aadb4249dfc77a6424580d9b93a698134e33
de6f4dbc8a7a74d8ffedd7616b744151fff1172e2fdc0d2cc9b20413cc08f49e3d527b7538cbb0f82be6407146d1dc76
0072d74bb7d940176a807044f9caf1f435efe5136f4ca33c62b67f51f5890586feb24844c74446238e2df1f88f448e23
9e5a62794dfcf942e22be62d5e1acdc0e9657a6f4cc2f8129e5f27d7e3db6232f9788297dff073cf8fa7c5e20f134aa4
06
"""


def test_files_of_version_2():
    got = loaded(zlib.decompress(bytes.fromhex(VERSION_2)))
    assert type(got["w"]) is tessera.Parameter and got["w"].name == "layer.weight"
    assert got["w"].tolist() == [[1.5, -2.0]] and got["again"][0] is got["w"]
    assert got["b"].dtype == "bfloat16" and got["b"].tolist() == [1.0, 3.0]
    assert got["n"] == [1, float("inf"), b"\x00", None, ("a",), {2}, slice(1, None)]
    assert type(got["o"]) is OrderedDict and got["o"]["s"] == 2.5
    assert got["o"][3].tolist() == [0, 1, 2] and got["c"].tolist() == [1 - 2j]


def test_damaged_archives(archive):
    for length in range(4, len(archive), 7):
        with pytest.raises(ValueError, match="^load: .* must .*, got "):
            loaded(archive[:length])
    for position in range(4, len(archive), 5):
        data = bytearray(archive)
        data[position] ^= 0x10
        try:
            got = loaded(data)
        except ValueError as error:
            assert re.match("load: .* must .*, got ", str(error))
            continue
        assert got["w"].tolist() == [[1.5, -2.0]] and got["o"][3].tolist() == [0, 1, 2]


def foreign(**changes):
    tree = {"format": "tessera-save", "version": 1, "tree": None, **changes}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("tree.json", json.dumps(tree))
        archive.writestr("arrays/0", b"1234")
    return io.BytesIO(file.getvalue())


ONE = {"dtype": "int32", "shape": [1], "member": 0}


@pytest.mark.parametrize(
    "changes",
    [
        {"format": "other"},
        {"version": 2},
        {"tree": {"unknown": 1}},
        {"tree": {"array": {"dtype": "object", "shape": [1], "member": 0}}},
        {"tree": {"array": {"dtype": "float32", "shape": [-1], "member": 0}}},
        {"tree": {"array": {"dtype": "float32", "shape": [2**62], "member": 0}}},
        {"tree": {"array": {"dtype": "float32", "shape": [1], "member": 5}}},
        {"tree": {"list": 3}},
        {"tree": {"a": 1, "b": 2}},
        {"tree": {"float": "a"}},
        {"tree": {"bytes": "a"}},
        {"tree": {"dict": [[{"list": []}, 1]]}},
        {"tree": {"pickle": {"dtype": "uint8", "shape": [4], "member": 0}}},
        {"tree": {"list": [{kind: ONE} for kind in ("array", "scalar")]}},
    ],
)
def test_foreign_files(changes):
    with pytest.raises(ValueError, match="load: "):
        tessera.load(foreign(**changes))


def test_few_bytes_do_not_become_many(archive):
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("tree.json", "[" * (1 << 20))
    with pytest.raises(ValueError, match="load: .*, got KeyError.*compressed member 'tree.json'"):
        loaded(bomb.getvalue())
    entry = archive[archive.index(b"PK\1\2") : archive.index(b"PK\5\6")]
    more, count = entry * 50, 50 * archive.count(b"PK\1\2")
    end = bytearray(archive[archive.index(b"PK\5\6") :])
    end[8:16] = count.to_bytes(2, "little") * 2 + len(more).to_bytes(4, "little")
    with pytest.raises(ValueError, match="load: .*, got KeyError.*members over each other"):
        loaded(archive[: archive.index(b"PK\1\2")] + more + bytes(end))


@pytest.mark.parametrize(
    "dtype",
    [
        tessera.dtype.qint8(0.3),
        tessera.dtype.qint8_narrow([0.1, 0.7], axis=0),
        tessera.dtype.quint8(0.25, 3),
        tessera.dtype.intb2,
    ],
)
def test_arrays_keep_scales_and_zero_points(dtype):
    """Arrays that numpy() gives of a tensor, as in a state, become the same tensor again."""
    wanted = tessera.tensor([[1.0, -1.0, 3.0], [0.5, 1.0, -3.0]]).astype(dtype)
    found = loaded(saved({"array": wanted.numpy(), "tensor": wanted}))
    assert is_dtype_equal(found["array"].dtype, wanted.dtype)
    assert np.array_equal(found["array"], wanted.numpy())
    assert all(
        same_bits(each, wanted) for each in (tessera.tensor(found["array"]), found["tensor"])
    )
