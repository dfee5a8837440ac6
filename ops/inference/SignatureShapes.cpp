//===- SignatureShapes.cpp - the interpreter of shape signatures ---------===//
//
// Binds the symbols of a signature operand by operand, then writes the shapes
// of the results. An unknown dimension binds its symbol to "unknown" until a
// known dimension meets it.
//
//===----------------------------------------------------------------------===//
#include "ops/inference/SignatureShapes.h"

#include "ops/vocabulary/SizeExpr.h"
#include "llvm/ADT/STLExtras.h"

#include <array>

namespace tess {

/// Appends `shape` to `out` without the axes that the pattern's attribute names.
static void appendReduced(const OpDef &op, const DimPattern &dim, llvm::ArrayRef<int64_t> shape, Shape &out) {
  const AttrValue &axes = op.attr(unsigned(dim.literal & 255));
  int64_t keep = (dim.literal >> 8) - 1, rank = shape.size();
  bool keepdims = keep >= 0 && op.attr(unsigned(keep)).boolean();
  uint32_t mask = 0;
  for (int64_t axis : axes.kind() == AttrKind::I64 ? IntList{axes.i64()} : axes.ints())
    mask |= 1u << (axis < 0 ? axis + rank : axis);
  if (mask == 0)
    mask = (1u << rank) - 1;
  for (int64_t i = 0; i < rank; ++i)
    if (!(mask >> i & 1))
      out.push_back(shape[i]);
    else if (keepdims)
      out.push_back(1);
}

/// Makes `known` what both sizes are, as far as one of them is known; false where they differ.
static bool agree(int64_t &known, int64_t size) {
  if (known == kUnknown || size == kUnknown) {
    known = known == kUnknown ? size : known;
    return true;
  }
  if (!sizes::isSymbolic({size, known}))
    return known == size;
  known = sizes::agreed(known, size);
  return true;
}

static bool agree(Shape &known, llvm::ArrayRef<int64_t> shape) {
  return known.size() == shape.size() && llvm::all_of(llvm::zip_equal(known, shape), [](auto pair) {
           auto [size, other] = pair;
           return agree(size, other);
         });
}

namespace {

/// Matches the operands of one call in a single pass.
class Matcher {
public:
  Matcher(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<unsigned> segments)
      : op(op), sig(*op.info().signature), operands(operands), segments(segments) {
    bound.fill(-1);
  }

  llvm::Error matchAll();
  llvm::Expected<Shape> instantiate(const OperandPattern &pattern, const char *result) const;

private:
  llvm::ArrayRef<DimPattern> dimsOf(const OperandPattern &p) const { return isGuarded(op, p) ? p.guardedDims : p.dims; }
  llvm::Error match(unsigned group, unsigned operand);
  llvm::Error matchDim(const DimPattern &dim, unsigned operand, unsigned axis);
  llvm::Error matchStar(unsigned symbol, unsigned operand, unsigned first, unsigned count);
  std::string nameOf(unsigned operand) const;
  std::string shown(unsigned operand) const { return nameOf(operand) + " " + toString(operands[operand]); }
  llvm::Error mismatch(unsigned symbol, unsigned operand, int64_t value);

  const OpDef &op;
  const Signature &sig;
  llvm::ArrayRef<TensorMeta> operands;
  llvm::ArrayRef<unsigned> segments;
  std::array<int64_t, kMaxSymbols> dims;
  std::array<Shape, kMaxSymbols> stars;
  /// The operand that gave each symbol its value; -1: none yet.
  std::array<int, kMaxSymbols> bound;
};

std::string Matcher::nameOf(unsigned operand) const {
  unsigned group = 0, first = 0;
  while (!segments.empty() && operand >= first + segments[group])
    first += segments[group++];
  const OperandInfo &info = op.info().operands[segments.empty() ? operand : group];
  if (info.arity == Arity::Variadic)
    return std::string(info.name) + "[" + std::to_string(operand - first) + "]";
  return info.name;
}

llvm::Error Matcher::mismatch(unsigned symbol, unsigned operand, int64_t value) {
  std::string name = sig.symbols[symbol];
  auto side = [&](unsigned o, int64_t v) { return shown(o) + " (" + name + "=" + std::to_string(v) + ")"; };
  return invalidArgument(op.name() + ": dimension " + name + " must match, got " + side(bound[symbol], dims[symbol]) +
                         " and " + side(operand, value));
}

llvm::Error Matcher::matchDim(const DimPattern &dim, unsigned operand, unsigned axis) {
  int64_t value = operands[operand].shape[axis];
  if (dim.kind == DimPattern::Literal) {
    if (agree(value, dim.literal))
      return llvm::Error::success();
    return invalidArgument(op.name() + ": dimension " + llvm::Twine(axis) + " of " + nameOf(operand) + " must be " +
                           llvm::Twine(dim.literal) + ", got " + shown(operand));
  }
  unsigned s = dim.symbol;
  bool isFirst = bound[s] < 0 || (dims[s] == kUnknown && value != kUnknown);
  if (bound[s] < 0)
    dims[s] = value;
  else if (!agree(dims[s], value))
    return mismatch(s, operand, value);
  if (isFirst)
    bound[s] = operand;
  return llvm::Error::success();
}

llvm::Error Matcher::matchStar(unsigned symbol, unsigned operand, unsigned first, unsigned count) {
  llvm::ArrayRef<int64_t> part = llvm::ArrayRef(operands[operand].shape).slice(first, count);
  if (bound[symbol] < 0) {
    bound[symbol] = operand;
    stars[symbol].assign(part.begin(), part.end());
    return llvm::Error::success();
  }
  Shape before = stars[symbol];
  if (sig.isExact) {
    if (agree(stars[symbol], part))
      return llvm::Error::success();
    return invalidArgument(op.name() + ": operands must have one shape, got " + shown(bound[symbol]) + " and " +
                           shown(operand));
  }
  if (broadcastInto(stars[symbol], part))
    return llvm::Error::success();
  std::string name = sig.symbols[symbol];
  auto side = [&](unsigned o, llvm::ArrayRef<int64_t> v) { return shown(o) + " (" + name + "=" + toString(v) + ")"; };
  return invalidArgument(op.name() + ": dimensions *" + name + " must broadcast, got " + side(bound[symbol], before) +
                         " and " + side(operand, part));
}

llvm::Error Matcher::match(unsigned group, unsigned operand) {
  llvm::ArrayRef<DimPattern> pattern = dimsOf(sig.operands[group]);
  unsigned rank = operands[operand].rank();
  auto isStar = [](const DimPattern &d) { return d.kind == DimPattern::Star; };
  bool hasStar = llvm::any_of(pattern, isStar);
  unsigned fixed = pattern.size() - hasStar;
  if (hasStar ? rank < fixed : rank != fixed)
    return invalidArgument(op.name() + ": " + nameOf(operand) + " must have rank " + (hasStar ? ">= " : "") +
                           llvm::Twine(fixed) + ", got " + shown(operand));
  unsigned axis = 0;
  for (const DimPattern &dim : pattern) {
    if (isStar(dim)) {
      if (llvm::Error e = matchStar(dim.symbol, operand, axis, rank - fixed))
        return e;
      axis += rank - fixed;
    } else if (llvm::Error e = matchDim(dim, operand, axis++)) {
      return e;
    }
  }
  return llvm::Error::success();
}

llvm::Error Matcher::matchAll() {
  unsigned operand = 0;
  for (unsigned group = 0; group < sig.operands.size(); ++group)
    for (unsigned i = 0, n = segments.empty() ? 1 : segments[group]; i < n; ++i)
      if (llvm::Error e = match(group, operand++))
        return e;
  return llvm::Error::success();
}

llvm::Expected<Shape> Matcher::instantiate(const OperandPattern &pattern, const char *result) const {
  Shape shape;
  for (const DimPattern &dim : dimsOf(pattern)) {
    switch (dim.kind) {
    case DimPattern::Symbol:
      shape.push_back(bound[dim.symbol] < 0 ? kUnknown : dims[dim.symbol]);
      break;
    case DimPattern::Star:
      shape.append(stars[dim.symbol].begin(), stars[dim.symbol].end());
      break;
    case DimPattern::Literal:
      shape.push_back(dim.literal);
      break;
    case DimPattern::Reduced:
      appendReduced(op, dim, stars[dim.symbol], shape);
      break;
    case DimPattern::Attr: {
      const AttrValue &value = op.attr(unsigned(dim.symbol));
      if (value.kind() == AttrKind::I64List)
        shape.append(value.ints().begin(), value.ints().end());
      else
        shape.push_back(value.i64());
      break;
    }
    }
  }
  if (llvm::any_of(shape, [](int64_t d) { return d < 0 && d != kUnknown && !sizes::isSymbolic(d); }))
    return invalidArgument(op.name() + ": dimensions of " + result + " must be >= 0, got " + toString(shape));
  return shape;
}

} // namespace

llvm::Expected<llvm::SmallVector<Shape, 4>> inferBySignature(const OpDef &op, llvm::ArrayRef<TensorMeta> operands,
                                                             llvm::ArrayRef<unsigned> segments) {
  Matcher matcher(op, operands, segments);
  if (llvm::Error e = matcher.matchAll())
    return std::move(e);
  llvm::SmallVector<Shape, 4> shapes;
  const OpInfo &info = op.info();
  for (unsigned i = 0; i < info.signature->results.size(); ++i) {
    llvm::Expected<Shape> shape = matcher.instantiate(info.signature->results[i], info.results[i].name);
    if (!shape)
      return shape.takeError();
    shapes.push_back(std::move(*shape));
  }
  return shapes;
}

} // namespace tess
