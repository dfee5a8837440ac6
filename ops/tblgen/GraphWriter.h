//===- GraphWriter.h - dags of records as calls ----------------*- C++ -*-===//
#pragma once

#include "ops/tblgen/TermParser.h"

#include <map>

namespace tess::tblgen {

/// `body` for each index below `count`, as C++.
struct Loop {
  std::string index, count, body;
};

/// Turns dags into calls of ops/graphs/GraphPieces.h.
class GraphWriter {
public:
  GraphWriter(const Model &model, const OpModel &op, bool isGradient) : model(model), op(op), isGradient(isGradient) {}
  /// The statements of values that `dags` share.
  std::string shared(llvm::ArrayRef<const llvm::DagInit *> dags);
  std::string dag(const llvm::DagInit *dag) const;
  Loop loop(const llvm::DagInit *dag) const;

private:
  std::string term(const llvm::Init *init, llvm::StringRef name) const;
  std::string argument(const llvm::DagInit *dag, unsigned i) const {
    return term(dag->getArg(i), dag->getArgNameStr(i));
  }
  std::string arguments(const llvm::DagInit *dag) const;
  std::string value(llvm::StringRef name) const;
  std::string metaOf(llvm::StringRef name) const;
  std::string elementOf(llvm::StringRef name, llvm::StringRef index) const;
  std::string behindOperands(unsigned i) const;
  std::string given(llvm::StringRef name) const;
  std::string attr(const ParsedAttr &attr) const;
  std::string condition(llvm::StringRef text) const;
  std::string choice(const llvm::DagInit *dag, llvm::StringRef condition) const;
  std::string constant(const llvm::Record &def) const;
  std::string special(llvm::StringRef callee, const llvm::DagInit *dag, const std::vector<ParsedAttr> &attrs) const;
  std::string piece(const llvm::DagInit *dag, const llvm::Record &def) const;
  std::string called(const llvm::DagInit *dag, const llvm::Record &def, llvm::StringRef result) const;
  std::string inner(const llvm::DagInit *dag) const;
  const llvm::DagInit *onlyDag(const llvm::DagInit *dag) const;
  std::string texts(const TermScope &scope, const llvm::Record &def) const;
  void count(const llvm::DagInit *dag, bool isInLoop);
  template <typename F> auto withScope(F f) const {
    auto meta = [&](llvm::StringRef name) { return metaOf(name); };
    auto given = [&](llvm::StringRef name) { return this->given(name); };
    return f(TermScope{op, meta, given, indices});
  }

  const Model &model;
  const OpModel &op;
  bool isGradient;
  mutable std::vector<std::string> indices;           // of the loops around
  std::vector<const llvm::DagInit *> order;           // every dag, after those that it reads
  std::map<const llvm::DagInit *, unsigned> uses;     // of one in a loop many
  std::map<const llvm::DagInit *, std::string> names; // of shared values
};

/// The record of a dag's operator, or of its word.
inline const llvm::Record *operatorOf(const llvm::DagInit *dag) {
  return llvm::cast<llvm::DefInit>(dag->getOperator())->getDef();
}
/// The number of operands before the results, as C++: optional ones may be missing.
std::string operandCount(const OpModel &op);

} // namespace tess::tblgen
