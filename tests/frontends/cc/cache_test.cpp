//===- cache_test.cpp - folders of compiled code, in C++ ------------------===//
#include "compiler/Compile.h"
#include "tessera/Jit.h"
#include "tessera/Random.h"
#include "tessera/functional.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace tessera;
namespace fs = std::filesystem;

static std::string fromEnvironment(const char *name, const char *otherwise = "") {
  const char *value = std::getenv(name);
  return value ? value : otherwise;
}

// Runs in a process that the case below starts.
TEST_CASE("a program is loaded and run", "[.]") {
  (void)jit::load(fromEnvironment("PROGRAM"))({uniform({5, 7})});
  std::ofstream(fromEnvironment("ANSWER")) << tess::compiler::compileStats().kernelsCompiled;
}

TEST_CASE("a process compiles no kernel that another one has left in the folder") {
  const fs::path folder = fs::path(fromEnvironment("TEST_TMPDIR", "/tmp")) / "cache_test";
  fs::remove_all(folder);
  fs::create_directories(folder);
  auto function = jit::trace([](const Tensor &x) { return functional::tanh(x * 2 + 1); });
  (void)function(uniform({5, 7}));
  function.dump(folder / "program.tess");
  auto compiledWith = [&](const std::string &settings) {
    const std::string command =
        settings + " PROGRAM=" + (folder / "program.tess").string() + " ANSWER=" + (folder / "answer").string() + " " +
        fs::read_symlink("/proc/self/exe").string() + " 'a program is loaded and run' > /dev/null";
    REQUIRE(std::system(command.c_str()) == 0);
    int count = -1;
    std::ifstream(folder / "answer") >> count;
    return count;
  };
  const std::string here = "TESS_CACHE_DIR=" + (folder / "code").string();
  CHECK(compiledWith("TESS_CACHE_DIR=") > 0);
  CHECK(compiledWith(here) > 0);
  CHECK(compiledWith(here) == 0);
  CHECK(compiledWith(here + " TESS_CACHE_MB=many") == 0);
  fs::remove_all(folder);
}
