//===- RecordRow.h - a row that a record of a file made ---------*- C++ -*-===//
#pragma once

#include "ops/custom/CustomOp.h"
#include "ops/custom/RecordGraph.h"

#include <deque>
#include <memory>

namespace tess::custom {

/// Where a row of a record comes from: rows with an origin that have no functions of a library have one of these.
struct RecordOrigin : OpOrigin {
  const class RecordRow *row;
};

/// A row like those of our own records, made while the program runs; it lives for ever. Its functions find it by the
/// operator that they get.
class RecordRow {
public:
  /// Reads all but the graphs. InvalidArgument where the file says what no row can have.
  static llvm::Expected<std::unique_ptr<RecordRow>> make(const data::Row &from, const OpOrigin &origin);
  RecordRow(const RecordRow &) = delete;
  /// Reads the graphs. InvalidArgument as above.
  llvm::Error readGraphs(const data::Row &from, const FindRow &find);

  /// The record of a row; null for others.
  static const RecordRow *of(const OpInfo &info) {
    return info.origin && !info.custom ? static_cast<const RecordOrigin *>(info.origin)->row : nullptr;
  }
  const OpInfo &info() const { return row; }
  OpInfo &info() { return row; }
  const OpOrigin &origin() const { return from; }
  /// The docstring, without the signature.
  const std::string &documentation() const { return text; }
  /// The graph of a composite; of the gradient where the record gives one.
  const std::optional<RecordGraph> &forward() const { return forwardGraph; }
  const std::optional<RecordGraph> &gradient() const { return gradientGraph; }

private:
  friend class RecordReader;
  explicit RecordRow(const OpOrigin &origin) : from{origin, this} {}

  const RecordOrigin from;
  OpInfo row = {};
  std::string text;
  std::optional<RecordGraph> forwardGraph, gradientGraph;
  // Memory that the row points to.
  std::deque<std::string> texts;
  std::deque<AttrValue> defaults;
  std::deque<std::vector<const char *>> names;
  std::deque<std::vector<DimPattern>> dims;
  std::vector<OperandInfo> operands;
  std::vector<ResultInfo> results;
  std::vector<AttrInfo> attrs;
  std::vector<OperandPattern> operandPatterns, resultPatterns;
  Signature signature = {};
  std::vector<ScalarNode> nodes;
  std::vector<int16_t> values;
  ScalarProgram scalar;
  std::vector<std::pair<uint8_t, uint8_t>> inplace;
  std::vector<ConstraintInfo> constraints;
  std::vector<uint8_t> splittable, partial;
};

/// The docstring of an operator that a library or a file brought, without the signature.
std::string documentationOf(const OpInfo &info);

} // namespace tess::custom
