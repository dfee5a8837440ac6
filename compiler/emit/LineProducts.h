//===- LineProducts.h - a row's element by a line of a panel ----*- C++ -*-===//
#pragma once

#include "compiler/kernel/KernelAnalysis.h"
#include "compiler/lanes/LaneBuilder.h"

namespace tess::compiler {

/// Instructions of the machine for products; without them others give the same bits.
struct ContractInstructions {
  bool pairs = false; // multiplies pairs of bfloat16 (AVX512_BF16)
  bool quads = false; // multiplies four bytes (AVX512_VNNI)
  bool wide = false;  // has vectors of 512 bits of numbers of 16 bits (AVX512BW)
};

/// How an element of a row is multiplied by a line of a panel and added to a sum. A line has steps(), each of which
/// takes an element or a word of the row and a vector of columns.
class LineProducts {
public:
  /// An element or word of a row, or columns of a line: two vectors where halves of words are multiplied apart.
  using Words = llvm::SmallVector<V, 2>;

  LineProducts(const ContractForm &form, const ContractInstructions &instructions, LaneBuilder &b);

  unsigned steps() const { return form.lines == Lines::Nibbles ? 8 : 1; }
  /// Types of the sums of lines, and of results.
  Elem sumElem() const { return countsBytes() ? Elem::I32 : sum; }
  Elem resultElem() const { return sum; }
  /// The bytes of a line's part for one column, and those of a row for one step.
  unsigned columnBytes() const;
  unsigned rowBytes() const {
    return elemBytes(form.lines == Lines::Bytes || form.lines == Lines::Nibbles ? sum : read);
  }
  /// Whether elements along lines are counted in words, of two or four.
  bool countsWords() const { return form.lines == Lines::Pairs || form.lines == Lines::Quads; }
  /// Whether lines come once, from memory rather than from caches.
  bool streams() const { return form.scale >= 0; }
  /// Whether sums begin with what lies behind the last line.
  bool startsFromMemory() const { return hasOffset; }
  /// Whether they begin with what lies behind a row's last element of the group.
  bool startsFromRows() const { return countsBytes(); }

  /// The element or word of a row at `address`, in every lane.
  Words row(mlir::Value address);
  /// A line at `address`, and its columns in one step.
  V line(mlir::Value address);
  Words columns(V line, unsigned step);
  /// Adds the product to `total`.
  V add(llvm::ArrayRef<V> row, llvm::ArrayRef<V> columns, V total);

private:
  using Lines = ContractForm::Lines;

  /// Whether rows are int8 beside scaled lines.
  bool countsBytes() const { return form.lines == Lines::ScaledQuads || form.lines == Lines::ScaledNibbles; }
  V numbersOf(V line, unsigned step);
  V addPairs(V x, V y, V total);
  V addQuads(V x, V y, V total);
  V addScaled(llvm::ArrayRef<V> row, llvm::ArrayRef<V> columns, V total);
  V bytesOf(V words, bool odd, bool isUnsigned);
  Words halvesOf(V words, bool isUnsigned);

  const ContractForm form;
  const ContractInstructions has;
  LaneBuilder &b;
  const Elem sum, read;
  const bool hasOffset; // int8 rows become unsigned
  V numbers;            // of 4 bits, by their bits
};

} // namespace tess::compiler
