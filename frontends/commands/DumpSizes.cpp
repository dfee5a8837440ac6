//===- DumpSizes.cpp - sizes of named dimensions, as a user gives them ----===//
#include "frontends/commands/DumpSizes.h"

#include "ops/vocabulary/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace tess::commands {

using namespace runtime;

llvm::Expected<Dims> parseDims(const std::vector<std::string> &texts) {
  Dims dims;
  for (const std::string &text : texts) {
    auto [name, size] = llvm::StringRef(text).split('=');
    if (name.empty() || size.getAsInteger(10, dims[name]))
      return invalidArgument("tess-dump: --dim must be <name>=<size>, got " + text);
  }
  return dims;
}

llvm::Error checkDims(const Executable &executable, const Dims &dims) {
  for (const auto &given : dims)
    if (llvm::none_of(executable.symbols, [&](const SymbolDecl &symbol) { return symbol.name == given.getKey(); })) {
      auto names = llvm::map_range(executable.symbols, [](const SymbolDecl &symbol) { return symbol.name; });
      return invalidArgument("tess-dump: --dim must name one of [" + llvm::join(names, ", ") + "], got " +
                             given.getKey());
    }
  return llvm::Error::success();
}

Sizes sizesFor(const Executable &executable, const Dims &dims) {
  Sizes sizes;
  for (const SymbolDecl &symbol : executable.symbols) {
    auto given = dims.find(symbol.name);
    sizes.push_back(given == dims.end() ? symbol.min : given->second);
  }
  return sizes;
}

Metas inputsAt(const Executable &executable, const Sizes &sizes) {
  Metas metas;
  for (const InputDecl &input : executable.inputs) {
    TensorMeta &meta = metas.emplace_back(input.dtype, llvm::ArrayRef<int64_t>());
    for (const DimDecl &dim : input.dims)
      meta.shape.push_back(dim.symbol >= 0 ? sizes[dim.symbol] : dim.size < 0 ? 1 : dim.size);
  }
  return metas;
}

} // namespace tess::commands
