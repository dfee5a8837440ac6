//===- FreeSizes.cpp - symbols for sizes of nodes -------------------------===//
#include "ir/FreeSizes.h"
#include "ops/vocabulary/SizeExpr.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <mutex>

namespace tess::ir {

namespace {

/// What a symbol of data stands for while its DataSize lives.
struct DataEntry {
  std::weak_ptr<Node> node;
  std::string op;
  int64_t most = 0;
};

struct Table {
  std::mutex mutex;
  std::vector<NamedDim> dims;     // by symbol
  std::vector<DataEntry> data;    // by symbol
  std::vector<uint32_t> freeData; // indices of entries that are used no more
};

Table &table() {
  static Table *instance = new Table; // never destroyed: nodes of a frontend may die later
  return *instance;
}

constexpr uint32_t kFirstData = sizes::kDataSymbols + kNodeSymbols;

/// Examples of dimensions: primes, which products of others do not equal.
constexpr int64_t kExamples[] = {7, 11, 13, 17, 19, 23, 29, 31};

} // namespace

bool isNodeSymbol(uint32_t symbol) { return symbol % sizes::kDataSymbols >= kNodeSymbols; }

bool hasNodeSymbols(const OpDef &op) {
  bool found = false;
  op.forEachSymbol([&](uint32_t symbol) { found |= isNodeSymbol(symbol); });
  return found;
}

bool hasNodeSymbols(int64_t size) {
  bool found = false;
  sizes::forEachSymbol(size, [&](uint32_t symbol) { found |= isNodeSymbol(symbol); });
  return found;
}

uint32_t symbolOf(const NamedDim &dim) {
  std::lock_guard lock(table().mutex);
  auto &dims = table().dims;
  auto known = llvm::find_if(
      dims, [&](const NamedDim &each) { return each.name == dim.name && each.min == dim.min && each.max == dim.max; });
  uint32_t symbol = kNodeSymbols + uint32_t(known - dims.begin());
  if (known == dims.end())
    dims.push_back(dim);
  return symbol;
}

NamedDim dimOf(uint32_t symbol) {
  std::lock_guard lock(table().mutex);
  return table().dims[symbol - kNodeSymbols];
}

std::string nameOfSymbol(uint32_t symbol) {
  if (!isNodeSymbol(symbol))
    return "s" + std::to_string(symbol);
  if (symbol < sizes::kDataSymbols)
    return dimOf(symbol).name;
  std::lock_guard lock(table().mutex);
  const DataEntry &entry = table().data[symbol - kFirstData];
  return entry.node.expired() ? "size of data" : "size of " + entry.op;
}

std::string sizeText(int64_t size) {
  return size == kUnknown ? "?" : sizes::toText(size, [](uint32_t symbol) { return nameOfSymbol(symbol); });
}

int64_t exampleOf(uint32_t symbol) {
  if (symbol >= sizes::kDataSymbols) {
    std::lock_guard lock(table().mutex);
    return table().data[symbol - kFirstData].most;
  }
  NamedDim dim = dimOf(symbol);
  return std::clamp(kExamples[(symbol - kNodeSymbols) % std::size(kExamples)], dim.min, dim.max);
}

int64_t exampleSize(int64_t size) {
  int64_t example = sizes::isSymbolic(size) ? sizes::substitute(size, exampleOf) : size;
  return example == kUnknown ? 1 : example;
}

DataSize::DataSize(const std::shared_ptr<Node> &node, llvm::StringRef op, unsigned result, unsigned axis, int64_t most)
    : result(result), axis(axis) {
  std::lock_guard lock(table().mutex);
  auto &[mutex, dims, data, freeData] = table();
  uint32_t index = data.size();
  if (freeData.empty()) {
    data.emplace_back();
  } else {
    index = freeData.back();
    freeData.pop_back();
  }
  data[index] = {node, op.str(), most};
  number = kFirstData + index;
}

DataSize::~DataSize() {
  std::lock_guard lock(table().mutex);
  table().data[number - kFirstData] = {};
  table().freeData.push_back(number - kFirstData);
}

std::shared_ptr<Node> nodeOfSymbol(uint32_t symbol) {
  if (symbol < kFirstData)
    return nullptr;
  std::lock_guard lock(table().mutex);
  return table().data[symbol - kFirstData].node.lock();
}

} // namespace tess::ir
