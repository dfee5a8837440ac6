//===- RecordData.h - records as a file has them ----------------*- C++ -*-===//
//
// Output of `tess-tblgen --gen-tess-rows`, read as JSON; nothing of it is checked
// beyond its types. Generator and reader share the names of these members.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/Support/Error.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tess::custom::data {

/// The version of the file's format.
inline constexpr int64_t kVersion = 1;

/// An operand or a result.
struct Value {
  std::string name;
  int64_t dtypes = 0; // a DTypeMask
  bool hidden = false;
};

/// An attribute; limits and the default are texts of values.
struct Attribute {
  std::string name, kind, doc;
  std::optional<std::string> defaultText, least, most, fit;
  bool runtime = false, optional = false, bindTime = false, size = false, set = false;
  std::vector<std::string> cases;
  int64_t axisOf = -1, axisExtra = 0, length = -1;
};

/// A shape signature (ops/operator/Signature.h).
struct Dimension {
  std::string kind;
  int64_t number = 0, axes = 0;
};
struct Pattern {
  std::vector<Dimension> dims, guarded;
  int64_t guard = -1;
};
struct Signature {
  std::string text;
  std::vector<std::string> symbols;
  std::vector<Pattern> operands, results;
};

/// A scalar body (ops/operator/ScalarProgram.h).
struct ScalarNode {
  std::string function, constant;
  std::vector<int64_t> arguments;
};
struct ScalarProgram {
  std::vector<ScalarNode> nodes;
  std::vector<int64_t> results;
};

/// A value of a graph: "$x", or the number of a node; none.
struct Reference {
  std::string name;
  int64_t node = -1;
};
/// Chooses between two values by an attribute or by a dtype.
struct Condition {
  std::string attribute, equals, isComplex;
};
/// One of an operator's call, a constant, and a choice.
struct Node {
  std::string op, result, constant, like;
  std::vector<Reference> inputs;
  std::map<std::string, std::string> attributes;
  std::optional<Condition> when;
};
struct Graph {
  std::vector<Node> nodes;
  std::vector<Reference> results;
};

/// How the result dtypes follow (DTypeRule in ops/operator/OpInfo.h).
struct DTypes {
  std::string rule, fixed;
  int64_t operand = 0, mask = 0, attribute = -1;
};
struct Constraint {
  std::string label, text;
};
struct Pair {
  int64_t operand = 0, result = 0;
};
struct Sharding {
  std::vector<int64_t> splittable, partial;
};

/// One record.
struct Row {
  std::string name, summary, documentation, lowering, autocast;
  std::vector<Value> operands, results;
  std::vector<Attribute> attributes;
  std::optional<Signature> signature;
  DTypes dtypes;
  std::optional<ScalarProgram> scalar;
  std::optional<Graph> forward, gradient;
  bool differentiates = false, countsAxes = false, keepsAxes = false, rounds = false;
  std::vector<Pair> inplace;
  std::vector<Constraint> constraints;
  std::optional<Sharding> sharding;
};

/// A file of records.
struct File {
  std::string library, libraryVersion;
  std::vector<Row> rows;
};

/// Reads the text of a file. InvalidArgument where it is no JSON of this form, Unimplemented for another version.
llvm::Expected<File> parse(llvm::StringRef text);

} // namespace tess::custom::data
