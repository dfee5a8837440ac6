//===- serialization_test.cpp - tensors in files -------------------------===//
#include "tessera/Archive.h"
#include "tessera/Layers.h"
#include "tests/frontends/cc/Thrown.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sys/stat.h>

using namespace tessera;

static std::string pathOf(const std::string &name) {
  const char *folder = std::getenv("TEST_TMPDIR");
  return std::string(folder ? folder : "/tmp") + "/" + name;
}

static std::string contents(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

static void write(const std::string &path, const std::string &bytes) { std::ofstream(path, std::ios::binary) << bytes; }

TEST_CASE("what is saved is loaded") {
  StateDict state{{"float", tensor({{1.5f, -0.0f}})},
                  {"empty", zeros({0, 3}, DType::Int8)},
                  {"scalar", tensor(int64_t(1) << 60)},
                  {"a \"quoted\" näme", full({3}, 0.5, DType::BFloat16)},
                  {"flag", tensor({true, false})}};
  std::string path = pathOf("state.tsave");
  save(state, path);
  StateDict loaded = load(path);
  REQUIRE(loaded.size() == state.size());
  for (const auto &[name, value] : state) {
    CHECK(loaded.at(name).dtype() == value.dtype());
    CHECK(loaded.at(name).shape() == value.shape());
    CHECK(loaded.at(name).toBytes() == value.toBytes());
  }
  save(loaded, pathOf("again.tsave"));
  CHECK(contents(pathOf("again.tsave")) == contents(path));
}

TEST_CASE("a module goes through a file") {
  Linear a(3, 2), b(3, 2);
  a.save(pathOf("linear.tsave"));
  b.load(pathOf("linear.tsave"));
  CHECK(a.stateDict().at("weight").toBytes() == b.stateDict().at("weight").toBytes());
}

TEST_CASE("a failed save leaves the old file") {
  std::string folder = pathOf("folder");
  REQUIRE((::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST));
  auto error = thrown([&] { save({{"x", zeros({1})}}, folder); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::IoError);
  CHECK(thrown([] { save({}, pathOf("no/such/folder")); })->code() == ErrorCode::IoError);
  CHECK(thrown([] { (void)load(pathOf("absent")); })->code() == ErrorCode::NotFound);
}

TEST_CASE("a damaged file is an error, never more") {
  std::string path = pathOf("damaged.tsave");
  save({{"x", arange(0, 100)}, {"y", zeros({2, 2})}}, path);
  std::string whole = contents(path);
  SECTION("cut off anywhere") {
    for (size_t size = 0; size < whole.size(); size += 7) {
      write(path, whole.substr(0, size));
      auto error = thrown([&] { (void)load(path); });
      REQUIRE(error);
      CHECK(error->code() == ErrorCode::DataLoss);
    }
  }
  SECTION("any bit of the data flipped") {
    size_t data = whole.find("arrays/0") + 28;
    for (size_t at : {data, data + 200, data + 399}) {
      std::string flipped = whole;
      flipped[at] ^= 4;
      write(path, flipped);
      CHECK(thrown([&] { (void)load(path); }));
    }
  }
  SECTION("any byte replaced: an error or the same tensors") {
    for (size_t at = 0; at < whole.size(); at += 3) {
      std::string changed = whole;
      changed[at] = char(changed[at] + 85);
      write(path, changed);
      StateDict loaded;
      if (!thrown([&] { loaded = load(path); }) && loaded.count("x") && loaded.size() == 2)
        CHECK(loaded.at("x").toBytes() == arange(0, 100).toBytes());
    }
  }
  SECTION("not a state") {
    write(path, "PK");
    CHECK(thrown([&] { (void)load(path); }));
    write(path, detail::writeArchive({{"tree.json", R"({"format": "tessera-save", "version": 2, "tree": {}})"}}));
    CHECK(thrown([&] { (void)load(path); }));
    write(path, detail::writeArchive({{"tree.json", R"({"format": "tessera-save", "version": 1, "tree": 3})"}}));
    CHECK(thrown([&] { (void)load(path); }));
    write(path, detail::writeArchive({{"tree.json", R"({"format": "tessera-save", "version": 1, "tree": {"dict": [
          ["x", {"tensor": {"dtype": "float32", "shape": [4611686018427387904, 8], "member": 0}}]]}})"},
                                      {"arrays/0", ""}}));
    CHECK(thrown([&] { (void)load(path); }));
  }
}
