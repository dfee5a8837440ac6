//===- SizeExpr.h - sizes that are expressions ------------------*- C++ -*-===//
//
// A size that is not a number is an integer expression over symbols: a polynomial
// whose variables are symbols and floordiv, max and min of polynomials. Every
// expression has one canonical form, which is kept once for the process; an int64
// below every number that a size or an index can be stands for it. So a shape or
// a list of an attribute holds numbers and expressions alike, and expressions are
// equal where their int64s are. Nothing is solved: what the canonical form does not
// show is not known. The model is the symbolic dimensions of JAX's export module.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/vocabulary/SizeHandles.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace tess::sizes {

/// Whether this process made the expression of a handle that isSymbolic().
bool isKnown(int64_t handle);
/// Symbols from this number on are sizes that data decides, at least 0; those below are at least 1.
constexpr uint32_t kDataSymbols = uint32_t(1) << 31;
/// The symbol with this number.
int64_t symbol(uint32_t number);
/// Whether data decides the size.
bool dependsOnData(int64_t size);

// Arithmetic of numbers and expressions. kUnknown where an operand is unknown, a number does not fit 64 bits, or an
// expression would have more than kMostTerms terms, or with those of its functions' operands more than kMostParts.
int64_t add(int64_t a, int64_t b);
int64_t subtract(int64_t a, int64_t b);
int64_t multiply(int64_t a, int64_t b);
/// Rounds towards minus infinity; kUnknown for a divisor of 0.
int64_t floorDivide(int64_t a, int64_t b);
/// `a - b * floordiv(a, b)`, with the sign of b.
int64_t modulo(int64_t a, int64_t b);
int64_t maximum(int64_t a, int64_t b);
int64_t minimum(int64_t a, int64_t b);

/// The one size of two axes that must be equal, of which one is an expression: the number, if one is. That they are
/// equal is taken for granted, and told to the thread's AgreedSizes: the program's run finds out.
int64_t agreed(int64_t a, int64_t b);

/// The pairs of sizes that agreed() took for equal on this thread while this lives; the innermost hears of them.
class AgreedSizes {
public:
  AgreedSizes();
  ~AgreedSizes();
  AgreedSizes(const AgreedSizes &) = delete;
  llvm::ArrayRef<std::pair<int64_t, int64_t>> pairs() const { return found; }

private:
  friend int64_t agreed(int64_t a, int64_t b);
  llvm::SmallVector<std::pair<int64_t, int64_t>, 2> found;
  AgreedSizes *outer;
};

/// Whether `size` is known to be at least `least` by what symbols are at least; max and min rely on that, too.
bool isAtLeast(int64_t size, int64_t least);

/// Visits every symbol in the expression, some perhaps more than once.
void forEachSymbol(int64_t size, llvm::function_ref<void(uint32_t symbol)> visit);
/// Gives the value of a symbol: a number, another expression, or kUnknown.
using SymbolValue = llvm::function_ref<int64_t(uint32_t symbol)>;
/// `size` with each symbol replaced.
int64_t substitute(int64_t size, SymbolValue valueOf);

/// Gives the name of a symbol.
using SymbolName = llvm::function_ref<std::string(uint32_t symbol)>;
/// "2*s0*s1 - floordiv(s0 + 1, 2) + 3"; numbers as they are.
std::string toText(int64_t size, SymbolName nameOf);
/// The same with "s" and the number for each symbol.
std::string toText(int64_t size);
/// Reads a number or what toText(size) wrote. InvalidArgument otherwise.
llvm::Expected<int64_t> parse(llvm::StringRef text);

} // namespace tess::sizes
