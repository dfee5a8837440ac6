//===- FileConstants.cpp - programs whose constants are in a file ---------===//
#include "runtime/bind/FileConstants.h"

namespace tess::runtime {

ProgramOptions optionsFor(std::shared_ptr<Container> file) {
  ProgramOptions options;
  options.tensor = [raw = file.get()](llvm::StringRef tensor) { return raw->read(SectionKind::Tensor, tensor); };
  options.check = [raw = file.get()] { return raw->checkFile(); };
  options.giveBack = [raw = file.get()](llvm::StringRef bytes) { raw->giveBack(bytes); };
  options.keepAlive = std::move(file);
  return options;
}

} // namespace tess::runtime
