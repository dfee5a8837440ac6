//===- GuardedMemory.cpp - memory of a library's outputs ------------------===//
#include "runtime/cpu/GuardedMemory.h"

#include "ops/vocabulary/Error.h"
#include "runtime/device/CustomChecks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <cstring>

namespace tess::runtime::cpu {

static constexpr size_t kGuard = 256; // bytes before and behind an output, which keep its alignment
static constexpr char kMark = char(0xA5);

GuardedMemory::GuardedMemory(llvm::ArrayRef<size_t> bytes, void *workspace, size_t workspaceBytes)
    : bytes(bytes), isOn(hasCustomChecks()) {
  if (isOn && workspace)
    std::memset(workspace, 0xFF, workspaceBytes); // NaN in every float dtype
}

static char *alignedIn(std::vector<char> &memory) {
  const auto address = reinterpret_cast<uintptr_t>(memory.data() + kGuard);
  return reinterpret_cast<char *>((address + 63) / 64 * 64);
}

void *GuardedMemory::placeOf(size_t output, void *data) {
  if (!isOn)
    return data;
  copies.push_back({output, data, std::vector<char>(bytes[output] + 2 * kGuard + 64, kMark)});
  char *place = alignedIn(copies.back().memory);
  std::memset(place, 0xFF, bytes[output]);
  return place;
}

llvm::Error GuardedMemory::finish(llvm::StringRef op, llvm::function_ref<const char *(size_t)> nameOf) {
  auto isMark = [](char each) { return each == kMark; };
  for (Copy &copy : copies) {
    const char *begin = alignedIn(copy.memory), *end = begin + bytes[copy.output];
    const char *first = copy.memory.data(), *last = first + copy.memory.size();
    if (!std::all_of(first, begin, isMark) || !std::all_of(end, last, isMark))
      return makeError(ErrorCode::Internal, op +
                                                ": forward and backward must write within their outputs, got a write " +
                                                "beyond " + nameOf(copy.output));
    std::memcpy(copy.data, begin, bytes[copy.output]);
  }
  return llvm::Error::success();
}

} // namespace tess::runtime::cpu
