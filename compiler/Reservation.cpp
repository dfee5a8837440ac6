//===- Reservation.cpp - memory that a compilation finds ------------------===//
#include "compiler/Reservation.h"

#include "ops/vocabulary/Error.h"

#include <sys/mman.h>

namespace tess::compiler {

// Twice of what compilations were seen to take: 30 MiB, and 40 KiB for each operator.
static constexpr size_t kBytes = 64 << 20, kBytesOfOperator = 80 << 10;

llvm::Error reserveForCompilation(size_t operators) {
  const size_t bytes = kBytes + operators * kBytesOfOperator;
  void *room = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED)
    return makeError(ErrorCode::ResourceExhausted, "compile: the process must be able to take " +
                                                       std::to_string(bytes >> 20) +
                                                       " MiB for the compilation, got none from the system");
  munmap(room, bytes);
  return llvm::Error::success();
}

} // namespace tess::compiler
