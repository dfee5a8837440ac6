//===- flat_executable.cpp - any bytes as an executable of the caches -----===//
//
// The flat form holds operators by number, so that kept inputs would come to mean
// something else. An input is therefore u32 n, n bytes of the Protobuf form, and
// edits of the flat form made of it: u24 place, u8 value. n = 0: the rest is flat.
//
//===----------------------------------------------------------------------===//
#include "runtime/schema/ExecutableCodec.h"
#include "runtime/schema/FlatExecutable.h"
#include "tests/fuzz/Programs.h"
#include "llvm/Support/Endian.h"

using namespace tess;
namespace endian = llvm::support::endian;

static std::string flatOf(llvm::StringRef input) {
  uint32_t size = input.size() < 4 ? 0 : endian::read32le(input.data());
  llvm::StringRef rest = input.drop_front(std::min<size_t>(4, input.size()));
  if (size == 0 || size > rest.size())
    return rest.str();
  auto executable = runtime::parseExecutable(rest.take_front(size), "input");
  if (!fuzz::passed(executable))
    return "";
  std::string flat = runtime::writeFlat(*executable);
  for (llvm::StringRef edits = rest.drop_front(size); edits.size() >= 4; edits = edits.drop_front(4))
    flat[(endian::read32le(edits.data()) & 0xFFFFFF) % flat.size()] = edits[3];
  return flat;
}

void fuzzOne(llvm::StringRef input) {
  fuzz::ExactBytes bytes(flatOf(input));
  auto executable = runtime::readFlat(bytes.ref(), "input: executable");
  if (!fuzz::passed(executable))
    return;
  fuzz::requireRoundTrip(*executable, runtime::writeFlat,
                         [](llvm::StringRef bytes) { return runtime::readFlat(bytes, "input: executable"); });
  fuzz::bindSmall(std::move(*executable), /*isValidated=*/true);
}
