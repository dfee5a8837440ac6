//===- npy.cpp - any bytes as a `.npy` file -------------------------------===//
#include "tessera/npy.h"
#include "tests/fuzz/Fuzz.h"

#include <cstring>

using namespace tessera::deploy;
namespace fuzz = tess::fuzz;

void fuzzOne(llvm::StringRef input) {
  fuzz::MemoryFile file(input);
  NpyArray array, again;
  Status status = readNpy(file.path(), array);
  if (!status)
    return fuzz::requireForm(status.message);
  fuzz::require(size_t(array.count()) * byteWidth(array.dtype) == array.data.size(), "an array must have its bytes");
  fuzz::MemoryFile copy("");
  fuzz::require(bool(writeNpy(copy.path(), array.dtype, array.shape, array.data.data())) &&
                    bool(readNpy(copy.path(), again)),
                "what was read must survive its encoding");
  fuzz::require(again.dtype == array.dtype && again.shape == array.shape && again.data == array.data,
                "what was read must survive its encoding");
}
