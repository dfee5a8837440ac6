//===- MinCut.cpp - the cheapest cut of a network -------------------------===//
#include "compiler/transforms/MinCut.h"

#include <algorithm>

namespace tess::compiler {

unsigned MinCut::addNode() {
  edgesOf.emplace_back();
  return unsigned(edgesOf.size() - 1);
}

void MinCut::addEdge(unsigned from, unsigned to, int64_t capacity) {
  edgesOf[from].push_back(unsigned(edges.size()));
  edges.push_back({to, capacity});
  edgesOf[to].push_back(unsigned(edges.size()));
  edges.push_back({from, 0});
}

/// Numbers nodes by their distance over edges with capacity left; whether the sink has one.
bool MinCut::findLevels() {
  levels.assign(edgesOf.size(), -1);
  levels[kSource] = 0;
  std::vector<unsigned> queue = {kSource};
  for (size_t at = 0; at < queue.size(); ++at)
    for (unsigned e : edgesOf[queue[at]])
      if (edges[e].left > 0 && levels[edges[e].to] < 0) {
        levels[edges[e].to] = levels[queue[at]] + 1;
        queue.push_back(edges[e].to);
      }
  return levels[kSink] >= 0;
}

/// Finds one more path to the sink, level by level, and fills it; 0 where there is none.
int64_t MinCut::push() {
  llvm::SmallVector<unsigned> path; // edges
  unsigned node = kSource;
  while (node != kSink) {
    if (unsigned &next = nexts[node]; next < edgesOf[node].size()) {
      const Edge &edge = edges[edgesOf[node][next]];
      if (edge.left > 0 && levels[edge.to] == levels[node] + 1) {
        path.push_back(edgesOf[node][next]);
        node = edge.to;
      } else {
        ++next;
      }
    } else if (path.empty()) {
      return 0;
    } else { // a dead end: its edge is not tried again
      node = edges[reversed(path.pop_back_val())].to;
      ++nexts[node];
    }
  }
  int64_t flow = kUnlimited;
  for (unsigned e : path)
    flow = std::min(flow, edges[e].left);
  for (unsigned e : path) {
    edges[e].left -= flow;
    edges[reversed(e)].left += flow;
  }
  return flow;
}

llvm::BitVector MinCut::sinkSide() {
  while (findLevels()) {
    nexts.assign(edgesOf.size(), 0);
    while (push() > 0) {
    }
  }
  llvm::BitVector side(unsigned(edgesOf.size()));
  side.set(kSink);
  std::vector<unsigned> queue = {kSink};
  for (size_t at = 0; at < queue.size(); ++at)
    for (unsigned e : edgesOf[queue[at]])
      if (edges[reversed(e)].left > 0 && !side[edges[e].to]) {
        side.set(edges[e].to);
        queue.push_back(edges[e].to);
      }
  return side;
}

} // namespace tess::compiler
