//===- ComputeParser.h - reading `compute` from left to right ----*- C++ -*-===//
#pragma once

#include "ops/tblgen/Model.h"

namespace tess::tblgen {

/// What both forms of `compute` are made of. A text without meaning ends the program with an error at the field.
class ComputeParser {
public:
  explicit ComputeParser(const OpModel &op) : op(op), rest(op.record->getValueAsString("compute")) {}

protected:
  [[noreturn]] void fatal(const llvm::Twine &message) const;
  [[noreturn]] void fail(const llvm::Twine &expected) const;

  bool take(llvm::StringRef word);
  void need(llvm::StringRef word);
  /// An identifier; `what` says what it should be.
  std::string name(const llvm::Twine &what);
  AccessModel access();
  /// A dimension by its name, which becomes known; its number among them.
  int dimension(bool isPack) { return dimension(isPack, name("a dimension")); }
  int dimension(bool isPack, const std::string &name);

  const OpModel &op;
  llvm::StringRef rest;
  ComputeModel result;

private:
  AccessModel accessOf(std::string value);
  PlaceModel place(AccessModel &access);
  void position(PlaceModel &model, AccessModel &access, std::string value);
  void digits(PlaceModel &model);
  void window(PlaceModel &model);
  int numberAttr(bool isPack);
};

/// Reads functions of accesses: ComputeExpression.cpp.
ComputeModel parseExpressions(const OpModel &op);

} // namespace tess::tblgen
