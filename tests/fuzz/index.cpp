//===- index.cpp - any key for x[...] -------------------------------------===//
//
// An input is text, nearly as Python writes it: the shape of x, `|`, the items of a
// key: "2,3|1::2,None,...,-1,[0 2]".
//
//===----------------------------------------------------------------------===//
#include "tessera/Tensor.h"
#include "tests/fuzz/Fuzz.h"
#include "llvm/ADT/SmallVector.h"

using namespace tessera;
namespace fuzz = tess::fuzz;

static bool readShape(llvm::StringRef text, Shape &shape) {
  llvm::SmallVector<llvm::StringRef> sizes;
  text.split(sizes, ',', -1, /*KeepEmpty=*/false);
  int64_t elements = 1;
  for (llvm::StringRef item : sizes) {
    uint8_t size;
    if (item.getAsInteger(10, size))
      return false;
    shape.push_back(size);
    elements *= std::max<int64_t>(size, 1);
    if (elements > 4096 || shape.size() > tess::kMaxRank)
      return false;
  }
  return true;
}

/// "start:stop:step"; what is no number is left out.
static Slice readSlice(llvm::StringRef text) {
  Slice slice;
  auto [start, rest] = text.split(':');
  auto [stop, step] = rest.split(':');
  int64_t number;
  if (!start.getAsInteger(10, number))
    slice.start = number;
  if (!stop.getAsInteger(10, number))
    slice.stop = number;
  if (!step.getAsInteger(10, number))
    slice.step = number;
  return slice;
}

/// "[0 2]": integers; "[t f]": a mask.
static Tensor readArray(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> words;
  text.trim("[]").split(words, ' ', -1, /*KeepEmpty=*/false);
  std::vector<int64_t> numbers;
  std::vector<bool> flags;
  for (llvm::StringRef word : words) {
    int64_t number = 0;
    if (word == "t" || word == "f")
      flags.push_back(word == "t");
    else if (!word.getAsInteger(10, number))
      numbers.push_back(number);
  }
  return flags.empty() ? tensor(numbers) : tensor(flags);
}

static std::vector<Index> readKey(llvm::StringRef text) {
  std::vector<Index> key;
  llvm::SmallVector<llvm::StringRef> items;
  text.split(items, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef item : items) {
    int64_t number;
    if (item == "None")
      key.emplace_back(newAxis);
    else if (item == "...")
      key.emplace_back(ellipsis);
    else if (item.starts_with("["))
      key.emplace_back(readArray(item));
    else if (item.contains(':'))
      key.emplace_back(readSlice(item));
    else if (!item.getAsInteger(10, number))
      key.emplace_back(number);
  }
  return key;
}

void fuzzOne(llvm::StringRef input) {
  auto [sizes, key] = input.split('|');
  Shape shape;
  if (!readShape(sizes, shape))
    return;
  try {
    Tensor picked = zeros(shape).index(readKey(key));
    picked.toBytes();
  } catch (const Error &error) {
    fuzz::requireForm(error.what());
  }
}
