//===- RecordShapes.cpp - signature and scalar body of a file's row -------===//
#include "ops/custom/RecordReader.h"

#include "ops/graphs/ForwardRules.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::custom {

llvm::Error RecordReader::checkAttrOf(int64_t number, AttrKind kind) const {
  if (llvm::Error error = checkNumber("attribute", number, 0, int64_t(to.attrs.size())))
    return error;
  if (to.attrs[size_t(number)].kind == kind)
    return llvm::Error::success();
  return refused("an attribute must have the kind that is read", to.attrs[size_t(number)].name);
}

llvm::Error RecordReader::readDimension(const data::Dimension &given, bool isResult, DimPattern &dim) {
  const int64_t symbols = int64_t(to.signature.symbols.size());
  if (given.kind == "literal") {
    dim = {DimPattern::Literal, 0, given.number};
    return checkNumber("a size", given.number, 0, std::numeric_limits<int32_t>::max());
  }
  if (given.kind == "symbol" || given.kind == "star") {
    dim = {given.kind == "star" ? DimPattern::Star : DimPattern::Symbol, uint8_t(given.number), 0};
    return checkNumber("a symbol", given.number, 0, symbols);
  }
  if (!isResult)
    return refused("dimensions of operands must be symbols, stars and literals", "'" + given.kind + "'");
  if (given.kind == "attribute") {
    dim = {DimPattern::Attr, uint8_t(given.number), 0};
    bool isList = given.number >= 0 && size_t(given.number) < to.attrs.size() &&
                  to.attrs[size_t(given.number)].kind == AttrKind::I64List;
    return checkAttrOf(given.number, isList ? AttrKind::I64List : AttrKind::I64);
  }
  if (given.kind != "reduced")
    return refused("dimensions must be symbols, stars, literals, attributes and reduced stars", "'" + given.kind + "'");
  dim = {DimPattern::Reduced, uint8_t(given.number), given.axes};
  if (llvm::Error error = checkNumber("a symbol", given.number, 0, symbols))
    return error;
  if (llvm::Error error = checkNumber("axes", given.axes, 0, 256 * (int64_t(to.attrs.size()) + 1)))
    return error;
  if (llvm::Error error = checkAttrOf(given.axes % 256, AttrKind::I64List))
    return error;
  return given.axes < 256 ? llvm::Error::success() : checkAttrOf(given.axes / 256 - 1, AttrKind::Bool);
}

llvm::Error RecordReader::readDimensions(const std::vector<data::Dimension> &given, bool isResult,
                                         llvm::ArrayRef<DimPattern> &pattern) {
  std::vector<DimPattern> &dims = to.dims.emplace_back(given.size());
  unsigned stars = 0;
  for (auto [from, dim] : llvm::zip_equal(given, dims)) {
    if (llvm::Error error = readDimension(from, isResult, dim))
      return error;
    stars += dim.kind == DimPattern::Star || dim.kind == DimPattern::Reduced;
  }
  if (stars > 1 || dims.size() > kMaxRank)
    return refused("a pattern must have at most one star and " + llvm::Twine(kMaxRank) + " dimensions",
                   llvm::Twine(stars) + " and " + llvm::Twine(dims.size()));
  pattern = dims;
  return llvm::Error::success();
}

llvm::Error RecordReader::readPattern(const data::Pattern &given, bool isResult, OperandPattern &pattern) {
  if (llvm::Error error = readDimensions(given.dims, isResult, pattern.dims))
    return error;
  if (given.guard < 0)
    return llvm::Error::success();
  if (llvm::Error error = checkAttrOf(given.guard, AttrKind::Bool))
    return error;
  pattern.guardAttr = int8_t(given.guard);
  return readDimensions(given.guarded, isResult, pattern.guardedDims);
}

/// Checks that sizes of results are those of operands.
llvm::Error RecordReader::checkSymbols() const {
  auto all = [](const OperandPattern &pattern) {
    return llvm::concat<const DimPattern>(pattern.dims, pattern.guardedDims);
  };
  auto isNamed = [&](const DimPattern &wanted) {
    return llvm::any_of(to.operandPatterns, [&](const OperandPattern &pattern) {
      return llvm::any_of(all(pattern), [&](const DimPattern &dim) {
        bool isStar = dim.kind == DimPattern::Star, wantsStar = wanted.kind != DimPattern::Symbol;
        return dim.kind != DimPattern::Literal && dim.symbol == wanted.symbol && isStar == wantsStar;
      });
    });
  };
  for (const OperandPattern &pattern : to.resultPatterns)
    for (const DimPattern &dim : all(pattern))
      if (dim.kind != DimPattern::Literal && dim.kind != DimPattern::Attr && !isNamed(dim))
        return refused("symbols of results must be of operands", to.signature.symbols[dim.symbol]);
  return llvm::Error::success();
}

llvm::Error RecordReader::readSignature() {
  row.shapeRule = from.signature ? nullptr : shapes::ofForward;
  if (!from.signature)
    return from.lowering == "composite" ? llvm::Error::success()
                                        : refused("an elementwise operator must have a signature", "none");
  const data::Signature &given = *from.signature;
  if (given.operands.size() != to.operands.size() || given.results.size() != to.results.size() ||
      given.symbols.size() > kMaxSymbols)
    return refused("a signature must have a pattern for each value and at most " + llvm::Twine(kMaxSymbols) +
                       " symbols",
                   "'" + given.text + "'");
  std::vector<const char *> &symbols = to.names.emplace_back();
  for (const std::string &symbol : given.symbols)
    symbols.push_back(kept(symbol));
  to.signature.symbols = symbols;
  to.signature.text = kept(given.text);
  for (const data::Pattern &pattern : given.operands)
    if (llvm::Error error = readPattern(pattern, /*isResult=*/false, to.operandPatterns.emplace_back()))
      return error;
  for (const data::Pattern &pattern : given.results)
    if (llvm::Error error = readPattern(pattern, /*isResult=*/true, to.resultPatterns.emplace_back()))
      return error;
  to.signature.operands = to.operandPatterns;
  to.signature.results = to.resultPatterns;
  auto isLoneStar = [](const OperandPattern &pattern) {
    return pattern.guardAttr < 0 && pattern.dims.size() == 1 && pattern.dims[0].kind == DimPattern::Star &&
           pattern.dims[0].symbol == 0;
  };
  to.signature.elementwise =
      llvm::all_of(to.operandPatterns, isLoneStar) && llvm::all_of(to.resultPatterns, isLoneStar);
  row.signature = &to.signature;
  if (from.sharding)
    for (auto [given, list] :
         {std::pair(&from.sharding->splittable, &to.splittable), std::pair(&from.sharding->partial, &to.partial)})
      for (int64_t symbol : *given) {
        if (llvm::Error error = checkNumber("a symbol", symbol, 0, int64_t(symbols.size())))
          return error;
        list->push_back(uint8_t(symbol));
      }
  row.sharding = {to.splittable, to.partial, -1};
  return checkSymbols();
}

/// The function of a name.
static std::optional<ScalarFn> functionOf(llvm::StringRef name) {
  for (auto [i, fn] : llvm::enumerate(kScalarFns))
    if (name == fn.name)
      return ScalarFn(i);
  return std::nullopt;
}

llvm::Error RecordReader::readScalarNode(const data::ScalarNode &given) {
  std::optional<ScalarFn> fn = functionOf(given.function);
  if (!fn)
    return refused("scalar functions must be known", "'" + given.function + "'");
  ScalarNode node = {*fn};
  const ScalarFnInfo &info = infoOf(*fn);
  const bool isNumbered = *fn == ScalarFn::Operand || *fn == ScalarFn::Attr || *fn == ScalarFn::DimIndex;
  if (given.arguments.size() != (isNumbered ? 1 : info.arity))
    return refused(given.function + " must have " + llvm::Twine(isNumbered ? 1 : info.arity) + " arguments",
                   llvm::Twine(given.arguments.size()));
  const int64_t below = *fn == ScalarFn::Operand    ? int64_t(to.operands.size())
                        : *fn == ScalarFn::Attr     ? int64_t(to.attrs.size())
                        : *fn == ScalarFn::DimIndex ? int64_t(kMaxRank)
                                                    : int64_t(to.nodes.size());
  int16_t *places[] = {&node.a, &node.b, &node.c};
  for (auto [argument, place] : llvm::zip(given.arguments, places)) {
    if (llvm::Error error = checkNumber("an argument of " + given.function, argument, 0, below))
      return error;
    *place = int16_t(argument);
  }
  if (*fn == ScalarFn::Const && llvm::StringRef(given.constant).getAsDouble(node.constant))
    return refused("a constant must be a number", "'" + given.constant + "'");
  if (*fn == ScalarFn::Attr) {
    const AttrInfo &attr = to.attrs[size_t(node.a)];
    bool isNumber = attr.kind == AttrKind::F64 || attr.kind == AttrKind::I64 || attr.kind == AttrKind::Bool;
    if (!isNumber || attr.isOptional)
      return refused("an attribute of a scalar body must be a number or bool that is given", attr.name);
  }
  to.nodes.push_back(node);
  return llvm::Error::success();
}

llvm::Error RecordReader::readScalar() {
  const bool isElementwise = from.lowering == "elementwise";
  if (!isElementwise && from.lowering != "composite")
    return refused("lowering must be elementwise or composite", "'" + from.lowering + "'");
  row.lowering = isElementwise ? Lowering::Elementwise : Lowering::Composite;
  if (isElementwise != from.scalar.has_value() || isElementwise == from.forward.has_value())
    return refused("an elementwise operator must have a scalar body, and a composite a graph", from.lowering);
  if (!isElementwise)
    return llvm::Error::success();
  constexpr int64_t kMaxNodes = 1024;
  if (from.scalar->results.size() != to.results.size() || from.scalar->nodes.size() > kMaxNodes)
    return refused("a scalar body must have a value for each result and at most 1024 nodes",
                   llvm::Twine(from.scalar->results.size()) + " and " + llvm::Twine(from.scalar->nodes.size()));
  for (const data::ScalarNode &node : from.scalar->nodes)
    if (llvm::Error error = readScalarNode(node))
      return error;
  for (int64_t result : from.scalar->results) {
    if (llvm::Error error = checkNumber("a result of the scalar body", result, 0, int64_t(to.nodes.size())))
      return error;
    to.values.push_back(int16_t(result));
  }
  to.scalar = {to.nodes, to.values};
  row.scalar = &to.scalar;
  return llvm::Error::success();
}

} // namespace tess::custom
