#include "runtime/schema/TestCases.h"
#include "tests/runtime/Expect.h"

#include <filesystem>
#include <unistd.h>

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;

namespace {

/// A path that is free again at the end.
struct File {
  std::string path = "/tmp/tess_test_cases_" + std::to_string(::getpid()) + ".tess";
  ~File() { std::filesystem::remove(path); }
};

std::shared_ptr<Container> written(const File &file, std::vector<SectionData> sections) {
  ok(writeContainer(file.path, sections));
  return get(Container::open(file.path));
}

TestCases twoCases() {
  return {
      {{{{"x", "input"}, {"a/b", "another"}}, {{"y", "result"}}}, {{{"x", "second"}, {"a/b", ""}}, {}}}, 0.1, false};
}

} // namespace

TEST_CASE("tests come back as they were written, beside the program") {
  File file;
  auto program = written(file, {{SectionKind::Graph, "", "graph"}, {SectionKind::Tensor, "t0", "bytes"}});
  WrittenFile facts;
  ok(writeWithTests(*program, file.path, twoCases(), &facts));
  CHECK(facts.bytes == std::filesystem::file_size(file.path));
  auto container = get(Container::open(file.path));
  CHECK(get(container->read(SectionKind::Graph, "")) == "graph");
  CHECK(get(container->read(SectionKind::Tensor, "t0")) == "bytes");
  TestCases tests = get(readTests(*container));
  CHECK(tests.maxError == 0.1);
  CHECK_FALSE(tests.verbose);
  REQUIRE(tests.cases.size() == 2);
  CHECK(tests.cases[0].inputs == twoCases().cases[0].inputs);
  CHECK(tests.cases[0].expected == twoCases().cases[0].expected);
  CHECK(tests.cases[1].inputs == twoCases().cases[1].inputs);
  CHECK(tests.cases[1].expected.empty());
}

TEST_CASE("new tests take the place of those that a file has") {
  File file;
  ok(writeWithTests(*written(file, {{SectionKind::Graph, "", "graph"}}), file.path, twoCases()));
  TestCases one{{{{{"x", "only"}}, {}}}, 0, true};
  ok(writeWithTests(*get(Container::open(file.path)), file.path, one));
  TestCases tests = get(readTests(*get(Container::open(file.path))));
  REQUIRE(tests.cases.size() == 1);
  CHECK(tests.cases[0].inputs == one.cases[0].inputs);
  CHECK(tests.verbose);
}

TEST_CASE("a file without tests has no cases") {
  File file;
  CHECK(get(readTests(*written(file, {{SectionKind::Graph, "", "graph"}}))).cases.empty());
}

TEST_CASE("sections that are no tests are refused") {
  std::string name =
      GENERATE(as<std::string>{}, "other", "1", "1/in", "1/in/", "x/in/a", "-1/in/a", "0/of/a", "70000/in/a");
  File file;
  auto container = written(file, {{SectionKind::Test, name, ""}});
  CHECK(messageOf(readTests(*container).takeError()) ==
        file.path + ": a section must be of a test, got '" + name + "'");
}

TEST_CASE("settings of tests that are none are refused") {
  auto [name, text] = GENERATE(std::pair("max_error", "-1"), std::pair("max_error", "much"), std::pair("verbose", "2"));
  File file;
  auto container = written(file, {{SectionKind::Test, name, text}});
  CHECK(messageOf(readTests(*container).takeError()).find("a section must be of a test, got '") != std::string::npos);
}
