"""Libraries that are built from sources: `utils.custom_op_tools`."""

import numpy as np
import pytest
import tessera as ts
from tessera.utils import custom_op_tools

SOURCE = """
#include "tessera/custom_op.h"
using namespace tessera::custom;
struct Twice {
  static void declare(Declaration &d) {
    d.name("NAME::twice").input("x", kFloat32).output("out", kFloat32);
  }
  static void infer(Infer &i) { i.output(0) = i.input(0); }
  static void forward(const Run &r) {
    for (int64_t i = 0; i < r.input(0).elements(); ++i)
      r.output(0).data<float>()[i] = 2 * r.input(0).data<float>()[i];
  }
};
TESSERA_LIBRARY("NAME", "2.0", Twice)
"""
OTHER = """
#include "tessera/custom_op_abi.h"
extern "C" const TessLibrary *tessera_library(uint32_t) {
  static const TessLibrary library = {sizeof(TessLibrary), 77, "other", "1", 0, 0};
  return &library;
}
"""


def test_build_and_load(tmp_path):
    (tmp_path / "twice.cpp").write_text(SOURCE.replace("NAME", "built"))
    built = custom_op_tools.build_and_load(
        "built", [tmp_path / "twice.cpp"], "-O1", build_dir=tmp_path
    )
    np.testing.assert_array_equal(built.twice(ts.tensor([1.0, 2.0])).numpy(), [2.0, 4.0])
    assert ts.load_library(tmp_path / "built.so") is built
    assert custom_op_tools.load(tmp_path / "built.so") is built


def test_one_name_twice(tmp_path):
    (tmp_path / "twice.cpp").write_text(SOURCE.replace("NAME", "named"))
    for name in ("one", "two"):
        custom_op_tools.build(name, tmp_path / "twice.cpp", build_dir=tmp_path)
    ts.load_library(tmp_path / "one.so")
    with pytest.raises(ValueError, match="names of operators must differ, got 'named.twice' twice"):
        ts.load_library(tmp_path / "two.so")


def test_another_abi(tmp_path):
    (tmp_path / "other.cpp").write_text(OTHER)
    path = custom_op_tools.build("other", tmp_path / "other.cpp", build_dir=tmp_path)
    with pytest.raises(NotImplementedError, match="a library must be of ABI 1, got 77"):
        ts.load_library(path)


def test_bad_sources(tmp_path, monkeypatch):
    (tmp_path / "bad.cpp").write_text("this is no C++")
    with pytest.raises(RuntimeError, match="build: sources must compile, got"):
        custom_op_tools.build("bad", tmp_path / "bad.cpp", build_dir=tmp_path)
    with pytest.raises(FileNotFoundError, match="build: sources must be files, got"):
        custom_op_tools.build("none", tmp_path / "none.cpp", build_dir=tmp_path)
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(FileNotFoundError, match="build: a compiler of C[+][+] must be there"):
        custom_op_tools.build("bad", tmp_path / "bad.cpp", build_dir=tmp_path)
