//===- MemoryReport.cpp - what holds the memory of a device ---------------===//
#include "eager/tensor/MemoryReport.h"

#include "eager/tensor/MemoryHooks.h"
#include "runtime/threads/Fork.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <mutex>

namespace tess::eager {

namespace {

/// Values that a message names.
constexpr size_t kMostNamed = 10;

struct Noted {
  TensorMeta meta;
  Location place;
};

struct Table {
  Table() { runtime::holdAcrossFork(mutex); }
  std::mutex mutex;
  llvm::DenseMap<const Storage *, Noted> values;
};
Table &table() {
  static Table *instance = new Table; // never destroyed: threads may outlive main
  return *instance;
}
const runtime::MadeAtLoad<table> kMade;

std::string describe(const Noted &noted) {
  std::string place = noted.place.describe();
  double bytes = double(noted.meta.numElements()) * byteWidth(noted.meta.dtype);
  return llvm::formatv("{0:F1} MiB {1}{2}{3}", bytes / (1 << 20), toString(noted.meta),
                       place.empty() ? "" : " made at ", place)
      .str();
}

/// The largest values on the device that have memory, a line each.
std::string describeLargest(const runtime::Device &device) {
  std::lock_guard<std::mutex> lock(table().mutex);
  std::vector<std::pair<int64_t, const Noted *>> all;
  for (auto &[storage, noted] : table().values)
    if (&storage->device() == &device && !storage->isEvicted())
      all.push_back({storage->bytes(), &noted});
  size_t named = std::min(all.size(), kMostNamed);
  std::partial_sort(all.begin(), all.begin() + long(named), all.end(),
                    [](const auto &a, const auto &b) { return a.first > b.first; });
  std::string text = named ? "\nthe largest values:" : "";
  for (const auto &[bytes, noted] : llvm::ArrayRef(all).take_front(named))
    text += "\n  " + describe(*noted);
  return text;
}

} // namespace

void noteLarge(Storage &storage, DType dtype, llvm::ArrayRef<int64_t> shape) {
  Noted noted{TensorMeta(dtype, shape), Location::here()};
  storage.setNoted();
  std::lock_guard<std::mutex> lock(table().mutex);
  table().values.insert_or_assign(&storage, std::move(noted));
}

/// Forgets a value when its storage dies.
static void forgetLarge(const Storage &storage) {
  Noted dropped; // after the lock: a frontend's code object goes with it
  std::lock_guard<std::mutex> lock(table().mutex);
  if (auto it = table().values.find(&storage); it != table().values.end()) {
    dropped = std::move(it->second);
    table().values.erase(it);
  }
}

/// Adds the largest values on the device to an error about memory; other errors stay as they are.
static llvm::Error withLargest(llvm::Error error, const runtime::Device &device) {
  auto [code, message] = takeError(std::move(error));
  return makeError(code, code == ErrorCode::ResourceExhausted ? message + describeLargest(device) : message);
}

/// Begins the line that names the operator.
static constexpr llvm::StringLiteral kOperator = "\nwanted by ";

llvm::Error withOperator(llvm::Error error, llvm::function_ref<std::string()> describe) {
  auto [code, message] = takeError(std::move(error));
  bool isUnnamed = code == ErrorCode::ResourceExhausted && !llvm::StringRef(message).contains(kOperator);
  return makeError(code, isUnnamed ? message + kOperator.str() + describe() : message);
}

void startMemoryReport() {
  memoryHooks.forgetLarge = forgetLarge;
  memoryHooks.withLargest = withLargest;
}

} // namespace tess::eager
