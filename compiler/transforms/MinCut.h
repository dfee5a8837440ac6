//===- MinCut.h - the cheapest cut of a network -----------------*- C++ -*-===//
#pragma once

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <vector>

namespace tess::compiler {

/// A directed network with capacities, of which the source is node 0 and the sink node 1.
class MinCut {
public:
  static constexpr unsigned kSource = 0, kSink = 1;
  static constexpr int64_t kUnlimited = int64_t(1) << 60;

  MinCut() : edgesOf(2) {}
  unsigned addNode();
  void addEdge(unsigned from, unsigned to, int64_t capacity);
  /// The nodes on the side of the sink, of all cheapest cuts in the one that leaves the fewest there. Uses the network
  /// up. The algorithm is of E. A. Dinic, "Algorithm for solution of a problem of maximum flow in networks with power
  /// estimation", Soviet Math. Doklady 11, 1970.
  llvm::BitVector sinkSide();

private:
  struct Edge {
    unsigned to;
    int64_t left; // capacity that no flow uses
  };

  bool findLevels();
  int64_t push();
  /// Edge `e` the other way round.
  static unsigned reversed(unsigned e) { return e ^ 1; }

  std::vector<Edge> edges; // each beside its reverse
  std::vector<llvm::SmallVector<unsigned, 4>> edgesOf;
  std::vector<int> levels;     // distances from the source
  std::vector<unsigned> nexts; // by node: the first of its edges that may still lead to the sink
};

} // namespace tess::compiler
