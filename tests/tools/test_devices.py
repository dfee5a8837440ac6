import pytest

from tools.lint import devices, sources

TABLE = {"code": ["eager/*.cpp", "eager/*.py"], "except": ["eager/Old.cpp"]}


def found(tmp_path, monkeypatch, name, text):
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    (tmp_path / "eager").mkdir(exist_ok=True)
    for each in (name, "Old.cpp"):
        (tmp_path / "eager" / each).write_text(text)
    return list(devices.check([f"eager/{name}", "eager/Old.cpp"], TABLE))


@pytest.mark.parametrize("device", ["cpu0", "cpu", "xpux", "sim0", "gpu1:0", "null0"])
def test_a_name(tmp_path, monkeypatch, device):
    line = f'if (device.name() == "{device}")'
    assert found(tmp_path, monkeypatch, "Format.cpp", f"int a;\n{line}\n") == [
        f'devices: eager/Format.cpp:2 must ask a device, got the name "{device}"'
    ]


@pytest.mark.parametrize("device", ["hostDevice()", "simDevice()", "nullDevice()"])
def test_a_device_by_its_function(tmp_path, monkeypatch, device):
    assert found(tmp_path, monkeypatch, "Format.cpp", f"auto &d = runtime::{device};\n") == [
        f"devices: eager/Format.cpp:1 must ask a device, got the name {device}"
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Format.cpp", 'int a; // as "cpu0" has'),
        ("Format.cpp", 'auto text = "cpu kernels";'),
        ("show.py", '"""On "cpu0"\nor "sim0"."""\nx = 1  # "cpu0"\n'),
    ],
)
def test_no_name(tmp_path, monkeypatch, name, text):
    assert not found(tmp_path, monkeypatch, name, text)
