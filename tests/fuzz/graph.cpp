//===- graph.cpp - any bytes as the graph section of a file ---------------===//
#include "ir/GraphBuilder.h"
#include "tests/fuzz/Fuzz.h"

using namespace tess;

void fuzzOne(llvm::StringRef input) {
  static const std::vector<ir::Graph::TensorRef> none;
  auto graph = ir::Graph::parse(input, none);
  if (!fuzz::passed(graph))
    return;
  std::vector<ir::Graph::TensorRef> tensors, more;
  auto bytes = graph->serialize(tensors);
  if (!fuzz::passed(bytes))
    return;
  auto again = ir::Graph::parse(*bytes, tensors);
  fuzz::require(fuzz::passed(again), "what was read must survive its encoding");
  auto same = again->serialize(more);
  fuzz::require(fuzz::passed(same) && *same == *bytes, "what was read must survive its encoding");
}
