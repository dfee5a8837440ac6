// apply's forms and the layers of the stack: each layer is taken out once, and a result changes.
#include "eager/dispatch/InPlace.h"
#include "eager/layers/CheckOperands.h"
#include "eager/stack/Apply.h"
#include "eager/stack/Autocast.h"
#include "eager/stack/Call.h"
#include "eager/tensor/Location.h"
#include "ops/vocabulary/Quantization.h"
#include "tests/eager/Helpers.h"

using namespace tess;
using namespace tess::eager;
using namespace tess::eager::testing;

namespace {
/// Takes a layer out of the stack for a while.
struct Without {
  explicit Without(Layer layer) : layer(layer) { disableLayer(layer, true); }
  ~Without() { disableLayer(layer, false); }
  Layer layer;
};
} // namespace

TEST_CASE("an operator on two vectors") {
  TensorRef sum = run("add", {make<float>({1, 2, 3}), make<float>({10, 20, 30})});
  CHECK(values<float>(*sum) == std::vector<float>{11, 22, 33});
}

TEST_CASE("operands broadcast") {
  TensorRef column = make<float>({1, 2}, {2, 1}), row = make<float>({10, 20, 30}, {1, 3});
  TensorRef sum = run("add", {column, row});
  CHECK(shapeOf(*sum) == std::vector<int64_t>{2, 3});
  CHECK(values<float>(*sum) == std::vector<float>{11, 21, 31, 12, 22, 32});
  TensorRef scaled = run("mul", {sum, make<float>({2}, {})});
  CHECK(values<float>(*scaled) == std::vector<float>{22, 42, 62, 24, 44, 64});
}

TEST_CASE("four axes, three of them broadcast in turns") {
  std::vector<float> a(2 * 3), b(4 * 3);
  for (unsigned i = 0; i < a.size(); ++i)
    a[i] = float(i);
  for (unsigned i = 0; i < b.size(); ++i)
    b[i] = float(100 * i);
  TensorRef sum = run("add", {make(a, {2, 1, 3, 1}), make(b, {4, 1, 3})});
  CHECK(shapeOf(*sum) == std::vector<int64_t>{2, 4, 3, 3});
  std::vector<float> got = values<float>(*sum), want;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 3; ++k)
        for (int l = 0; l < 3; ++l)
          want.push_back(a[i * 3 + k] + b[j * 3 + l]);
  CHECK(got == want);
}

TEST_CASE("zero-size operands give zero-size results") {
  TensorRef sum = run("add", {make<float>({}, {0, 3}), make<float>({1, 2, 3})});
  CHECK(shapeOf(*sum) == std::vector<int64_t>{0, 3});
}

TEST_CASE("shapes that do not fit are an error of the call") {
  auto [code, message] = errorOf(applyOne(OpDef::get("add"), {make<float>({1, 2}), make<float>({1, 2, 3})}));
  CHECK(code == ErrorCode::InvalidArgument);
  CHECK(message == "add: operands must broadcast, got x f32[2] and y f32[3]");
  SECTION("also when the class is known already") {
    run("add", {make<float>({1, 2}), make<float>({1, 2})});
    CHECK(errorOf(applyOne(OpDef::get("add"), {make<float>({1, 2}), make<float>({1, 2, 3})})).second == message);
  }
}

TEST_CASE("errors name the scope") {
  pushScope("net");
  pushScope("fc1");
  auto message = errorOf(applyOne(OpDef::get("add"), {make<float>({1, 2}), make<float>({1, 2, 3})})).second;
  popScope();
  popScope();
  CHECK(message == "add: operands must broadcast, got x f32[2] and y f32[3] (in net.fc1)");
}

TEST_CASE("a subgraph is an operator too") {
  SubgraphBuilder builder;
  int x = builder.input(TensorMeta(DType::Float32, {2})), y = builder.input(TensorMeta(DType::Float32, {2}));
  int product = builder.apply(OpDef::get("mul"), {x, y});
  Subgraph graph = get(builder.finish({builder.apply(OpDef::get("add"), {product, x}), -1}));
  TensorRef a = make<float>({2, 3}), b = make<float>({4, 5});
  Tensors results = get(apply(graph, {Operand(a), Operand(b)}));
  REQUIRE(results.size() == 2);
  CHECK(values<float>(*results[0]) == std::vector<float>{10, 18});
  CHECK_FALSE(results[1]);
}

TEST_CASE("other operators: names, copies, facts") {
  TensorRef x = make<float>({1, 2});
  get(apply(RenameValue("weight"), {Operand(x)}));
  std::string name;
  get(apply(GetName(name), {Operand(x)}));
  CHECK(name == "weight");
  Tensors copy = get(apply(DupTensor(false), {Operand(x)}));
  CHECK(&copy[0]->storage() == &x->storage());
  CHECK(copy[0]->name().empty());
  GetAttr::Answer answer;
  get(apply(GetAttr(GetAttr::ShapeOf, answer), {Operand(x)}));
  CHECK(std::get<Shape>(answer) == Shape{2});
  get(apply(GetAttr(GetAttr::DTypeOf, answer), {Operand(x)}));
  CHECK(std::get<DType>(answer) == DType::Float32);
  get(apply(GetAttr(GetAttr::DeviceOf, answer), {Operand(x)}));
  CHECK(std::get<std::string>(answer) == "cpu0");
}

TEST_CASE("a number becomes an element of every dtype") {
  auto bits = [](Number number, DType dtype) {
    uint64_t bytes = 0;
    llvm::cantFail(readValue(*get(createScalar(number, dtype)), &bytes));
    return bytes;
  };
  Number third = Number::floating(1.0 / 3), half = Number::floating(0.5), negative = Number::integer(-3);
  CHECK(bits(third, DType::BFloat16) == 0x3EAB);
  CHECK(bits(third, DType::Float16) == 0x3555);
  CHECK(bits(third, DType::Float32) == 0x3EAAAAAB);
  CHECK(bits(Number::floating(NAN), DType::BFloat16) >> 6 == 0x7FC0 >> 6);
  CHECK(bits(Number::floating(1 + 0x1p-8 + 0x1p-40), DType::BFloat16) == 0x3F80); // by way of float32
  CHECK(bits(half, DType::Bool) == 1);
  CHECK(bits(Number::integer(256), DType::Bool) == 1);
  CHECK(bits(negative, DType::Int8) == 0xFD);
  CHECK(bits(negative, DType::Int32) == 0xFFFFFFFD);
  CHECK(bits(negative, DType::Float64) == llvm::bit_cast<uint64_t>(-3.0));
  CHECK(bits(Number::boolean(true), DType::Float16) == 0x3C00);
}

TEST_CASE("Scalar: a number takes the dtype of the tensor") {
  TensorRef sum = run("add", {make<int32_t>({1, 2}), Operand(Number::integer(5))});
  CHECK(values<int32_t>(*sum) == std::vector<int32_t>{6, 7});
  TensorRef mixed = run("add", {make<int32_t>({1, 2}), Operand(Number::floating(0.5))});
  CHECK(values<float>(*mixed) == std::vector<float>{1.5, 2.5});
  auto [code, message] =
      errorOf(applyOne(OpDef::get("add"), {make<int32_t>({1}), Operand(Number::integer(1ll << 40))}));
  CHECK(code == ErrorCode::OutOfRange);
}

TEST_CASE("Scalar: without it numbers stay numbers, which nothing below computes with") {
  auto sum = [] { return applyOne(OpDef::get("add"), {make<int32_t>({1, 2}), Operand(Number::integer(5))}); };
  CHECK(values<int32_t>(*get(sum())) == std::vector<int32_t>{6, 7});
  Without layer(Layer::Scalar);
  CHECK(errorOf(sum()).second == "add: operands must be tensors by now, got a number");
}

TEST_CASE("Interpreter: without it nothing makes values") {
  TensorRef x = make<float>({1, 2});
  auto sum = [&] { return applyOne(OpDef::get("add"), {Operand(x), Operand(x)}); };
  CHECK(values<float>(*get(sum())) == std::vector<float>{2, 4});
  Without layer(Layer::Interpreter);
  CHECK(errorOf(sum()).second == "apply: a layer of the stack must answer, got none left");
}

TEST_CASE("DTypePromotion: operands come to one dtype, and without it they do not") {
  auto mixed = [] { return applyOne(OpDef::get("add"), {make<int32_t>({1, 2}), make<float>({0.5, 0.5})}); };
  CHECK(values<float>(*get(mixed())) == std::vector<float>{1.5, 2.5});
  TensorRef root = run("sqrt", {make<int32_t>({4, 9})});
  CHECK(values<float>(*root) == std::vector<float>{2, 3});
  Without layer(Layer::DTypePromotion);
  CHECK(errorOf(mixed()).first == ErrorCode::TypeMismatch);
}

TEST_CASE("Quantize: a cast converts by scale and zero point, and without it it is refused") {
  OpDef cast = OpDef::get("cast").set("dtype", *parseDType("quint8<0.5:3>"));
  auto stored = [&] { return applyOne(cast, {make<float>({1, -1, 0.25, 200})}); };
  TensorRef q = get(stored());
  CHECK(shortName(q->dtype()) == "quint8<0.5:3>");
  uint8_t bytes[4];
  check(readValue(*q, bytes));
  CHECK(std::vector<int>(bytes, bytes + 4) == std::vector<int>{5, 1, 4, 255});
  TensorRef back = run(OpDef::get("cast").set("dtype", DType::Float32), {q});
  CHECK(values<float>(*back) == std::vector<float>{1, -1, 0.5, 126});
  CHECK(errorOf(createTensor(TensorMeta(DType::QInt8, {2}), nullptr)).second ==
        "tensor: a quantized dtype must have a scale, got qint8[2]");
  Without layer(Layer::Quantize);
  CHECK(errorOf(stored()).second == "cast: dtype must be unquantized, got quint8<0.5:3>");
}

TEST_CASE("Grid: moved numbers stay on the grid, means are rounded to it, and without it neither") {
  auto grid = std::make_shared<const Grid>(Grid{DType::QInt8, make<float>({0.5f}, {}), make<int32_t>({0}, {})});
  TensorRef x = make<float>({1, 1.5f, 0.5f, 1}, {2, 2});
  x->setGrid(grid);
  CHECK(run("transpose", {x})->grid() == grid);
  CHECK_FALSE(run("add", {x, x})->grid());
  TensorRef mean = run("mean", {x}); // 1 exactly
  CHECK(mean->grid() == grid);
  TensorRef y = make<float>({1, 1.5f}, {2});
  y->setGrid(grid);
  CHECK(values<float>(*run("mean", {y})) == std::vector<float>{1.5f});
  y->rebind(*make<float>({1, 1.5f}, {2}));
  CHECK_FALSE(y->grid());
  Without grids(Layer::Grid);
  CHECK_FALSE(run("mean", {x})->grid());
}

TEST_CASE("DimExpansion: vectors multiply, and without it they do not") {
  TensorRef matrix = make<float>({1, 2, 3, 4}, {2, 2}), vector = make<float>({1, 10});
  auto product = [&] { return applyOne(OpDef::get("matmul"), {Operand(matrix), Operand(vector)}); };
  TensorRef got = get(product());
  CHECK(shapeOf(*got) == std::vector<int64_t>{2});
  CHECK(values<float>(*got) == std::vector<float>{21, 43});
  TensorRef left = run("matmul", {vector, matrix});
  CHECK(values<float>(*left) == std::vector<float>{31, 42});
  TensorRef dot = run("matmul", {vector, vector});
  CHECK(dot->rank() == 0);
  CHECK(values<float>(*dot) == std::vector<float>{101});
  Without layer(Layer::DimExpansion);
  CHECK(errorOf(product()).first == ErrorCode::InvalidArgument);
}

TEST_CASE("Format: the name of the order goes with the values, and without it it does not") {
  TensorRef image = make<float>(std::vector<float>(16, 1), {1, 2, 2, 4});
  image->setFormat(Format::ChannelsLast);
  CHECK(run("add", {image, image})->format() == Format::ChannelsLast);
  CHECK(run("sum", {image})->format() == Format::Default);
  Without layer(Layer::Format);
  CHECK(run("add", {image, image})->format() == Format::Default);
}

TEST_CASE("Autocast: products are narrow and sums wide, and without it neither") {
  TensorRef x = make<float>({1, 2, 3, 4}, {2, 2});
  auto dtypes = [&] {
    TensorRef product = run("matmul", {x, x});
    return std::pair(product->dtype(), run("sum", {product})->dtype());
  };
  setAutocast({true, DType::BFloat16, DType::Float32});
  CHECK(dtypes() == std::pair(DType::BFloat16, DType::Float32));
  {
    NoAutocast off;
    CHECK(dtypes() == std::pair(DType::Float32, DType::Float32));
  }
  check(update(OpDef::get("div"), {Operand(x), Operand(Number::floating(2))}));
  CHECK(x->dtype() == DType::Float32);
  {
    Without layer(Layer::Autocast);
    CHECK(dtypes() == std::pair(DType::Float32, DType::Float32));
  }
  setAutocast({});
  CHECK_FALSE(autocast().isOn);
}

TEST_CASE("Autocast: every record stands in one class, losses in that of wide ones") {
  unsigned low = 0, high = 0;
  for (const OpInfo &info : allOps()) {
    low += info.autocast == Precision::Low;
    high += info.autocast == Precision::High;
    if (info.pythonModule && llvm::StringRef(info.pythonModule) == "functional.loss")
      CHECK(info.autocast == Precision::High);
  }
  CHECK(low == 11);
  CHECK(high > 50);
  CHECK(findOp("batch_norm")->autocast == Precision::LowData);
  CHECK(findOp("add")->autocast == Precision::Given);
}

TEST_CASE("CheckOperands: memory that changes without an operator, and without it nobody looks") {
  std::vector<float> bytes = {1, 2};
  StorageRef memory = Storage::wrap(
      bytes.data(), 8, nullptr, [](void *) {}, make<float>({0})->storage().device(), /*isReadOnly=*/false);
  TensorRef x = TensorImpl::create(DType::Float32, {2}, memory);
  auto sum = [&] { return applyOne(OpDef::get("add"), {Operand(x), Operand(x)}); };
  setCheckOperands(true);
  CHECK(checksOperands());
  CHECK(values<float>(*get(sum())) == std::vector<float>{2, 4});
  bytes[1] = 5;
  CHECK(errorOf(sum()).second.find("add: operands must stay as they were when an operator read them first, got other "
                                   "bytes in the memory of f32[2]") == 0);
  bytes[1] = 7;
  setCheckOperands(false);
  CHECK(values<float>(*get(sum())) == std::vector<float>{2, 14});
}

TEST_CASE("assign gives a variable a new value and keeps its name") {
  TensorRef x = make<float>({1, 2}), y = make<float>({3});
  x->setName("x");
  assign(*x, *y);
  CHECK(values<float>(*x) == std::vector<float>{3});
  CHECK(x->name() == "x");
}

TEST_CASE("writing in place reaches views and counts a version") {
  TensorRef x = make<float>({1, 2, 3, 4});
  TensorRef view = run(OpDef::get("reshape").set("shape", IntList{2, 2}), {x});
  check(applyInPlace(OpDef::get("add"), {Operand(x), Operand(make<float>({5, 6, 7, 8}))}));
  CHECK(values<float>(*view) == std::vector<float>{6, 8, 10, 12});
  CHECK(x->storage().version() == 1);
  CHECK(x->storage().lastWrite()->text() == "add");
  CHECK(takeError(applyInPlace(OpDef::get("add"), {Operand(Number::integer(1)), Operand(x)})).second ==
        "add: x must be a Tensor to be written in place, got a number");
  CHECK(takeError(applyInPlace(OpDef::get("matmul"), {Operand(view), Operand(view)})).second ==
        "matmul: the record must say that the result may share memory for inplace, got one that does not");
  CHECK(x->storage().version() == 1);
}
