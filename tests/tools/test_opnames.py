import pytest

from tools.lint import opnames, sources

TABLE = {"code": ["eager/*.cpp"], "except": ["eager/Old.cpp"]}
SAYS = "must ask the record, got a comparison with"


@pytest.mark.parametrize(
    ("line", "operator"),
    [
        ('if (op.name() == "pad")', "pad"),
        ('return "pad" != info.name;', "pad"),
        ('.Cases({"conv2d", "tanh"}, true)', "conv2d"),
        ('if (isOp(op, "reshape"))', "reshape"),
    ],
)
def test_a_comparison(tmp_path, monkeypatch, line, operator):
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    (tmp_path / "eager").mkdir()
    for name in ("Format", "Old"):
        (tmp_path / f"eager/{name}.cpp").write_text(f"int a;\n{line}\n")
    names = ["eager/Format.cpp", "eager/Old.cpp"]
    found = list(opnames.check(names, TABLE, {"pad", "conv2d", "reshape"}))
    assert found == [f"opnames: eager/Format.cpp:2 {SAYS} {operator}"]


@pytest.mark.parametrize(
    "line",
    [
        'OpDef full = OpDef::get("full");',
        'if (text == "other")',
        'if (rank == 2) // as "pad" does',
        'profiler::record(reader, "copy");',
        '{"pad", "x == y says more", false},',
    ],
)
def test_no_comparison(tmp_path, monkeypatch, line):
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    (tmp_path / "eager").mkdir()
    (tmp_path / "eager/Format.cpp").write_text(line)
    assert not list(opnames.check(["eager/Format.cpp"], TABLE, {"full", "pad", "copy"}))
