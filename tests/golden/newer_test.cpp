//===- newer_test.cpp - what a newer Tessera wrote is refused by name -----===//
//
// The demo's golden file with additions: Protobuf's last value of a field counts,
// and a repeated field grows, so bytes at the end of a section are enough.
//
//===----------------------------------------------------------------------===//
#include "compiler/ProgramFile.h"
#include "ops/Error.h"
#include "runtime/schema/Container.h"
#include "tessera/deploy.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace tess;
using namespace tess::runtime;

namespace {

const std::string unknownField = "\x98\x06\x01"; // number 99, a varint

/// A copy of the golden file, `more` at the end of the section of that kind.
class Changed {
public:
  Changed(SectionKind kind, const std::string &more) {
    REQUIRE(::mkdtemp(folder.data()));
    auto golden = llvm::cantFail(Container::open("tests/golden/1/digits.tess"));
    std::vector<std::string> bytes;
    for (const Container::Section &section : golden->sections())
      bytes.push_back(llvm::cantFail(golden->read(section.kind, section.name)).str() +
                      (section.kind == kind ? more : ""));
    std::vector<SectionData> sections;
    for (size_t i = 0; i < bytes.size(); ++i)
      sections.push_back({golden->sections()[i].kind, golden->sections()[i].name, bytes[i]});
    llvm::cantFail(writeContainer(path(), sections));
  }
  ~Changed() { std::filesystem::remove_all(folder); }
  std::string path() const { return folder + "/new.tess"; }

  /// What is said when the graph is read (jit.load, tess-compile, tess-dump).
  std::string graphRefusal() const {
    auto graph = compiler::readGraph(path());
    return graph ? "" : takeError(graph.takeError()).second;
  }
  /// What tess-run says.
  std::string codeRefusal() const {
    tessera::deploy::Model model;
    return tessera::deploy::Model::load(path(), model).message;
  }

private:
  std::string folder = "/tmp/tess_newer_XXXXXX";
};

} // namespace

TEST_CASE("the golden file, copied, opens") {
  Changed same(SectionKind::Graph, "");
  CHECK(same.graphRefusal() == "");
  CHECK(same.codeRefusal() == "");
}

TEST_CASE("a newer container") {
  Changed newer(SectionKind::Graph, "");
  std::fstream file(newer.path(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(8).put(2);
  file.close();
  const std::string text =
      newer.path() + ": format version must be at most 1, got 2, written by a newer Tessera or damaged";
  CHECK(newer.graphRefusal() == text);
  CHECK(newer.codeRefusal() == text);
}

TEST_CASE("a newer graph") {
  auto refusal = [](const std::string &more) {
    Changed newer(SectionKind::Graph, more);
    CHECK(newer.codeRefusal() == ""); // the runtime does not look at it
    std::string text = newer.graphRefusal();
    CHECK(llvm::StringRef(text).starts_with(newer.path() + ": "));
    return text.substr(newer.path().size() + 2);
  };
  CHECK(refusal("\x08\x02") == "graph: format must be at most 1, got 2, written by a newer Tessera");
  CHECK(refusal(unknownField) == "graph: fields of Graph must be known, got number 99, written by a newer Tessera");
  CHECK(refusal("\x2a\x0a\x0a\x08relu@7{}") == "relu: version must be in [1, 1], got 7, written by a newer Tessera");
  CHECK(refusal("\x2a\x0a\x0a\x08zeta@1{}") ==
        "operator: name must be known, got 'zeta', written by a newer Tessera or damaged");
}

TEST_CASE("a newer executable") {
  auto refusal = [](const std::string &more) {
    Changed newer(SectionKind::Executable, more);
    CHECK(newer.graphRefusal() == "");
    std::string prefix = newer.path() + ": executable x86-64-v3: ", text = newer.codeRefusal();
    CHECK(llvm::StringRef(text).starts_with(prefix));
    return text.substr(prefix.size());
  };
  CHECK(refusal("\x08\x02") == "version of the executable must be at most 1, got 2, written by a newer Tessera");
  CHECK(refusal(unknownField) == "fields of Executable must be known, got number 99, written by a newer Tessera");
  CHECK(refusal("\x32\x0a\x0a\x08relu@7{}") == "relu: version must be in [1, 1], got 7, written by a newer Tessera");
}
