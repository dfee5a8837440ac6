//===- graph_test.cpp - building, writing and reading graphs --------------===//
#include "ir/GraphBuilder.h"
#include "ops/graphs/Control.h"
#include "ops/vocabulary/SizeExpr.h"
#include "runtime/schema/BitsVersion.h"
#include "tests/ops/TripSizes.h"
#include "tests/runtime/Stderr.h"

#include <sys/resource.h>

using namespace tess;
using namespace tess::ir;

namespace {

const TensorMeta kRow(DType::Float32, {2, 3});

/// relu(x * w) with a named batch and a constant of `numColumns` columns.
Graph scaledRelu(int64_t numColumns, std::string &weights) {
  GraphBuilder builder;
  int batch = builder.dim({"batch", 1, 512});
  auto x = builder.input("x", TensorMeta(DType::Float32, {kUnknown, numColumns}), {batch, -1});
  weights.assign(size_t(numColumns) * 4, '\1');
  auto w = builder.constant(TensorMeta(DType::Float32, {numColumns}), weights, "net.scale");
  auto product = llvm::cantFail(builder.apply(OpDef::get("mul"), {x, w}, {}, "train.py:12 (net)"));
  auto out = llvm::cantFail(builder.apply(OpDef::get("relu"), {product[0]}));
  builder.setName(out[0], "logits");
  builder.output(out[0], "logits");
  return builder.finish();
}

/// A counter of `size` numbers that grows by x.
Graph counter(int64_t size) {
  GraphBuilder builder;
  const TensorMeta meta(DType::Float32, {size});
  auto x = builder.input("x", meta), count = builder.input("count", meta, {}, std::string(size_t(size) * 4, '\2'));
  auto sum = llvm::cantFail(builder.apply(OpDef::get("add"), {count, x}));
  builder.output(sum[0], "sum");
  builder.output(sum[0], "update0", 1);
  return builder.finish();
}

std::string messageOf(llvm::Error error) { return takeError(std::move(error)).second; }

} // namespace

TEST_CASE("a graph keeps names, dims and locations through the file") {
  std::string weights;
  for (int64_t columns : {4, 5000}) { // in the section, and in a tensor of its own
    Graph graph = scaledRelu(columns, weights);
    std::vector<Graph::TensorRef> tensors;
    std::string bytes = llvm::cantFail(graph.serialize(tensors));
    CHECK(tensors.size() == (columns == 5000 ? 1 : 0));
    Graph again = llvm::cantFail(Graph::parse(bytes, tensors));
    CHECK(again.toText() == graph.toText());
    CHECK(again.toText().find("\"batch\"") != std::string::npos);
    CHECK(again.toText().find("net.scale") != std::string::npos);
    CHECK(again.toText().find("train.py:12 (net)") != std::string::npos);
  }
}

TEST_CASE("large constants stay where they are held, in a graph and in what is made of it") {
  auto alive = std::make_shared<int>();
  const std::weak_ptr<int> watch = alive;
  const auto bytes = runtime::holdCopy(std::string(20000, '\1'));
  std::vector<Graph::TensorRef> tensors;
  std::string section;
  {
    GraphBuilder builder;
    auto x = builder.input("x", TensorMeta(DType::Float32, {5000}));
    auto scale = builder.constant(TensorMeta(DType::Float32, {5000}), runtime::hold(*bytes, std::move(alive)), "scale");
    builder.output(llvm::cantFail(builder.apply(OpDef::get("mul"), {x, scale}))[0], "y");
    section = llvm::cantFail(builder.finish().serialize(tensors));
  }
  REQUIRE(tensors.size() == 1);
  CHECK(tensors[0].bytes->data() == bytes->data());
  std::optional<Graph> again = llvm::cantFail(Graph::parse(section, tensors));
  tensors.clear();
  CHECK(!watch.expired());
  CHECK(llvm::cantFail(again->serialize(tensors)) == section);
  CHECK(tensors[0].bytes->data() == bytes->data());
  tensors.clear();
  again.reset();
  CHECK(watch.expired());
}

TEST_CASE("a graph keeps initial values of state through the file") {
  for (int64_t size : {2, 5000}) {
    Graph graph = counter(size);
    std::vector<Graph::TensorRef> tensors, more;
    std::string bytes = llvm::cantFail(graph.serialize(tensors));
    CHECK(tensors.size() == (size == 5000 ? 1 : 0));
    Graph again = llvm::cantFail(Graph::parse(bytes, tensors));
    CHECK(again.toText() == graph.toText());
    CHECK_THAT(again.toText(), Catch::Matchers::Contains("tess.initial = dense_resource<state"));
    CHECK(llvm::cantFail(again.serialize(more)) == bytes);
    for (size_t cut = 0; cut < bytes.size(); ++cut) // refused or another graph, never a crash
      llvm::consumeError(Graph::parse(llvm::StringRef(bytes).take_front(cut), tensors).takeError());
  }
}

/// ones of as many elements as x has above 0.
static Graph onesOfData() {
  GraphBuilder builder;
  auto x = builder.input("x", kRow);
  auto found = llvm::cantFail(builder.apply(OpDef::get("non_zero"), {x}));
  builder.nameSize(found[0], 0, 0);
  OpDef full = OpDef::get("full").set("shape", IntList{sizes::symbol(sizes::kDataSymbols)}).set("value", 1.0);
  builder.output(llvm::cantFail(builder.apply(full, {}))[0], "ones");
  return builder.finish();
}

TEST_CASE("a graph keeps sizes that data decides through the file") {
  Graph graph = onesOfData();
  std::vector<Graph::TensorRef> tensors;
  std::string bytes = llvm::cantFail(graph.serialize(tensors));
  Graph again = llvm::cantFail(Graph::parse(bytes, tensors));
  CHECK(again.toText() == graph.toText());
  CHECK(again.toText().find("tess.named_size") != std::string::npos);
  SECTION("whatever bit is another, it is refused or read") {
    for (size_t i = 0; i < bytes.size() * 8; ++i) {
      std::string damaged = bytes;
      damaged[i / 8] ^= char(1 << i % 8);
      llvm::consumeError(Graph::parse(damaged, tensors).takeError());
    }
  }
}

/// Sums of the positive elements of each row.
static Graph sumsOfData() {
  GraphBuilder builder;
  auto total = builder.input("total", TensorMeta(DType::Float32, {}));
  auto rows = builder.input("rows", TensorMeta(DType::Float32, {kUnknown, 4}), {builder.dim({"n", 1, 9}), -1});
  auto results = llvm::cantFail(builder.apply(test::positiveSums(), {total, rows}));
  builder.output(results[1], "sums");
  return builder.finish();
}

TEST_CASE("a graph keeps sizes of trips through the file") {
  Graph graph = sumsOfData();
  std::vector<Graph::TensorRef> tensors;
  std::string bytes = llvm::cantFail(graph.serialize(tensors));
  Graph again = llvm::cantFail(Graph::parse(bytes, tensors));
  CHECK(again.toText() == graph.toText());
  CHECK(again.toText().find("tess.named_size") != std::string::npos);
  for (size_t i = 0; i < bytes.size() * 8; ++i) { // whatever bit is another, it is refused or read
    std::string damaged = bytes;
    damaged[i / 8] ^= char(1 << i % 8);
    llvm::consumeError(Graph::parse(damaged, tensors).takeError());
  }
}

TEST_CASE("a damaged initial value is an error that names it") {
  std::vector<Graph::TensorRef> tensors;
  std::string bytes = llvm::cantFail(counter(5000).serialize(tensors));
  auto refusal = [&](llvm::StringRef section) { return messageOf(Graph::parse(section, tensors).takeError()); };
  std::string narrow = bytes; // the first f32 is that of x, the second that of the input, the third of its value
  size_t third = narrow.find("f32", narrow.find("f32", narrow.find("f32") + 1) + 1);
  CHECK(refusal(narrow.replace(third, 3, "i32")) == "graph: initial value 'count' must be f32[5000], got i32[5000]");
  tensors.front().bytes = runtime::holdCopy(tensors.front().bytes->substr(1));
  CHECK(refusal(bytes) == "graph: initial value 'count' must have the bytes of f32[5000], got 19999");
  tensors.clear();
  CHECK(refusal(bytes) == "graph: tensor section 't0' must exist, got none");
}

TEST_CASE("a graph of many inputs takes memory for each of them once") {
  auto peak = [] {
    struct rusage usage;
    REQUIRE(getrusage(RUSAGE_SELF, &usage) == 0);
    return usage.ru_maxrss >> 10; // in MiB
  };
  const int64_t before = peak();
  GraphBuilder builder;
  std::vector<GraphBuilder::Value> inputs;
  for (unsigned i = 0; i < 10000; ++i)
    inputs.push_back(builder.input("x" + std::to_string(i), {DType::Float32, {2}}));
  builder.output(llvm::cantFail(builder.apply(OpDef::get("concat"), inputs))[0], "y");
  Graph graph = builder.finish();
  CHECK(peak() - before < 256); // a type of all inputs for each of them would be 1200
}

TEST_CASE("inference errors reach the caller of the builder") {
  GraphBuilder builder;
  auto x = builder.input("x", kRow), y = builder.input("y", TensorMeta(DType::Float32, {4, 5}));
  auto product = builder.apply(OpDef::get("matmul"), {x, y});
  REQUIRE(!product);
  CHECK(messageOf(product.takeError()) ==
        "matmul: dimension K must match, got x f32[2, 3] (K=3) and y f32[4, 5] (K=4)");
}

TEST_CASE("a damaged graph section is an error that names what is wrong") {
  std::string weights;
  Graph graph = scaledRelu(5000, weights);
  std::vector<Graph::TensorRef> tensors;
  std::string bytes = llvm::cantFail(graph.serialize(tensors));
  SECTION("a tensor is missing") {
    auto read = Graph::parse(bytes, {});
    REQUIRE(!read);
    CHECK(messageOf(read.takeError()) == "graph: tensor section 't0' must exist, got none");
  }
  SECTION("a tensor is short") {
    tensors.front().bytes = runtime::holdCopy(tensors.front().bytes->substr(1));
    auto read = Graph::parse(bytes, tensors);
    REQUIRE(!read);
    CHECK(messageOf(read.takeError()) == "graph: constant 'net.scale' must have the bytes of f32[5000], got 19999");
  }
  SECTION("every truncation is refused or gives a graph, never a crash") {
    for (size_t size = 0; size < bytes.size(); ++size) {
      auto read = Graph::parse(llvm::StringRef(bytes).take_front(size), tensors);
      if (!read)
        CHECK(messageOf(read.takeError()).find(": ") != std::string::npos);
    }
  }
}

TEST_CASE("a damaged graph section is told by the error alone") {
  const std::string named = "\x12\x03\x0a\x01\xff"; // dims[0].name, which is not UTF-8
  std::string message;
  CHECK(test::stderrOf([&] { message = messageOf(Graph::parse(named, {}).takeError()); }) == "");
  CHECK(message == "graph: must be a Protobuf message, got 5 bytes that are not one");
}

TEST_CASE("a graph keeps its numerics through the file") {
  std::string weights;
  std::vector<Graph::TensorRef> tensors;
  Graph graph = scaledRelu(4, weights);
  const std::string strict = llvm::cantFail(graph.serialize(tensors));
  CHECK(graph.numerics() == Numerics::Strict);
  graph.setNumerics(Numerics::Fast);
  const std::string fast = llvm::cantFail(graph.serialize(tensors));
  Graph again = llvm::cantFail(Graph::parse(fast, tensors));
  CHECK(again.numerics() == Numerics::Fast);
  CHECK(again.toText() == graph.toText());
  again.setNumerics(Numerics::Strict);
  CHECK(llvm::cantFail(again.serialize(tensors)) == strict);
  auto [code, message] = takeError(Graph::parse(strict + "\x4a\x05quick", tensors).takeError());
  CHECK(code == ErrorCode::DataLoss);
  CHECK(message == "graph: numerics must be 'strict' or 'fast', got 'quick'");
}

TEST_CASE("what a newer writer must have understood is refused by name") {
  std::string weights;
  std::vector<Graph::TensorRef> tensors;
  const std::string bytes = llvm::cantFail(scaledRelu(4, weights).serialize(tensors));
  auto refusal = [&](const std::string &more) {
    auto read = Graph::parse(bytes + more, tensors);
    auto [code, message] = takeError(read.takeError());
    CHECK(code == ErrorCode::Unimplemented);
    return message;
  };
  CHECK(refusal("\x08\x03") == "graph: format must be at most 2, got 3, written by a newer Tessera");
  CHECK(refusal("\x08\x02\x42\x06ragged") ==
        "graph: the file needs ragged, which this version of Tessera does not know, got features [ragged]");
  CHECK(refusal("\x08\x02\x42\x05loops\x42\x06ragged") ==
        "graph: the file needs ragged, which this version of Tessera does not know, got features [loops, ragged]");
  CHECK(refusal("\x2a\x0a\x0a\x08relu@7{}") == "relu: version must be in [1, 1], got 7, written by a newer Tessera");
  CHECK(refusal("\x2a\x0a\x0a\x08zeta@1{}") ==
        "operator: name must be known, got 'zeta', written by a newer Tessera or damaged");
}

TEST_CASE("what else a newer writer adds is skipped") {
  std::string weights;
  std::vector<Graph::TensorRef> tensors, more;
  const std::string bytes = llvm::cantFail(scaledRelu(4, weights).serialize(tensors));
  const std::string field = "\x98\x06\x01", within = "\x1a\x03" + field; // number 99, a varint; of another constant
  Graph read = llvm::cantFail(Graph::parse(bytes + field, tensors));
  CHECK(llvm::cantFail(read.serialize(more)) == bytes);
  CHECK(messageOf(Graph::parse(bytes + within, tensors).takeError()) == "graph: dtype must be known, got ''");
}

/// A graph that gives back an input of `dtype`.
static Graph identity(DType dtype) {
  GraphBuilder builder;
  builder.output(builder.input("x", TensorMeta(dtype, {2})), "y");
  return builder.finish();
}

/// The sum over the rows of x, by a loop.
static Graph loop() {
  SubgraphBuilder step;
  int sum = step.input(TensorMeta(DType::Float32, {3})), row = step.input(TensorMeta(DType::Float32, {3}));
  int next = step.apply(OpDef::get("add"), {sum, row});
  GraphBuilder builder;
  auto zeros = builder.input("sum", TensorMeta(DType::Float32, {3})), x = builder.input("x", kRow);
  OpDef scan = control::scan(llvm::cantFail(step.finish({next})), 0, 1, {});
  builder.output(llvm::cantFail(builder.apply(scan, {zeros, x}, {}))[0], "total");
  return builder.finish();
}

TEST_CASE("a graph names the features that it uses, and no others") {
  std::string weights;
  std::vector<Graph::TensorRef> tensors, more;
  auto endOf = [&](const Graph &graph) { // the names are the last field
    tensors.clear();
    std::string bytes = llvm::cantFail(graph.serialize(tensors));
    CHECK(llvm::cantFail(llvm::cantFail(Graph::parse(bytes, tensors)).serialize(more)) == bytes);
    bool isPlain = llvm::StringRef(bytes).starts_with("\x08\x01");
    CHECK(isPlain != llvm::StringRef(bytes).starts_with("\x08\x02"));
    size_t versionEnd = bytes.rfind(std::string("\x38") + char(runtime::bitsVersion()));
    return (isPlain ? "plain" : "") + bytes.substr(versionEnd + 2);
  };
  CHECK(endOf(scaledRelu(4, weights)) == "plain");
  CHECK(endOf(counter(2)) == "plain");
  CHECK(endOf(identity(DType::UInt64)) == "plain");
  CHECK(endOf(identity(DType::Complex64)) == "\x42\x07"
                                             "complex");
  CHECK(endOf(identity(DType::Float8E4M3)) == "\x42\x06"
                                              "float8");
  CHECK(endOf(identity(DType::IntB4)) == "\x42\x07low_bit");
  CHECK(endOf(loop()) == "\x42\x05loops");
  CHECK(endOf(onesOfData()) == "\x42\x0a"
                               "data_sizes\x42\x10size_expressions");
  CHECK(endOf(sumsOfData()) == "\x42\x0a"
                               "data_sizes\x42\x05loops\x42\x10size_expressions\x42\x0atrip_sizes");
}

TEST_CASE("a list of features that no writer makes is refused") {
  std::vector<Graph::TensorRef> none;
  const std::string plain = llvm::cantFail(counter(2).serialize(none));
  const std::string loops = llvm::cantFail(loop().serialize(none));
  auto refusal = [&](const std::string &bytes) {
    auto [code, message] = takeError(Graph::parse(bytes, none).takeError());
    CHECK(code == ErrorCode::DataLoss);
    return message;
  };
  CHECK(refusal(plain + "\x42\x05loops") == "graph: a program of format 1 must name no features, got 1");
  CHECK(refusal(plain + "\x08\x02\x42\x05loops") ==
        "graph: features must be those that the program uses, [], got [loops]");
  CHECK(refusal(loops + "\x42\x05loops") == "graph: features must be named once and in order, got loops behind loops");
  CHECK(refusal(loops + "\x42\x01") ==
        "graph: must be a Protobuf message, got " + std::to_string(loops.size() + 2) + " bytes that are not one");
  CHECK(refusal(loops + "\x42\x02 A") == "graph: a feature must be named by at most 64 small letters, digits and "
                                         "underscores, got 2 other bytes");
  CHECK(refusal(loops.substr(0, loops.size() - 7)) ==
        "graph: features must be those that the program uses, [loops], got []");
  for (size_t size = loops.size() - 6; size < loops.size(); ++size)
    CHECK(refusal(loops.substr(0, size)) ==
          "graph: must be a Protobuf message, got " + std::to_string(size) + " bytes that are not one");
}

TEST_CASE("text that is no module is refused") {
  auto graph = Graph::parseText("func.func @other() { return }");
  REQUIRE(!graph);
  CHECK(messageOf(graph.takeError()) == "graph: module must have a function main, got none");
}
