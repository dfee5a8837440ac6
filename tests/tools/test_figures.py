from tools.commands import figures
from tools.lint import sources


def test_lines_of_a_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    monkeypatch.setattr(figures, "COUNTED", ["a/x", "a/x/own"])
    texts = {
        "a/x/A.h": "#pragma once\n\n/// Says it.\nint f();\n",
        "a/x/deep/B.cpp": '#include "a/x/A.h"\nint f() { return 1; } // 1\n',
        "a/x/own/D.cpp": "int i;\nint j;\n",
        "a/x/BUILD.bazel": "x\n",
        "a/x/Made.h": "// Written by a tool: do not edit.\nint h;\n",
        "a/xy/C.cpp": "int g;\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert figures.lines_of(list(texts), "a/x") == "a/x: 4 in A.h deep/B.cpp"
    assert figures.lines_of(list(texts), "a/x/own") == "a/x/own: 2 in D.cpp"
