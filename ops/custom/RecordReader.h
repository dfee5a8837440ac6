//===- RecordReader.h - reads a row of a file -------------------*- C++ -*-===//
//
// Parts of a row, each checked where it is read; used by RecordRow alone.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/custom/RecordRow.h"

namespace tess::custom {

/// Fills in a RecordRow. Each function gives InvalidArgument for what a row cannot have.
class RecordReader {
public:
  RecordReader(const data::Row &from, RecordRow &to) : from(from), to(to), row(to.row) {}
  /// Reads all parts but the graphs.
  llvm::Error read();

private:
  llvm::Error refused(const llvm::Twine &must, const llvm::Twine &got) const;
  const char *kept(llvm::StringRef text) { return to.texts.emplace_back(text.str()).c_str(); }
  /// Checks a name of an operand, result or attribute, which `names` has from then on.
  llvm::Error take(const std::string &name, std::vector<std::string> &names) const;
  /// Checks a number that must be in [least, below).
  llvm::Error checkNumber(llvm::StringRef what, int64_t number, int64_t least, int64_t below) const;

  llvm::Error readNames();
  llvm::Error readValues();
  llvm::Error readAttributes();
  llvm::Error readAttribute(const data::Attribute &given);
  llvm::Error readLimits(const data::Attribute &given, AttrInfo &attr);
  llvm::Error readSignature();
  llvm::Error readPattern(const data::Pattern &given, bool isResult, OperandPattern &pattern);
  llvm::Error readDimensions(const std::vector<data::Dimension> &given, bool isResult,
                             llvm::ArrayRef<DimPattern> &pattern);
  llvm::Error readDimension(const data::Dimension &given, bool isResult, DimPattern &dim);
  llvm::Error checkAttrOf(int64_t number, AttrKind kind) const;
  llvm::Error checkSymbols() const;
  llvm::Error readDTypes();
  llvm::Error readScalar();
  llvm::Error readScalarNode(const data::ScalarNode &given);
  llvm::Error readFacts();

  const data::Row &from;
  RecordRow &to;
  OpInfo &row;
};

} // namespace tess::custom
