//===- Inputs.cpp - inputs against the program's signature ----------------===//
#include "ops/vocabulary/Error.h"
#include "runtime/bind/Bind.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::runtime {

static std::string bounds(const SymbolDecl &symbol) {
  if (symbol.max != INT64_MAX)
    return symbol.name + " in " + std::to_string(symbol.min) + ".." + std::to_string(symbol.max);
  return symbol.min > 0 ? symbol.name + " at least " + std::to_string(symbol.min) : "";
}

std::string Program::describeInput(size_t index) const {
  const InputDecl &input = exe.inputs[index];
  std::string text = (shortName(input.dtype) + "[").str(), limits;
  llvm::SmallVector<int32_t, 4> seen;
  for (auto [axis, dim] : llvm::enumerate(input.dims)) {
    text += axis ? ", " : "";
    if (dim.symbol < 0) {
      text += dim.size < 0 ? "?" : std::to_string(dim.size);
      continue;
    }
    const SymbolDecl &symbol = exe.symbols[dim.symbol];
    text += symbol.name;
    if (std::string limit = bounds(symbol); !limit.empty() && !llvm::is_contained(seen, dim.symbol))
      limits += (limits.empty() ? " with " : ", ") + limit;
    seen.push_back(dim.symbol);
  }
  return text + "]" + limits;
}

static bool dimFits(DimDecl dim, int64_t size, llvm::ArrayRef<SymbolDecl> symbols) {
  if (dim.symbol >= 0)
    return size >= symbols[dim.symbol].min && size <= symbols[dim.symbol].max;
  return dim.size < 0 || dim.size == size;
}

static bool fits(const InputDecl &input, const TensorMeta &meta, llvm::ArrayRef<SymbolDecl> symbols) {
  if (!allows(input.dtype, meta.dtype) || meta.rank() != input.dims.size() || meta.numElements() > kMaxElements)
    return false;
  return llvm::all_of(llvm::zip(input.dims, meta.shape), [&](auto pair) {
    return std::get<1>(pair) >= 0 && dimFits(std::get<0>(pair), std::get<1>(pair), symbols);
  });
}

llvm::Error Program::checkInputs(llvm::ArrayRef<TensorMeta> inputs) const {
  if (inputs.size() != exe.inputs.size())
    return invalidArgument(options.name + ": must have " + llvm::Twine(exe.inputs.size()) + " inputs, got " +
                           llvm::Twine(inputs.size()));
  struct Seen {
    int64_t size = -1;
    size_t input = 0;
  };
  llvm::SmallVector<Seen, 4> symbols(exe.symbols.size());
  for (auto [index, decl, meta] : llvm::enumerate(exe.inputs, inputs)) {
    if (!fits(decl, meta, exe.symbols))
      return makeError(allows(decl.dtype, meta.dtype) ? ErrorCode::InvalidArgument : ErrorCode::TypeMismatch,
                       options.name + ": input " + decl.name + " must be " + describeInput(index) + ", got " +
                           toString(meta));
    for (auto [dim, size] : llvm::zip(decl.dims, meta.shape)) {
      if (dim.symbol < 0)
        continue;
      Seen &seen = symbols[dim.symbol];
      if (seen.size >= 0 && seen.size != size)
        return invalidArgument(options.name + ": " + exe.symbols[dim.symbol].name +
                               " must be one size in all inputs, got " + llvm::Twine(seen.size) + " in " +
                               exe.inputs[seen.input].name + " and " + llvm::Twine(size) + " in " + decl.name);
      seen = {size, index};
    }
  }
  return llvm::Error::success();
}

} // namespace tess::runtime
