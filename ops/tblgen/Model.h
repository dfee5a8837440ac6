//===- Model.h - records as the generators see them --------------*- C++ -*-===//
//
// Every Tess_Op record read once and checked; generators only print.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/TableGen/Operator.h"
#include "ops/AttrValue.h"
#include "llvm/TableGen/Record.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tess::tblgen {

struct AttrModel {
  std::string name, doc;
  AttrKind kind = AttrKind::None;
  bool isRuntime = false, isOptional = false, hasDefault = false, shapeOnly = false;
  AttrValue defaultValue;
  std::vector<std::string> cases;
  std::string low, high; // empty: no limit
  int axisOf = -1, axisExtra = 0, length = -1;
};

struct ValueModel {
  std::string name, constraint; // "x", "Tess_Float"
  char arity = '1';             // '1', '?', '*'
  bool hidden = false;
};

struct DimModel {
  char kind; // 'S' symbol, '*' star, 'L' literal, '@' attribute, '/' star without axes
  std::string symbol;
  int64_t number = 0; // literal, symbol index or attribute index
  int64_t axes = 0;   // for '/': see DimPattern::literal
};

struct PatternModel {
  std::vector<DimModel> dims, guardedDims;
  int guardAttr = -1;
  char arity = '1';
};

struct SignatureModel {
  std::vector<PatternModel> operands, results;
  std::vector<std::string> symbols;
  std::vector<bool> symbolIsStar;
  std::string text;
  bool elementwise = false;
};

struct SampleModel {
  std::vector<std::vector<int64_t>> shapes;
  std::vector<std::pair<std::string, AttrValue>> attrs;
  std::vector<std::string> low, high; // one for each operand
  std::vector<std::string> dtypes;
};

/// One record.
struct OpModel {
  const llvm::Record *record;
  std::unique_ptr<mlir::tblgen::Operator> op;
  std::string name, opdefName, cppClass, summary, description;
  std::vector<ValueModel> operands, results;
  std::vector<AttrModel> attrs;
  std::unique_ptr<SignatureModel> signature;
  std::vector<std::pair<std::string, std::string>> constraints; // label, text
  std::vector<SampleModel> samples;
  std::string oracle, pyModule, pyName;
  int pyOperator = -1; // of ops/PythonOperators.h
  std::vector<std::string> pyMethods;
  std::map<std::string, std::string> pyRenamed; // operand or attribute -> its name in Python

  std::string text(llvm::StringRef field) const { return record->getValueAsString(field).str(); }
  bool bit(llvm::StringRef field) const { return record->getValueAsBit(field); }
  std::vector<std::string> strings(llvm::StringRef field) const;
  std::vector<const llvm::DagInit *> dags(llvm::StringRef field) const;
  const llvm::Record *def(llvm::StringRef field) const;
  bool isLowering(llvm::StringRef cls) const;
  bool hasGradient() const;
  int operandIndex(llvm::StringRef n) const;
  int resultIndex(llvm::StringRef n) const;
  int attrIndex(llvm::StringRef n) const;
  /// The name of an operand or attribute in Python; of all of them, operands first.
  std::string pyParameter(llvm::StringRef n) const;
  std::vector<std::string> pyParameters() const;
  /// Ends the program with an error at the record.
  [[noreturn]] void fatal(const llvm::Twine &message) const;
};

/// All operators, sorted by name.
class Model {
public:
  explicit Model(const llvm::RecordKeeper &records);
  const std::vector<OpModel> &ops() const { return all; }
  const OpModel *find(llvm::StringRef name) const;

private:
  std::vector<OpModel> all;
};

/// Signature.cpp of this folder.
std::unique_ptr<SignatureModel> parseSignature(const OpModel &op);
std::vector<std::string> signatureConstraints(const OpModel &op);

/// "a=1;b=[1, 2]" against the attributes of `op`; values that start with $, @, # are kept as text in `references`.
struct ParsedAttr {
  const AttrModel *attr;
  std::string reference; // "$axes", "@x", "#x"; empty: `value`
  AttrValue value;
};
std::vector<ParsedAttr> parseAttrText(const OpModel &op, llvm::StringRef text);

/// Names of the dtypes of a type constraint: {"f32", ...}; its mask as C++.
std::vector<std::string> dtypeNames(llvm::StringRef constraint);
std::string dtypeMask(const OpModel &op, llvm::StringRef constraint);
/// "std::optional<double>": an attribute that need not be given, in C++; and its value for OpDef::set.
std::string optionalType(const AttrModel &attr);
std::string optionalValue(const AttrModel &attr);
/// The elements that `isOptional` denies, then the others; C++ and Python want parameters in this order.
template <typename T, typename F> std::vector<T> requiredFirst(const std::vector<T> &list, F isOptional) {
  std::vector<T> ordered;
  for (bool optional : {false, true})
    for (const T &element : list)
      if (isOptional(element) == optional)
        ordered.push_back(element);
  return ordered;
}

/// A C++ expression for an attribute value; a C++ string literal; true or false.
std::string cppValue(const AttrValue &value);
std::string cppString(llvm::StringRef text);
inline const char *boolText(bool value) { return value ? "true" : "false"; }
/// Python source for an attribute value.
std::string pyValue(const AttrValue &value);
/// First line of every generated file.
void banner(llvm::raw_ostream &os, llvm::StringRef generator, llvm::StringRef comment = "//");

} // namespace tess::tblgen
