//===- ChangedFile.h - a golden file with another section -------*- C++ -*-===//
#pragma once

#include "compiler/ProgramFile.h"
#include "ops/vocabulary/Error.h"
#include "runtime/schema/Container.h"
#include "tessera/deploy.h"

#include <cstdlib>
#include <filesystem>
#include <functional>

namespace tess::test {

/// A copy of a file, in a folder that goes with it, with the sections of one kind changed.
class ChangedFile {
public:
  using Change = std::function<std::string(std::string)>;

  ChangedFile(
      const std::string &original, runtime::SectionKind kind,
      const Change &change = [](std::string bytes) { return bytes; }) {
    if (!::mkdtemp(folder.data()))
      std::abort();
    auto golden = llvm::cantFail(runtime::Container::open(original));
    std::vector<std::string> bytes;
    for (const runtime::Container::Section &section : golden->sections()) {
      bytes.push_back(llvm::cantFail(golden->read(section.kind, section.name)).str());
      if (section.kind == kind)
        bytes.back() = change(std::move(bytes.back()));
    }
    std::vector<runtime::SectionData> sections;
    for (size_t i = 0; i < bytes.size(); ++i)
      sections.push_back({golden->sections()[i].kind, golden->sections()[i].name, bytes[i]});
    llvm::cantFail(runtime::writeContainer(path(), sections));
  }
  ~ChangedFile() { std::filesystem::remove_all(folder); }
  ChangedFile(const ChangedFile &) = delete;
  std::string path() const { return folder + "/changed.tess"; }

  /// What is said, behind the path, when the graph is read (jit.load, tess-compile, tess-dump).
  std::string graphRefusal() const {
    auto graph = compiler::readGraph(path());
    return graph ? "" : behindPath(takeError(graph.takeError()).second);
  }
  /// What tess-run says.
  std::string codeRefusal() const {
    tessera::deploy::Model model;
    return behindPath(tessera::deploy::Model::load(path(), model).message);
  }

private:
  std::string behindPath(std::string message) const {
    bool opens = message.rfind(path() + ": ", 0) == 0;
    return message.empty() ? "" : opens ? message.substr(path().size() + 2) : "without the path: " + message;
  }

  std::string folder = "/tmp/tess_changed_XXXXXX";
};

} // namespace tess::test
