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
extern const TileEntry tess_contractions_v3[], tess_contractions_v4[], tess_contractions_v4_vnni[],
    tess_contractions_v4_bf16[];
}

namespace tess::runtime::contract {

namespace {

constexpr llvm::StringLiteral kFloor = "x86-64-v3";

/// A level of processors, and whether this one has it.
struct Level {
  llvm::StringLiteral name;
  const TileEntry *entries;
  bool isHere;

  /// Whether it has vectors of 512 bits.
  bool isWide() const { return name != kFloor; }
};

/// The levels, the highest first.
llvm::ArrayRef<Level> levels() {
  static const bool hasV4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                            __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                            __builtin_cpu_supports("avx512vl");
  static const Level list[] = {
      {"x86-64-v4+avx512bf16", tess_contractions_v4_bf16, hasV4 && __builtin_cpu_supports("avx512bf16")},
      {"x86-64-v4+avx512vnni", tess_contractions_v4_vnni, hasV4 && __builtin_cpu_supports("avx512vnni")},
      {"x86-64-v4", tess_contractions_v4, hasV4},
      {kFloor, tess_contractions_v3, true}, // of the build
  };
  return list;
}

/// The tiles that some level has.
constexpr std::pair<DType, TileLines> kForms[] = {
    {DType::Float32, TileLines::Numbers}, {DType::Float64, TileLines::Numbers}, {DType::BFloat16, TileLines::Numbers},
    {DType::Int8, TileLines::Numbers},    {DType::UInt8, TileLines::Numbers},   {DType::Float32, TileLines::Bytes},
    {DType::Float32, TileLines::Nibbles}, {DType::Int8, TileLines::Bytes},      {DType::Int8, TileLines::Nibbles}};

} // namespace

Kernels::Kernels(DType dtype, TileLines lines, const TileEntry *entries, bool isWide) : hasWideLevel(isWide) {
  for (; entries->run; ++entries) {
    if (entries->dtype != dtype || entries->lines != lines)
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

const Kernels *Kernels::of(DType dtype, llvm::StringRef level, TileLines lines) {
  struct Table {
    const Level *level;
    std::pair<DType, TileLines> form;
    Kernels kernels;
  };
  static const auto all = [] {
    std::vector<Table> list;
    for (const Level &each : levels())
      for (auto form : kForms)
        list.push_back({&each, form, Kernels(form.first, form.second, each.entries, each.isWide())});
    return list;
  }();
  for (const Table &table : all)
    if (table.level->name == level && table.level->isHere && table.form == std::pair(dtype, lines) &&
        table.kernels.rows())
      return &table.kernels;
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

bool hasWideVectors() {
  return llvm::any_of(llvm::make_range(highest.load(), levels().end()),
                      [](const Level &level) { return level.isHere && level.isWide(); });
}

const Kernels &Kernels::of(DType dtype, TileLines lines) {
  for (const Level &level : llvm::make_range(highest.load(), levels().end()))
    if (const Kernels *found = of(dtype, level.name, lines))
      return *found;
  llvm_unreachable("the lowest level has every form");
}

unsigned Kernels::panelsFor(unsigned rows, int64_t left) const {
  for (unsigned panels = unsigned(std::min<int64_t>(left, kMostPanels)); panels > 1; --panels)
    if (table[rows][panels])
      return panels;
  return 1;
}

} // namespace tess::runtime::contract
