#include "compiler/transforms/MinCut.h"

#include <catch2/catch.hpp>

#include <random>

using namespace tess::compiler;

namespace {

struct Edge {
  unsigned from, to;
  int64_t capacity;
};

/// The capacity of the edges into `side`.
int64_t capacityInto(const llvm::BitVector &side, const std::vector<Edge> &edges) {
  int64_t sum = 0;
  for (const Edge &edge : edges)
    sum += !side[edge.from] && side[edge.to] ? edge.capacity : 0;
  return sum;
}

/// All sides that hold the sink and not the source, of `nodes` nodes.
std::vector<llvm::BitVector> allSides(unsigned nodes) {
  std::vector<llvm::BitVector> sides;
  for (unsigned bits = 0; bits < 1u << (nodes - 2); ++bits) {
    llvm::BitVector side(nodes);
    side.set(MinCut::kSink);
    for (unsigned node = 2; node < nodes; ++node)
      if (bits >> (node - 2) & 1)
        side.set(node);
    sides.push_back(side);
  }
  return sides;
}

} // namespace

TEST_CASE("a cut is the cheapest of all, and leaves the fewest nodes to the sink") {
  std::mt19937 random(7);
  for (unsigned round = 0; round < 300; ++round) {
    const unsigned nodes = 3 + random() % 7;
    MinCut network;
    for (unsigned node = 2; node < nodes; ++node)
      REQUIRE(network.addNode() == node);
    std::vector<Edge> edges;
    for (unsigned i = 0; i < nodes * 3; ++i)
      if (Edge edge{unsigned(random() % nodes), unsigned(random() % nodes), int64_t(random() % 6)};
          edge.from != edge.to)
        edges.push_back(edge);
    for (const Edge &edge : edges)
      network.addEdge(edge.from, edge.to, edge.capacity);
    const llvm::BitVector found = network.sinkSide();
    const int64_t cost = capacityInto(found, edges);
    REQUIRE(found[MinCut::kSink]);
    REQUIRE(!found[MinCut::kSource]);
    for (const llvm::BitVector &side : allSides(nodes)) {
      REQUIRE(cost <= capacityInto(side, edges));
      if (capacityInto(side, edges) == cost)
        REQUIRE(found.count() <= side.count());
    }
  }
}
