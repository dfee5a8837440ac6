//===- Notation.h - results in index notation -------------------*- C++ -*-===//
//
// A record's `compute`, parsed by tess-tblgen: which dimensions the axes of
// operands and of the result have. Their sizes, what must hold of them, and where
// the axes of quantized channels go follow. The models are MLIR's linalg
// operators, TVM's tensor expressions and einops.
//
// Grammar: `compute` = statement (";" statement)* ["where" bound ("," bound)*], or
// a scan. `statement` = access "=" expression; the last one gives the result,
// others values for later ones; behind it one more may write at computed places of it, by "=", "+=", "max=" or "min=",
// in the order of dimensions. `bound` = dimension "<" attribute, or "*" pack "<"
// "*" attribute. `access` = value "[" [place ("," place)*] "]"; behind an optional
// operand stands "?", and one that is missing leaves out its function. `place` =
// ["*"] dimension, or ["*"] "(" [part ":" parts] dimension+ ")", or the access to an
// operand whose elements are indices, each perhaps with ":" attribute, or a window:
// ["*"] dimension ["*" attribute] "+" ["*"] dimension ["*" attribute] ["-" attribute]. `expression`: reads, numbers,
// attributes, the index along a dimension, + - * /, elementwise operators, and max, mean, min, prod or sum "("
// dimensions ")" of what is taken from them. `scan` = access "=" "scan"
// "(" function "," dimension "," exclusive "," reverse ")" access ("," access)*.
//
// `(t k)` is one axis whose index counts t and k in row-major order, `(0:2 t)` the
// first half of one. `t:axis` says by an attribute which axis t is; `*k:axes` by a
// list which axes, or by a number how many last ones.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/vocabulary/TensorMeta.h"
#include "llvm/Support/Error.h"

#include <tuple>

namespace tess {

class OpDef;
struct WindowAxis;

/// A dimension that `compute` names, or a pack of any number of them.
struct NotationSymbol {
  bool isPack;
  int extent;       // the attribute that says how large it is, of a pack a list; -1: the operands do
  const char *must; // what operands of other sizes do not hold
};

/// An axis of a value, or the axes of a pack.
struct NotationPlace {
  llvm::ArrayRef<uint8_t> digits; // symbols; the index along the axis counts their elements in row-major order
  int axis = -1;                  // the attribute that says which axis, which axes, or how many last ones they are
  uint8_t part = 0, parts = 1;    // the part of the axis that is meant, and of how many equal ones
  const char *must = "";          // what an axis that cannot have these dimensions does not hold
  // Of windows: the digits are their positions and the elements of each, and attributes say how far apart either lie,
  // and how many elements are put before and behind the axis; -1: 1, and none.
  bool isWindow = false;
  int stride = -1, dilation = -1, padding = -1;
  int index = -1; // the read whose elements are indices along the axis, the dimension of which is no part of the domain
};

/// A value at indices.
struct NotationAccess {
  uint8_t value; // of an operand its number
  llvm::ArrayRef<NotationPlace> places;
  const char *must = ""; // what an operand of another rank does not hold
};

/// A parsed `compute`: what it names, what it reads, and what it gives.
struct Notation {
  llvm::ArrayRef<NotationSymbol> symbols;
  llvm::ArrayRef<NotationAccess> reads;
  NotationAccess result;
  uint8_t spared = 0; // axes of the result in the place of which a write has dimensions of its own
};

/// One dimension: a symbol and, of a pack, its number there.
struct NotationDim {
  uint8_t symbol, number;

  bool operator==(NotationDim other) const { return std::tie(symbol, number) == std::tie(other.symbol, other.number); }
};

/// The dimensions of one axis, the outermost first, and the place that has it.
struct NotationAxis {
  llvm::SmallVector<NotationDim, 3> dims;
  const NotationPlace *place = nullptr;
};
using NotationAxes = llvm::SmallVector<NotationAxis, 6>;

/// The sizes of all dimensions for operands of given shapes.
class BoundNotation {
public:
  /// InvalidArgument where the operands do not have what the record's constraints say. Optional operands that are not
  /// given are the last ones.
  static llvm::Expected<BoundNotation> of(const OpDef &op, llvm::ArrayRef<TensorMeta> operands);

  /// The windows along axis `number` of a place.
  static WindowAxis windowOf(const OpDef &op, const NotationPlace &place, int number, int64_t size);

  /// kUnknown where the operands do not say it.
  int64_t sizeOf(NotationDim dim) const { return sizes[dim.symbol][dim.number]; }
  /// The axes of a read of `reads`, in the order of the operand; those of the result.
  llvm::ArrayRef<NotationAxis> axesOf(size_t read) const { return reads[read]; }
  llvm::ArrayRef<NotationAxis> resultAxes() const { return result; }
  /// The shape of the result.
  Shape resultShape() const;

private:
  friend class NotationBinder;

  std::vector<llvm::SmallVector<int64_t, 6>> sizes; // by symbol
  llvm::SmallVector<NotationAxes, 4> reads;
  NotationAxes result;
  llvm::SmallVector<std::pair<NotationAxis, int64_t>, 4> joined; // axes of operands with several dimensions
};

} // namespace tess
