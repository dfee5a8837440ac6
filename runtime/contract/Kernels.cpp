//===- Kernels.cpp - tiles of products, compiled with the library ---------===//
#include "runtime/contract/Kernels.h"

#include "ops/vocabulary/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

using tess::runtime::TileEntry;

// Tables that the compiler wrote; an entry without a kernel ends each.
extern "C" {
extern const TileEntry tess_contractions_v3[], tess_contractions_v4[], tess_contractions_v4_bf16[];
}

namespace tess::runtime::contract {

namespace {

/// A level of processors, and whether this one has it.
struct Level {
  llvm::StringLiteral name;
  const TileEntry *entries;
  bool isHere;
};

/// The levels, the highest first.
llvm::ArrayRef<Level> levels() {
  static const bool hasV4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                            __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                            __builtin_cpu_supports("avx512vl");
  static const Level list[] = {
      {"x86-64-v4+avx512bf16", tess_contractions_v4_bf16, hasV4 && __builtin_cpu_supports("avx512bf16")},
      {"x86-64-v4", tess_contractions_v4, hasV4},
      {"x86-64-v3", tess_contractions_v3, true}, // the floor of the build
  };
  return list;
}

constexpr DType kDTypes[] = {DType::Float32, DType::Float64, DType::BFloat16};

} // namespace

Kernels::Kernels(DType dtype, const TileEntry *entries) {
  for (; entries->run; ++entries) {
    if (entries->dtype != dtype)
      continue;
    table[entries->rows][entries->panels] = entries->run;
    if (entries->rows > mostRows) {
      mostRows = entries->rows;
      mostPanels = 0;
    }
    if (entries->rows == mostRows)
      mostPanels = std::max<unsigned>(mostPanels, entries->panels);
  }
}

const Kernels *Kernels::of(DType dtype, llvm::StringRef level) {
  static const auto all = [] {
    std::vector<std::pair<const Level *, std::pair<DType, Kernels>>> list;
    for (const Level &each : levels())
      for (DType type : kDTypes)
        list.push_back({&each, {type, Kernels(type, each.entries)}});
    return list;
  }();
  for (const auto &[each, kernels] : all)
    if (each->name == level && each->isHere && kernels.first == dtype && kernels.second.rows())
      return &kernels.second;
  return nullptr;
}

static std::atomic<const Level *> highest{levels().begin()};

llvm::Error limitLevel(llvm::StringRef name) {
  const Level *found = llvm::find_if(levels(), [&](const Level &level) { return level.name == name; });
  if (found == levels().end())
    return invalidArgument("limitLevel: level must be one of those with kernels, got " + name);
  highest = found;
  return llvm::Error::success();
}

llvm::StringRef highestLevel() { return highest.load()->name; }

const Kernels &Kernels::of(DType dtype) {
  for (const Level &level : llvm::make_range(highest.load(), levels().end()))
    if (const Kernels *found = of(dtype, level.name))
      return *found;
  llvm_unreachable("every level has float32, float64 and bfloat16");
}

unsigned Kernels::panelsFor(unsigned rows, int64_t left) const {
  for (unsigned panels = unsigned(std::min<int64_t>(left, kMostPanels)); panels > 1; --panels)
    if (table[rows][panels])
      return panels;
  return 1;
}

} // namespace tess::runtime::contract
