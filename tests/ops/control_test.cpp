// Operators with bodies: as values, inferred, and their gradient.
#include "ops/graphs/Control.h"
#include "ops/graphs/GraphPieces.h"
#include "tests/ops/TripSizes.h"
#include "tests/runtime/Expect.h"

using namespace tess;
using namespace tess::test;

namespace {

TensorMeta f32(llvm::ArrayRef<int64_t> shape) { return TensorMeta(DType::Float32, shape); }

/// A trip of (w, h, x) -> h' = w * h + x, stacking h.
Subgraph step(const char *last = "add", int64_t size = 3) {
  SubgraphBuilder b;
  int w = b.input(f32({size})), h = b.input(f32({size})), x = b.input(f32({size}));
  int next = pieces::call(b, last, {pieces::call(b, "mul", {w, h}), x});
  return get(b.finish({next, h}));
}

OpDef scan(control::ScanOrder order = {}) { return control::scan(step(), 1, 1, order); }

std::string refused(const OpDef &op, llvm::ArrayRef<TensorMeta> operands) { return messageOf(op.infer(operands)); }

} // namespace

TEST_CASE("operators with equal bodies are equal") {
  CHECK(scan().isSame(scan()));
  CHECK(scan().hash() == scan().hash());
  OpDef other = control::scan(step("sub"), 1, 1, {});
  CHECK_FALSE(scan().isSame(other));
  CHECK(scan().hash() != other.hash());
  CHECK_FALSE(scan().isSame(scan({std::nullopt, true})));
  CHECK(scan().attr("body").toText() == "{(%0, %1, %2) %3 = mul(%0, %1); %4 = add(%3, %2); yield %4, %1}");
  CHECK(scan().serialize() == "scan{constants=1, carried=1, reverse=false, guarded=false}"); // the body is no text
}

TEST_CASE("a scan gives what it carries and what it stacks") {
  CHECK(get(scan().infer({f32({3}), f32({3}), f32({5, 3})})) == Metas{f32({3}), f32({5, 3})});
  OpDef counted = control::scan(step(), 2, 1, {7});
  CHECK_THAT(refused(counted, {f32({3}), f32({3})}), Catch::Matchers::Contains("must be operands, got 3 of 2"));
}

TEST_CASE("a scan refuses operands that do not fit") {
  CHECK(refused(scan(), {f32({3}), f32({3}), f32({})}) == "scan: xs must have an axis for the trips, got f32[]");
  CHECK(refused(scan({4}), {f32({3}), f32({3}), f32({5, 3})}) ==
        "scan: length must be the size of axis 0 of all xs, got 4 and f32[5, 3]");
  CHECK(refused(scan(), {f32({3}), f32({1}), f32({5, 3})}) ==
        "scan: step must return each carried value with the dtype and shape that it takes, got f32[3] for f32[1] "
        "(carried value 0)");
  CHECK(refused(scan(), {f32({3}), f32({2}), f32({5, 3})}) ==
        "mul: operands must broadcast, got x f32[3] and y f32[2]");
  CHECK(refused(scan({std::nullopt, false, true}), {f32({3}), f32({3}), f32({5, 3})}) ==
        "scan: the guard, the first carried value, must be a bool or int64 of rank 0, got f32[3]");
  CHECK(refused(OpDef::get("scan").set("constants", 0).set("carried", 0), {}) == "scan: body must be given, got none");
}

TEST_CASE("the gradient of a scan is a scan the other way") {
  Metas operands = {f32({3}), f32({3}), f32({5, 3})};
  auto graphOf = [&](llvm::ArrayRef<bool> hasSum) {
    return get(scan().makeBackwardGraph(operands, {true, true, true}, {true, true}, {}, hasSum));
  };
  Subgraph graph = graphOf({});
  REQUIRE(graph.nodes.size() == 5); // the first sum, -0.0, the scan, and zeros, added to two of its results
  CHECK(graph.nodes[0].op.name() == "full");
  CHECK(std::signbit(graph.nodes[0].op.f64("value")));
  CHECK(graph.nodes[1].op.boolean("reverse"));
  CHECK(graph.outputs.size() == 3);
  CHECK(graphOf({true, false, false}).nodes.size() == 4); // it adds to the sum that it is given
}

TEST_CASE("a gradient reads saved values where the scan gives them") {
  SubgraphBuilder b;
  int h = b.input(f32({3})), x = b.input(f32({3}));
  int inner = pieces::call(b, "exp", {pieces::call(b, "mul", {h, x})});
  OpDef op = control::scan(get(b.finish({inner})), 0, 1, {});
  Metas operands = {f32({3}), f32({5, 3})};
  auto saved = get(control::valuesOfGradient(op, operands, {true, true}));
  CHECK(saved.size() == 2); // what exp gave, and what was carried
  auto scans = [&](const OpDef &each, llvm::ArrayRef<bool> arrives) {
    Subgraph graph = get(each.makeBackwardGraph(operands, {true, true}, arrives));
    return llvm::count_if(graph.nodes, [](const Subgraph::Node &node) { return node.op.name() == "scan"; });
  };
  CHECK(scans(op, {true}) == 2); // it is made again
  CHECK(scans(control::withResults(op, saved), {true, false, false}) == 1);
}

TEST_CASE("sizes that data decides in a body are those of its values") {
  Metas operands = {f32({}), f32({3, 4})};
  CHECK(get(positiveSums().infer(operands)) == Metas{f32({}), f32({3})});
  CHECK(control::decidesSizes(positiveSums()));
  CHECK_FALSE(control::decidesSizes(scan()));
  CHECK(refused(positiveSums(0), operands) == // of rank 0
        "full: sizes in a body must be those of values before, got axis 0 of value 0");
  CHECK_THAT(refused(positiveSums(6), operands), Catch::Matchers::Contains("got axis 0 of value 6")); // it comes later
}

TEST_CASE("symbols of a body are no matter of those around") {
  unsigned found = 0;
  positiveSums().forEachSymbol([&](uint32_t) { ++found; });
  CHECK(found == 0);
  CHECK(positiveSums().withSymbols([](uint32_t) { return 7; }).isSame(positiveSums()));
}
