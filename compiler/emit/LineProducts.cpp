//===- LineProducts.cpp - a row's element by a line of a panel ------------===//
#include "compiler/emit/LineProducts.h"

#include "compiler/lanes/LaneConversion.h"

namespace tess::compiler {

/// The elements of a line for each column; quads and pairs are read as one word.
static Elem readElem(const ContractForm &form) {
  switch (form.lines) {
  case ContractForm::Lines::Numbers:
    return computeElem(form.sum);
  case ContractForm::Lines::Bytes:
    return Elem::I8;
  case ContractForm::Lines::Pairs:
  case ContractForm::Lines::Quads:
  case ContractForm::Lines::Nibbles:
  case ContractForm::Lines::ScaledQuads:
  case ContractForm::Lines::ScaledNibbles:
    return Elem::I32;
  }
  llvm_unreachable("covered switch");
}

LineProducts::LineProducts(const ContractForm &form, const ContractInstructions &instructions, LaneBuilder &b)
    : form(form), has(instructions), b(b), sum(computeElem(form.sum)), read(readElem(form)),
      hasOffset(form.lines == Lines::Quads && form.left == DType::Int8 && instructions.quads) {}

unsigned LineProducts::columnBytes() const { return elemBytes(read); }

LineProducts::Words LineProducts::row(mlir::Value address) {
  const bool isFloat = streams() && !countsBytes();
  V element = b.splat(b.load(address, isFloat ? sum : read, false));
  if (form.lines == Lines::ScaledNibbles)
    return {element, b.splat(b.load(b.addressConst(address, 1, read), read, false))};
  if (form.lines == Lines::ScaledQuads)
    return halvesOf(element, false);
  return {hasOffset ? element ^ element.ci(0x80808080) : element};
}

V LineProducts::line(mlir::Value address) { return b.load(address, read, true); }

LineProducts::Words LineProducts::columns(V line, unsigned step) {
  if (form.lines == Lines::ScaledQuads)
    return halvesOf(line, true);
  if (form.lines != Lines::ScaledNibbles)
    return {numbersOf(line, step)};
  V lower = line & line.ci(0x0f0f0f0f), upper = lshr(line, 4);
  return {lower, upper & upper.ci(0x0f0f0f0f)};
}

/// The columns of a line in the type in which they are multiplied.
V LineProducts::numbersOf(V line, unsigned step) {
  constexpr unsigned kBits = 4;
  constexpr float kNumbers[] = {0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1};
  if (form.lines == Lines::Bytes)
    return b.convert(b.convert(line, Elem::I32), sum);
  if (form.lines != Lines::Nibbles)
    return line;
  if (has.wide && !numbers)
    numbers = b.constantLanes(kNumbers);
  if (has.wide)
    return b.permute(numbers, step ? lshr(line, step * kBits) : line);
  return b.convert(ashr(shl(line, bitWidth(read) - kBits - step * kBits), bitWidth(read) - kBits), sum);
}

V LineProducts::add(llvm::ArrayRef<V> row, llvm::ArrayRef<V> columns, V total) {
  switch (form.lines) {
  case Lines::Pairs:
    return addPairs(row[0], columns[0], total);
  case Lines::Quads:
    return addQuads(row[0], columns[0], total);
  case Lines::Numbers:
  case Lines::Bytes:
  case Lines::Nibbles:
    return fma(row[0], columns[0], total);
  case Lines::ScaledQuads:
  case Lines::ScaledNibbles:
    return addScaled(row, columns, total);
  }
  llvm_unreachable("covered switch");
}

/// The product of the odd elements is added first, then that of the even ones.
V LineProducts::addPairs(V x, V y, V total) {
  if (has.pairs)
    return b.dotPairs(x, y, total);
  auto odd = [&](V bits) { return b.bitcast(bits & bits.ci(0xffff0000), Elem::F32); };
  auto even = [&](V bits) { return b.bitcast(shl(bits, 16), Elem::F32); };
  return fma(even(x), even(y), fma(odd(x), odd(y), total));
}

/// The even or the odd bytes of words as numbers of 16 bits.
V LineProducts::bytesOf(V words, bool odd, bool isUnsigned) {
  LaneBuilder::WithLanes halves(b, 2 * kLanes);
  V pairs = b.bitcast(words, Elem::I16);
  if (isUnsigned)
    return odd ? lshr(pairs, 8) : pairs & pairs.ci(0xff);
  return ashr(odd ? pairs : shl(pairs, 8), 8);
}

/// Even and odd bytes of words, unless the machine multiplies words.
LineProducts::Words LineProducts::halvesOf(V words, bool isUnsigned) {
  if (has.quads)
    return {words};
  V even = bytesOf(words, false, isUnsigned);
  return {even, bytesOf(words, true, isUnsigned)};
}

/// Four products of 4 by 8 bits are below 2^13, so that they are added as numbers of 16 bits.
V LineProducts::addScaled(llvm::ArrayRef<V> row, llvm::ArrayRef<V> columns, V total) {
  if (form.lines == Lines::ScaledNibbles && !has.quads) {
    V even = b.dotBytes(columns[0], row[0], has.wide), odd = b.dotBytes(columns[1], row[1], has.wide);
    auto [pairs, ones] = [&] {
      LaneBuilder::WithLanes halves(b, 2 * kLanes);
      return std::pair(even + odd, even.ci(1));
    }();
    return total + b.dotHalves(pairs, ones, has.wide);
  }
  for (auto [x, y] : llvm::zip_equal(row, columns))
    total = has.quads ? b.dotQuads(y, x, total) : total + b.dotHalves(x, y, has.wide);
  return total;
}

V LineProducts::addQuads(V x, V y, V total) {
  if (has.quads)
    return b.dotQuads(x, y, total);
  for (bool odd : {false, true})
    total = total + b.dotHalves(bytesOf(x, odd, form.left == DType::UInt8), bytesOf(y, odd, false), has.wide);
  return total;
}

} // namespace tess::compiler
