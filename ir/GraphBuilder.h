//===- GraphBuilder.h - programs without MLIR headers -----------*- C++ -*-===//
//
// How eager, frontends and tools write a program down: a Graph owns an MLIR
// module of the `tess` dialect; GraphBuilder appends operators to it. This
// header names no MLIR type, so that its users compile fast.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/operator/OpDef.h"
#include "runtime/schema/HeldBytes.h"

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

/// How far the results of a program may be from those of its operators one by one.
enum class Numerics : uint8_t {
  Strict, // no bit differs
  Fast,   // products and sums with constants may be taken in another order
};
/// "strict" or "fast".
llvm::StringRef nameOf(Numerics numerics);
/// The numerics of that name; InvalidArgument, which begins with `caller`, for another one.
llvm::Expected<Numerics> parseNumerics(llvm::StringRef caller, llvm::StringRef name);

/// One function of `tess` operators with its signature. Movable; only GraphBuilder::finish() and the parse functions
/// give one that has a function.
class Graph {
public:
  Graph();
  ~Graph();
  Graph(Graph &&) noexcept;
  Graph &operator=(Graph &&) noexcept;

  /// MLIR text with names and locations, for people: large constants are abridged.
  std::string toText() const;
  /// A constant above 4 KiB, which a file keeps beside the graph; `bytes` row-major.
  struct TensorRef {
    std::string name;
    TensorMeta meta;
    runtime::HeldBytes bytes;
  };
  /// The graph section of a file (ir/proto); appends to `tensors` the constants that the section refers to by name.
  /// ResourceExhausted above 2 GiB.
  llvm::Expected<std::string> serialize(std::vector<TensorRef> &tensors) const;
  /// The graph of such a section; `tensors` must have those that it refers to. Trusts nothing in `bytes`.
  static llvm::Expected<Graph> parse(llvm::StringRef bytes, llvm::ArrayRef<TensorRef> tensors);
  /// The graph of MLIR text (tests, tess-opt); the module must have a function "main".
  static llvm::Expected<Graph> parseText(llvm::StringRef text);

  /// The MLIR side, for ir/ and compiler/ only.
  GraphImpl &impl() const { return *pimpl; }
  /// The version of the results' bits (runtime/schema/BitsVersion.h): this build's for a graph that was built here,
  /// else the one that the file names.
  unsigned bitsVersion() const;
  /// As GraphBuilder::setNumerics said; a file keeps it.
  Numerics numerics() const;
  void setNumerics(Numerics numerics);

private:
  friend class GraphBuilder;
  std::unique_ptr<GraphImpl> pimpl;
};

/// What a program knows of the memory of an input or an output.
enum class MemoryLayout : uint8_t {
  RowMajor,
  RowsApart, // the last axis has stride 1
  Strided,
};

/// Row-major bytes of a tensor, which a graph copies, unless somebody holds them who never changes them.
struct Content {
  llvm::StringRef bytes;
  runtime::HeldBytes holder = nullptr;

  Content(const std::string &bytes) : bytes(bytes) {}
  Content(llvm::StringRef bytes) : bytes(bytes) {}
  Content(runtime::HeldBytes holder) : bytes(*holder), holder(std::move(holder)) {}
};

/// Builds one graph, from its inputs to its outputs. Not thread-safe.
class GraphBuilder {
public:
  /// Number of a value, counted from 0 in the order in which inputs, constants and results are made.
  using Value = int32_t;

  GraphBuilder();
  ~GraphBuilder();

  /// Declares a named dimension; returns its index for input().
  int dim(NamedDim dim);
  /// An input. `dims`: per axis the index of a named dimension, or -1 (the meta's size; anonymous when kUnknown).
  /// `initial`: of state, which the program keeps between runs: one output donates it, all dimensions
  /// are known, and it comes after the inputs that a call gives.
  Value input(llvm::StringRef name, const TensorMeta &meta, llvm::ArrayRef<int> dims = {},
              const std::optional<Content> &initial = std::nullopt);
  /// `input` lies so; otherwise it is row-major. For programs whose caller lays out kernel operands itself, as those of
  /// output().
  void setLayout(Value input, MemoryLayout layout);
  /// A constant. `name` may be empty (parameters have their dotted path).
  Value constant(const TensorMeta &meta, const Content &content, llvm::StringRef name = "");
  /// Appends an operator and returns its results in order, hidden ones too; the inference error, with `location`, when
  /// the operands do not fit. `location`: "train.py:12 (net.conv1)".
  llvm::Expected<llvm::SmallVector<Value, 4>> apply(const OpDef &op, llvm::ArrayRef<Value> operands,
                                                    llvm::ArrayRef<unsigned> segments = {},
                                                    llvm::StringRef location = "");
  /// Appends the operators of `graph` on `operands`, and returns its outputs.
  llvm::Expected<llvm::SmallVector<Value, 4>> apply(const Subgraph &graph, llvm::ArrayRef<Value> operands,
                                                    llvm::StringRef location = "");
  /// The symbol sizes::kDataSymbols + `number` stands for the size of `axis` of `value`, which data decides, in sizes
  /// of later operators.
  void nameSize(Value value, unsigned axis, uint32_t number);
  /// Names the operator that made `value`, for dumps, errors and profiles; an input keeps the name that it has.
  void setName(Value value, llvm::StringRef name);
  /// Adds an output. `donates`: index of the input whose buffer it takes over (parameter update), or -1.
  void output(Value value, llvm::StringRef name, int donates = -1, MemoryLayout layout = MemoryLayout::RowMajor);
  /// The dtype and shape that inference gave; valid until the next value is made.
  const TensorMeta &meta(Value value) const;
  /// Runtime attributes become scalar parameters of the program, in order of appearance (eager's mini-graphs);
  /// otherwise they are constants of the program.
  void setScalarParameters(bool on);
  /// Says that no size of an input that is unknown is 1 (eager's mini-graphs).
  void setOnesKnown(bool known);
  /// The numerics that the program is compiled with; Strict unless it is set.
  void setNumerics(Numerics numerics);

  /// The graph; the builder must not be used afterwards.
  Graph finish();

private:
  Graph graph;
  struct State;
  std::unique_ptr<State> state;
};

} // namespace tess::ir
