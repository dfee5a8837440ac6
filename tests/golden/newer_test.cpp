//===- newer_test.cpp - what a newer Tessera wrote ------------------------===//
//
// The demo's golden file with additions: Protobuf's last value of a field counts,
// and a repeated field grows, so bytes at the end of a section are enough.
//
//===----------------------------------------------------------------------===//
#include "tests/golden/ChangedFile.h"

#include <catch2/catch.hpp>

#include <fstream>

using namespace tess;
using namespace tess::runtime;
using test::ChangedFile;

namespace {

const std::string unknownField = "\x98\x06\x01"; // number 99, a varint

/// A copy of the golden file, `more` at the end of the section of that kind.
class Changed : public ChangedFile {
public:
  Changed(SectionKind kind, const std::string &more)
      : ChangedFile("tests/golden/1/digits.tess", kind, [&](std::string bytes) { return bytes + more; }) {}
};

} // namespace

TEST_CASE("the golden file, copied, opens") {
  Changed same(SectionKind::Graph, "");
  CHECK(same.graphRefusal() == "");
  CHECK(same.codeRefusal() == "");
}

TEST_CASE("fields that a reader may skip are skipped") {
  for (SectionKind kind : {SectionKind::Graph, SectionKind::Executable}) {
    Changed newer(kind, unknownField);
    CHECK(newer.graphRefusal() == "");
    CHECK(newer.codeRefusal() == "");
  }
}

TEST_CASE("a newer container") {
  Changed newer(SectionKind::Graph, "");
  std::fstream file(newer.path(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(8).put(2);
  file.close();
  const std::string text = "format version must be at most 1, got 2, written by a newer Tessera or damaged";
  CHECK(newer.graphRefusal() == text);
  CHECK(newer.codeRefusal() == text);
}

TEST_CASE("a newer graph") {
  auto refusal = [](const std::string &more) {
    Changed newer(SectionKind::Graph, more);
    CHECK(newer.codeRefusal() == ""); // the runtime does not look at it
    return newer.graphRefusal();
  };
  CHECK(refusal("\x08\x03") == "graph: format must be at most 2, got 3, written by a newer Tessera");
  CHECK(refusal("\x08\x02\x42\x06ragged") ==
        "graph: the file needs ragged, which this version of Tessera does not know, got features [ragged]");
  CHECK(refusal("\x2a\x0a\x0a\x08relu@7{}") == "relu: version must be in [1, 1], got 7, written by a newer Tessera");
  CHECK(refusal("\x2a\x0a\x0a\x08zeta@1{}") ==
        "operator: name must be known, got 'zeta', written by a newer Tessera or damaged");
}

TEST_CASE("a newer executable") {
  auto refusal = [](const std::string &more) {
    Changed newer(SectionKind::Executable, more);
    CHECK(newer.graphRefusal() == "");
    const std::string prefix = "executable x86-64-v3: ", text = newer.codeRefusal();
    CHECK(llvm::StringRef(text).starts_with(prefix));
    return text.substr(prefix.size());
  };
  CHECK(refusal("\x08\x03") == "version of the executable must be at most 2, got 3, written by a newer Tessera");
  CHECK(refusal("\x08\x02\x82\x01\x06ragged") ==
        "the file needs ragged, which this version of Tessera does not know, got features [ragged]");
  CHECK(refusal("\x32\x0a\x0a\x08relu@7{}") == "relu: version must be in [1, 1], got 7, written by a newer Tessera");
}
