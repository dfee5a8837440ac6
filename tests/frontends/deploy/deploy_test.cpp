#include "ops/vocabulary/Quantization.h"
#include "tessera/deploy.h"
#include "tests/runtime/LibraryFile.h"

#include <atomic>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

using namespace tessera::deploy;
using tess::test::doublingProgram;
using tess::test::impossibleProgram;
using tess::test::productProgram;
using tess::test::writeProductFile;

namespace {

struct Folder {
  std::string path = "/tmp/tess_deploy_XXXXXX";
  Folder() { REQUIRE(::mkdtemp(path.data())); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const std::string &name) const { return path + "/" + name; }
};

Model loaded(const Folder &folder) {
  writeProductFile(folder.file("digits.tess"), {{"x86-64-v3", productProgram()}});
  Model model;
  Status status = Model::load(folder.file("digits.tess"), model);
  REQUIRE(status.message == "");
  return model;
}

} // namespace

TEST_CASE("a quantized input tells its scales") {
  Folder folder;
  tess::runtime::Executable exe = productProgram();
  exe.inputs[0].dtype = exe.values[exe.inputs[0].value].dtype = *tess::parseDType("quint8@1<0.5:3|0.25:0|1:255>");
  writeProductFile(folder.file("q.tess"), {{"x86-64-v3", exe}});
  Model model;
  REQUIRE(Model::load(folder.file("q.tess"), model).message == "");
  const InputInfo &input = model.inputs()[0];
  CHECK(input.dtype == DType::QUInt8);
  CHECK(std::string(name(input.dtype)) == "quint8");
  CHECK(input.quantization.scales == std::vector<float>{0.5f, 0.25f, 1.0f});
  CHECK(input.quantization.zeroPoints == std::vector<int32_t>{3, 0, 255});
  CHECK(input.quantization.axis == 1);
  CHECK(input.text == "quint8@1<0.5:3|0.25:0|1:255>[batch, 3] with batch in 1..512");
  CHECK(model.outputs()[0].quantization.scales.empty());
  Session session;
  CHECK(model.bind({{2, 3}}, session).message.find("matmul: x must be a float or complex, got quint8@1<") !=
        std::string::npos);
}

TEST_CASE("load, bind and run with plain pointers") {
  Folder folder;
  Model model = loaded(folder);
  REQUIRE(model.inputs().size() == 1);
  CHECK(model.inputs()[0].name == "x");
  CHECK(model.inputs()[0].dtype == DType::Float32);
  CHECK(model.inputs()[0].dims[0].symbol == "batch");
  CHECK(model.inputs()[0].dims[0].max == 512);
  CHECK(model.inputs()[0].dims[1].size == 3);
  CHECK(model.inputs()[0].text == "f32[batch, 3] with batch in 1..512");
  CHECK(model.outputs()[0].name == "logits");
  CHECK(model.target() == "x86-64-v3");
  REQUIRE(model.metadata("author"));
  CHECK(*model.metadata("author") == "somebody");
  CHECK(model.metadata("nothing") == nullptr);
  Session session;
  REQUIRE(model.bind({{2, 3}}, session));
  CHECK(session.outputShapes()[0] == Shape{2, 2});
  CHECK(session.outputBytes(0) == 16);
  CHECK(session.memory().constants == 24);
  CHECK(session.memory().total() >= 40);
  CHECK(session.launches() == 1);
  const float x[6] = {1, 0, 0, 0, 1, 1};
  float logits[4] = {};
  REQUIRE(session.run({x}, {logits}));
  CHECK(logits[0] == 1);
  CHECK(logits[1] == 2);
  CHECK(logits[2] == 8);
  CHECK(logits[3] == 10);
}

TEST_CASE("a model runs on another device with the same data of the host") {
  Folder folder;
  writeProductFile(folder.file("digits.tess"), {{"x86-64-v3", productProgram()}});
  writeProductFile(folder.file("double.tess"), {{"x86-64-v3", doublingProgram()}});
  Model model, doubling;
  LoadOptions options;
  options.device = "sim0";
  REQUIRE(Model::load(folder.file("digits.tess"), model, options).message == "");
  Session session;
  REQUIRE(model.bind({{2, 3}}, session).message == "");
  const float x[6] = {1, 0, 0, 0, 1, 1};
  float logits[4] = {};
  REQUIRE(session.run({x}, {logits}).message == "");
  CHECK(std::vector<float>(logits, logits + 4) == std::vector<float>{1, 2, 8, 10});
  CHECK(session.run({x}, {}).message == "digits: run must get 1 inputs, 1 outputs, got 1, 0");
  REQUIRE(Model::load(folder.file("double.tess"), doubling, options).message == "");
  options.device = "tpu0";
  CHECK(Model::load(folder.file("digits.tess"), model, options).message ==
        "digits: device must be one of cpu0, sim0, null0, got 'tpu0'");
}

TEST_CASE("a model keeps its state from run to run, each load its own") {
  Folder folder;
  writeProductFile(folder.file("double.tess"), {{"x86-64-v3", doublingProgram()}});
  Model first, second;
  REQUIRE(Model::load(folder.file("double.tess"), first).message == "");
  REQUIRE(Model::load(folder.file("double.tess"), second).message == "");
  CHECK(first.inputs().size() == 1);
  CHECK(first.outputs().size() == 1);
  Session narrow, wide, other;
  REQUIRE(first.bind({{1, 2}}, narrow));
  REQUIRE(first.bind({{2, 2}}, wide));
  REQUIRE(second.bind({{1, 2}}, other));
  CHECK(narrow.outputShapes() == std::vector<Shape>{{1, 2}});
  CHECK(narrow.memory().state == 16);
  const float x[4] = {1, 3, 5, 7};
  float y[4] = {};
  for (float factor : {1.0f, 2.0f, 4.0f}) {
    REQUIRE(narrow.run({x}, {y}));
    CHECK(y[0] == 1 * factor);
    CHECK(y[1] == 3 * factor);
  }
  REQUIRE(wide.run({x}, {y}));
  CHECK(y[3] == 7 * 8);
  REQUIRE(other.run({x}, {y}));
  CHECK(y[0] == 1);
  CHECK(narrow.run({x, x}, {y, y}).message == "double: run must get 1 inputs, 1 outputs, got 2, 2");
  CHECK(first.bind({{1, 2}, {2, 2}}, narrow).message == "double: must have 1 inputs, got 2");
}

TEST_CASE("sessions of two threads advance one state") {
  Folder folder;
  writeProductFile(folder.file("double.tess"), {{"x86-64-v3", doublingProgram()}});
  Model model;
  REQUIRE(Model::load(folder.file("double.tess"), model));
  const float x[2] = {1, 1};
  auto runs = [&] {
    Session session;
    float y[2] = {};
    bool ok = model.bind({{1, 2}}, session).ok();
    for (int i = 0; i < 50; ++i)
      ok = ok && session.run({x}, {y}).ok();
    return ok;
  };
  bool others = false;
  std::thread thread([&] { others = runs(); });
  bool own = runs();
  thread.join();
  CHECK(own);
  CHECK(others);
  Session session;
  float y[2] = {};
  REQUIRE(model.bind({{1, 2}}, session));
  REQUIRE(session.run({x}, {y}));
  CHECK(y[0] == std::ldexp(1.0f, 100));
}

TEST_CASE("errors have a code and a line, and leave things as they were") {
  Folder folder;
  Model model = loaded(folder);
  Session session;
  REQUIRE(model.bind({{1, 3}}, session));
  Status status = model.bind({{600, 3}}, session);
  CHECK(status.code == Code::InvalidArgument);
  CHECK(status.message == "digits: input x must be f32[batch, 3] with batch in 1..512, got f32[600, 3]");
  CHECK(session.outputShapes()[0] == Shape{1, 2});
  CHECK(model.bind({}, session).message == "digits: must have 1 inputs, got 0");
  CHECK(session.run({}, {}).message == "digits: run must get 1 inputs, 1 outputs, 0 scalars, got 0, 0, 0");
  CHECK(Session().run({}, {}).message == "run: session must be bound to shapes first, got an empty one");
  CHECK(Model().bind({}, session).message == "bind: model must be loaded first, got an empty one");
  status = Model::load(folder.file("none.tess"), model);
  CHECK(status.code == Code::NotFound);
  CHECK(model.inputs().size() == 1);
  std::ofstream(folder.file("text.tess"))
      << "just text, long enough to hold the header of a file of the right kind.....";
  CHECK(Model::load(folder.file("text.tess"), model).code == Code::DataLoss);
  CHECK(setNumThreads(0).code == Code::InvalidArgument);
}

TEST_CASE("the setting of the process is read and written") {
  CHECK(winograd());
  setWinograd(false);
  CHECK(!winograd());
  setWinograd(true);
}

TEST_CASE("an input or output without memory is an error") {
  Folder folder;
  Model model = loaded(folder);
  Session session;
  REQUIRE(model.bind({{2, 3}}, session).message == "");
  std::vector<float> x(6, 1), y(session.outputBytes(0) / sizeof(float));
  Status status = session.run({nullptr}, {y.data()});
  CHECK(status.code == Code::InvalidArgument);
  CHECK(status.message == "digits: input x must have memory of 24 bytes, got null");
  status = session.run({x.data()}, {nullptr});
  CHECK(status.code == Code::InvalidArgument);
  CHECK(status.message.find("must have memory of ") != std::string::npos);
  status = session.run(nullptr, 1, nullptr, 1);
  CHECK(status.message == "run: inputs and outputs must be lists of pointers, got null");
  CHECK(session.run({x.data()}, {y.data()}).message == "");
  CHECK(session.outputBytes(7) == 0);
  Session moved = std::move(session);
  CHECK(session.run({x.data()}, {y.data()}).code == Code::InvalidArgument);
  CHECK(moved.run({x.data()}, {y.data()}).message == "");
}

TEST_CASE("empty inputs and outputs need no memory") {
  Folder folder;
  tess::runtime::Executable exe = productProgram();
  exe.symbols[0].min = 0;
  writeProductFile(folder.file("none.tess"), {{"x86-64-v3", exe}});
  Model model;
  REQUIRE(Model::load(folder.file("none.tess"), model).message == "");
  Session session;
  REQUIRE(model.bind({{0, 3}}, session).message == "");
  CHECK(session.run({nullptr}, {nullptr}).message == "");
}

TEST_CASE("a session that two threads use at once gives one of them an error") {
  Folder folder;
  Model model = loaded(folder);
  Session session;
  REQUIRE(model.bind({{64, 3}}, session).message == "");
  std::vector<float> x(64 * 3, 1);
  std::atomic<int> refused = 0, wrong = 0, going = 2;
  auto use = [&] {
    std::vector<float> y(session.outputBytes(0) / sizeof(float));
    --going;
    while (going)
      std::this_thread::yield();
    for (int i = 0; i < 2000; ++i)
      if (Status status = session.run({x.data()}, {y.data()}); !status) {
        ++refused;
        wrong += status.code != Code::InvalidArgument ||
                 status.message != "digits: session is running (on another thread; bind a session for each thread)";
      }
  };
  std::thread other(use);
  use();
  other.join();
  CHECK(wrong == 0);
  std::vector<float> y(session.outputBytes(0) / sizeof(float));
  CHECK(session.run({x.data()}, {y.data()}).message == "");
}

TEST_CASE("without code for this processor the message is the line to type") {
  Folder folder;
  std::string path = folder.file("a.tess");
  Model model;
  writeProductFile(path, {});
  Status status = Model::load(path, model);
  CHECK(status.code == Code::Unimplemented);
  CHECK(status.message == path + ": must have an executable for this processor, got none; type: tess-compile " + path +
                              " -o " + folder.file("a.host.tess") + " --target host");
  writeProductFile(path, {{"x86-64-v9", impossibleProgram()}});
  CHECK(Model::load(path, model)
            .message.find("must have an executable for this processor, got x86-64-v9, which needs "
                          "avx9000; type: tess-compile ") != std::string::npos);
}

TEST_CASE("code with kernels of another interface is left out, and refused by name where there is no other") {
  Folder folder;
  std::string path = folder.file("a.tess");
  tess::runtime::Executable other = impossibleProgram();
  other.images[0].features = "+avx2";
  other.images[0].abi = 9;
  Model model;
  writeProductFile(path, {{"x86-64-v3", other}});
  Status status = Model::load(path, model);
  CHECK(status.code == Code::Unimplemented);
  CHECK(
      status.message.find("must have an executable for this processor, got x86-64-v3, whose kernels have the interface "
                          "of version 9 and not 1 to 2; type: tess-compile ") != std::string::npos);
  writeProductFile(path, {{"a", other}, {"b", productProgram()}});
  REQUIRE(Model::load(path, model));
  CHECK(model.target() == "b");
}

TEST_CASE("of several executables the one that fits is picked") {
  Folder folder;
  writeProductFile(folder.file("a.tess"), {{"x86-64-v9", impossibleProgram()}, {"x86-64-v3", productProgram()}});
  Model model;
  REQUIRE(Model::load(folder.file("a.tess"), model));
  CHECK(model.target() == "x86-64-v3");
}

TEST_CASE("code from the file can be refused") {
  Folder folder;
  writeProductFile(folder.file("a.tess"), {{"x86-64-v3", productProgram()}});
  Model model;
  LoadOptions options;
  options.allowCode = false;
  Status status = Model::load(folder.file("a.tess"), model, options);
  CHECK(status.code == Code::Unimplemented);
  CHECK(status.message.find("code from the file must be allowed") != std::string::npos);
}

TEST_CASE("a damaged parameter is found") {
  Folder folder;
  std::string path = folder.file("a.tess");
  writeProductFile(path, {{"x86-64-v3", productProgram()}});
  auto container = tess::test::get(tess::runtime::Container::open(path));
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(std::streamoff(container->sections().back().offset));
    file.put('!');
  }
  Model model;
  Status status = Model::load(path, model);
  CHECK(status.code == Code::DataLoss);
  CHECK(status.message.find("section tensor:fc.weight must have its checksum") != std::string::npos);
}

TEST_CASE("a file that was cut is refused at bind, and poisons the sessions that read it") {
  Folder folder;
  guardMappedFiles();
  Model model = loaded(folder);
  Session session, another;
  REQUIRE(model.bind({{1, 3}}, session));
  REQUIRE(model.checkFile());
  std::filesystem::resize_file(folder.file("digits.tess"), 0);
  const std::string says = "digits.tess: must keep its ";
  Status status = model.bind({{2, 3}}, another);
  CHECK(status.code == Code::DataLoss);
  CHECK(status.message.find(says) != std::string::npos);
  CHECK(model.checkFile().message == status.message);
  const float x[3] = {1, 2, 3};
  float logits[2] = {};
  for (int i = 0; i < 2; ++i) { // and stays so
    status = session.run({x}, {logits});
    CHECK(status.code == Code::DataLoss);
    CHECK(status.message.find(says) != std::string::npos);
  }
  Model whole = loaded(folder); // the process goes on
  REQUIRE(whole.bind({{1, 3}}, session));
  CHECK(session.run({x}, {logits}));
}

TEST_CASE("sessions of one model run side by side") {
  Folder folder;
  Model model = loaded(folder);
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 1; t <= 4; ++t)
    threads.emplace_back([&, t] {
      Session session;
      if (!model.bind({{t, 3}}, session))
        return;
      std::vector<float> x(size_t(t) * 3, float(t)), y(size_t(t) * 2);
      for (int i = 0; i < 100; ++i)
        good += session.run({x.data()}, {y.data()}).ok() && y[0] == float(9 * t) && y[1] == float(12 * t);
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(good == 400);
}

TEST_CASE("a profile names the model's steps and lines") {
  Folder folder;
  Model model = loaded(folder);
  Session session;
  REQUIRE(model.bind({{2, 3}}, session));
  const float x[6] = {};
  float y[4];
  startProfile();
  REQUIRE(session.run({x}, {y}));
  REQUIRE(saveProfile(folder.file("trace.json")));
  REQUIRE(session.run({x}, {y})); // no longer recorded
  std::ifstream in(folder.file("trace.json"));
  std::string text((std::istreambuf_iterator<char>(in)), {});
  CHECK(text.find("\"traceEvents\"") != std::string::npos);
  CHECK(text.find("\"name\":\"matmul\"") != std::string::npos);
  CHECK(text.find("\"value\":\"logits\"") != std::string::npos);
  CHECK(text.find("model.py:7 (Net.fc)") != std::string::npos);
  CHECK(saveProfile("/nowhere/at/all.json").code == Code::IoError);
}
