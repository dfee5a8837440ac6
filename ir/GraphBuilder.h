//===- GraphBuilder.h - programs without MLIR headers -----------*- C++ -*-===//
//
// How eager, frontends and tools write a program down: a Graph owns an MLIR
// module of the `tess` dialect; GraphBuilder appends operators to it. This
// header names no MLIR type, so that its users compile fast.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/OpDef.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tess::ir {

struct GraphImpl;

/// A dimension with a name, bounded: part of a graph's signature.
struct NamedDim {
  std::string name;
  int64_t min = 1;
  int64_t max = INT64_MAX;
};

/// One function of `tess` operators with its signature. Movable; never null after finish()/parse().
class Graph {
public:
  Graph();
  ~Graph();
  Graph(Graph &&) noexcept;
  Graph &operator=(Graph &&) noexcept;

  /// MLIR text, with names and locations.
  std::string toText() const;
  /// The graph section of a file (ir/proto); constants above 4 KiB are listed in `tensors` and left out of the bytes.
  struct TensorRef {
    std::string name;
    TensorMeta meta;
    std::string bytes;
  };
  llvm::Expected<std::string> serialize(std::vector<TensorRef> &tensors) const;
  static llvm::Expected<Graph> parse(llvm::StringRef bytes, llvm::ArrayRef<TensorRef> tensors);
  /// From MLIR text (tests, tess-opt).
  static llvm::Expected<Graph> parseText(llvm::StringRef text);

  GraphImpl &impl() const { return *pimpl; }
  /// The bits that its results had when it was made: this build's, or those of the file it was read from
  /// (runtime/schema/BitsVersion.h).
  unsigned bitsVersion() const;

private:
  friend class GraphBuilder;
  std::unique_ptr<GraphImpl> pimpl;
};

class GraphBuilder {
public:
  using Value = int32_t;

  GraphBuilder();
  ~GraphBuilder();

  /// Declares a named dimension; returns its index for input().
  int dim(NamedDim dim);
  /// An input. `dims`: per axis the index of a named dimension, or -1 (the meta's size; anonymous when kUnknown).
  /// `initial`: row-major bytes of state, which the program keeps between runs: one output donates it, all dimensions
  /// are known, and it comes after the inputs that a call gives.
  Value input(llvm::StringRef name, const TensorMeta &meta, llvm::ArrayRef<int> dims = {},
              std::optional<llvm::StringRef> initial = std::nullopt);
  /// A constant; `bytes` row-major. `name` may be empty (parameters have their dotted path).
  Value constant(const TensorMeta &meta, llvm::StringRef bytes, llvm::StringRef name = "");
  /// Appends an operator; results in order, hidden ones too. `location`: "train.py:12 (net.conv1)".
  llvm::Expected<llvm::SmallVector<Value, 4>> apply(const OpDef &op, llvm::ArrayRef<Value> operands,
                                                    llvm::ArrayRef<unsigned> segments = {},
                                                    llvm::StringRef location = "");
  /// Names a value for dumps, errors and profiles.
  void setName(Value value, llvm::StringRef name);
  /// Adds an output. `donates`: index of the input whose buffer it takes over (parameter update), or -1.
  void output(Value value, llvm::StringRef name, int donates = -1);
  const TensorMeta &meta(Value value) const;
  /// Runtime attributes of elementwise operators become scalar parameters of the program, in order of appearance
  /// (eager's mini-graphs); otherwise they are constants of the program.
  void setScalarParameters(bool on);

  Graph finish();

private:
  Graph graph;
  struct State;
  std::unique_ptr<State> state;
};

} // namespace tess::ir
