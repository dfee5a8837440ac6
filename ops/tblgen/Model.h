//===- Model.h - records as the generators see them --------------*- C++ -*-===//
//
// Every Tess_Op record read once and checked; generators only print.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/TableGen/Operator.h"
#include "ops/vocabulary/AttrValue.h"
#include "llvm/TableGen/Record.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tess::tblgen {

/// An attribute of a record; the fields are those of AttrInfo (ops/operator/OpInfo.h).
struct AttrModel {
  std::string name, doc;
  AttrKind kind = AttrKind::None;
  bool isRuntime = false, isOptional = false, hasDefault = false, isBindTime = false, isSize = false, isSet = false;
  AttrValue defaultValue;
  std::vector<std::string> cases;
  std::string low, high;    // empty: no limit
  std::string staticReason; // why it is part of the code
  int axisOf = -1, axisExtra = 0, length = -1;
  std::string fit = "Free";
};

/// An operand or result of a record.
struct ValueModel {
  std::string name, constraint; // "x", "Tess_Float"
  char arity = '1';             // '1', '?', '*'
  bool hidden = false;
};

/// One entry of a pattern; becomes a DimPattern (ops/operator/Signature.h).
struct DimModel {
  char kind; // 'S' symbol, '*' star, 'L' literal, '@' attribute, '/' star without axes
  std::string symbol;
  int64_t number = 0; // literal, symbol index or attribute index
  int64_t axes = 0;   // for '/': see DimPattern::literal
};

/// The shape of an operand or result; `guardedDims` hold where the attribute number `guardAttr` is true (-1: never).
struct PatternModel {
  std::vector<DimModel> dims, guardedDims;
  int guardAttr = -1;
  char arity = '1';
};

/// The parsed `shapes` of a record; becomes a Signature (ops/operator/Signature.h).
struct SignatureModel {
  std::vector<PatternModel> operands, results;
  std::vector<std::string> symbols;
  std::vector<bool> symbolIsStar;
  std::string text;
  bool elementwise = false, isExact = false;
};

/// An axis of an access in `compute`, or those of a pack; becomes a NotationPlace (ops/inference/Notation.h).
struct PlaceModel {
  std::vector<std::string> digits; // dimensions, as in `t` or `(t k)`
  bool isPack = false;
  int axis = -1;           // the attribute that says which axis it is, as in `t:axis`
  int part = 0, parts = 1; // `(0:2 t)` is the first half of an axis
  bool isWindow = false;   // as in `*s * *strides + *k - *padding`; the attributes, -1 where there is none
  int stride = -1, dilation = -1, padding = -1;
  int index = -1; // `ids[i]`: the read that holds the indices; while that is none, its number among `positions`
  std::string must;
};

/// A value at indices, as in `x[*a, t:axis, *b]`.
struct AccessModel {
  std::string value;
  std::vector<PlaceModel> places;
  std::vector<AccessModel> positions; // reads that places are computed by
  std::string must;
};

/// A dimension that accesses name; becomes a NotationSymbol.
struct DimensionModel {
  std::string name;
  bool isPack = false;
  int extent = -1; // the attribute behind `<`
  std::string must;
  bool isPosition = false; // elements of an axis that `ids[i]` counts along: no name of the record's
};

/// A function of other operators that `compute` calls.
struct CallModel {
  std::string name;
  unsigned operands;
};

/// The parsed `compute` of a record: a scan, which becomes a ScanInfo (ops/operator/OpInfo.h), or functions of reads,
/// which become a Notation and the C++ statements of its graph.
struct ComputeModel {
  AccessModel result;
  std::vector<AccessModel> reads;
  std::string function;         // of ScalarFn; empty: no scan
  std::string dimension;        // along which it scans
  int axis, exclusive, reverse; // attributes of a scan
  std::vector<DimensionModel> dimensions;
  std::vector<std::string> statements;
  std::vector<CallModel> calls;
  std::string reduction; // of a single read's dimensions, when it is all
  unsigned spared = 0;   // axes of the result in the place of which a write has dimensions of its own

  bool isScan() const { return !function.empty(); }
  /// Whether a read goes over windows.
  bool hasWindows() const;
  /// The dimension of a name; -1 when no access names it.
  int find(llvm::StringRef name) const;
};

/// A condition of a record; `must` and `got` are texts with terms in braces.
struct RequireModel {
  std::string must, condition, got, subject;
};

/// A call that tests make: shapes, attributes, and the range of the elements.
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
  std::unique_ptr<SignatureModel> signature; // null: a rule, or the operators of a composite, say it
  std::unique_ptr<SignatureModel> shown;     // what documentation says of `compute`
  std::unique_ptr<ComputeModel> compute;
  std::vector<std::pair<std::string, std::string>> constraints; // label, text
  std::vector<RequireModel> conditions;                         // of `requires`
  std::vector<SampleModel> samples;
  std::string oracle, pyModule, pyName;
  int pyOperator = -1; // of ops/table/PythonOperators.h
  std::vector<std::string> pyMethods;
  std::map<std::string, std::string> pyRenamed; // operand or attribute -> its name in Python

  /// A field of the record, by name; the field must exist and have the type. def() gives null for an unset field.
  std::string text(llvm::StringRef field) const { return record->getValueAsString(field).str(); }
  bool bit(llvm::StringRef field) const { return record->getValueAsBit(field); }
  std::vector<std::string> strings(llvm::StringRef field) const;
  std::vector<const llvm::DagInit *> dags(llvm::StringRef field) const;
  const llvm::Record *def(llvm::StringRef field) const;
  /// Whether `lowering` is the record `cls` or derives from it ("Composite").
  bool isLowering(llvm::StringRef cls) const;
  /// Whether it is a reduction that refuses to reduce no elements.
  bool needsElements() const;
  /// Whether other operators make up what it computes.
  bool isComposite() const { return isLowering("Composite") || (isLowering("Compute_") && !compute->isScan()); }
  /// Whether axes of a result mean what those of operand 0 do.
  bool keepsAxes() const;
  /// Whether the record gives a gradient, or one follows from `compute`, or it is a Composite that may be
  /// differentiated through its operators.
  bool hasGradient() const;
  /// The place of an operand, result or attribute by name; -1 when there is none.
  int operandIndex(llvm::StringRef n) const;
  int resultIndex(llvm::StringRef n) const;
  int attrIndex(llvm::StringRef n) const;
  /// The name of one operand or attribute in Python; then of all of them, operands first.
  std::string pyParameter(llvm::StringRef n) const;
  std::vector<std::string> pyParameters() const;
  /// Ends the program with an error at the record.
  [[noreturn]] void fatal(const llvm::Twine &message) const;
};

/// All operators, sorted by name.
class Model {
public:
  /// Ends the program when a record is wrong.
  explicit Model(const llvm::RecordKeeper &records);
  /// Operators by IR name; find() gives null for an unknown one.
  const std::vector<OpModel> &ops() const { return all; }
  const OpModel *find(llvm::StringRef name) const;

private:
  std::vector<OpModel> all;
};

/// Parses the field `compute`; ends the program with an error at the field when it has no meaning.
std::unique_ptr<ComputeModel> parseCompute(const OpModel &op);
/// The signature of a scan; what documentation says of the shapes of others.
std::unique_ptr<SignatureModel> signatureOf(const ComputeModel &compute);
std::unique_ptr<SignatureModel> shownShapes(const OpModel &op, const ComputeModel &compute);
/// What accesses demand, as sentences, which the model's parts get too: "dimension c must match".
std::vector<std::string> computeConstraints(OpModel &op);
/// Parses the field `shapes`; ends the program with an error at the record when it is no signature.
std::unique_ptr<SignatureModel> parseSignature(const OpModel &op);
/// What a signature demands, as sentences: "dimension K must match".
std::vector<std::string> signatureConstraints(const OpModel &op);

/// One attribute of a text of parseAttrText().
struct ParsedAttr {
  const AttrModel *attr;
  std::string reference; // a term, as in "$axes", "@x" or "[1, *$strides]"; empty: `value`
  AttrValue value;
};
/// Reads "a=1;b=[1, 2]" against the attributes of `op`; a value with $, @, # or ( in it is a term, which stays text.
/// Ends the program when an attribute is unknown or a value is of another kind.
std::vector<ParsedAttr> parseAttrText(const OpModel &op, llvm::StringRef text);

/// Names of the dtypes of a type constraint ({"f32", ...}, empty when it is unknown); its mask as C++ and
/// as a number.
std::vector<std::string> dtypeNames(llvm::StringRef constraint);
DTypeMask dtypeBits(const OpModel &op, llvm::StringRef constraint);
std::string dtypeMask(const OpModel &op, llvm::StringRef constraint);
/// The C++ type of an optional attribute ("std::optional<double>"), and the expression for OpDef::set.
std::string optionalType(const AttrModel &attr);
std::string optionalValue(const AttrModel &attr);
/// The required elements, then the optional ones: the order of parameters in C++ and Python.
template <typename T, typename F> std::vector<T> requiredFirst(const std::vector<T> &list, F isOptional) {
  std::vector<T> ordered;
  for (bool optional : {false, true})
    for (const T &element : list)
      if (isOptional(element) == optional)
        ordered.push_back(element);
  return ordered;
}

/// C++ source: an expression for an attribute value, a string literal, true or false.
std::string cppValue(const AttrValue &value);
/// A dtype in C++: its number, or its text where it has parameters.
std::string cppDType(DType dtype);
std::string cppString(llvm::StringRef text);
inline const char *boolText(bool value) { return value ? "true" : "false"; }
/// Python source for an attribute value.
std::string pyValue(const AttrValue &value);
/// First line of every generated file.
void banner(llvm::raw_ostream &os, llvm::StringRef generator, llvm::StringRef comment = "//");

/// "exp", of the record s_exp.
std::string scalarFnName(const llvm::Record *record);
/// Checks names and expressions that others than the generator read: each is fatal at the record.
void checkTexts(const OpModel &op);

} // namespace tess::tblgen
