#include "ir/GraphBuilder.h"
#include "runtime/schema/ExecutableCodec.h"
#include "runtime/schema/FlatExecutable.h"
#include "tessera/Archive.h"
#include "tessera/Serialization.h"
#include "tests/fuzz/Fuzz.h"
#include "tests/runtime/Expect.h"

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace tess;
using namespace tess::test;

namespace {

constexpr size_t kMany = size_t(8) << 20;

/// `part`, over and over.
std::string repeated(const std::string &part, size_t bytes = kMany) {
  std::string text;
  while (text.size() < bytes)
    text += part;
  return text;
}

/// The message with which `read` refuses `bytes`, within what they may cost.
template <typename Read> std::string refusal(const std::string &bytes, Read read) {
  std::string message;
  fuzz::peakGrowth(fuzz::growthLimit(bytes.size()), [&] { message = messageOf(read(bytes)); });
  INFO(message);
  CHECK_FALSE(message.empty());
  return message;
}

auto readExecutable = [](llvm::StringRef bytes) { return runtime::parseExecutable(bytes, "input"); };
auto readGraph = [](llvm::StringRef bytes) { return ir::Graph::parse(bytes, {}); };

/// The signal that ended a child that did `work`; 0 when none did.
int signalOf(llvm::function_ref<void()> work) {
  pid_t child = ::fork();
  if (child == 0) {
    ::close(STDERR_FILENO);
    ::signal(SIGABRT, SIG_DFL); // Catch's would report
    work();
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/// A number as Protobuf writes it.
std::string varint(uint64_t number) {
  std::string text;
  for (; number > 127; number >>= 7)
    text += char((number & 127) | 128);
  return text + char(number);
}

} // namespace

TEST_CASE("the harness ends a process that takes too much or says it wrongly") {
  auto take = [](size_t bytes) {
    return [bytes] { fuzz::peakGrowth(1 << 20, [&] { std::string(bytes, 'x').swap(*new std::string); }); };
  };
  CHECK(signalOf(take(1 << 19)) == 0);
  CHECK(signalOf(take(1 << 21)) == SIGABRT);
  CHECK(signalOf([] { fuzz::requireForm("add: shapes must broadcast, got [2] and [3]"); }) == 0);
  CHECK(signalOf([] { fuzz::requireForm("something is wrong"); }) == SIGABRT);
}

TEST_CASE("growth is the most that lives at once") {
  size_t peak = fuzz::peakGrowth(1 << 20, [] {
    for (int i = 0; i < 100; ++i)
      ::operator delete(::operator new(1 << 16));
  });
  CHECK(peak >= 1 << 16);
  CHECK(peak < 1 << 18);
}

TEST_CASE("millions of empty parts of an executable are refused before they are made") {
  for (std::string part : {"\x22", "\x2a", "\x32", "\x3a", "\x42", "\x4a", "\x52", "\x5a"}) {
    INFO(part);
    CHECK_THAT(refusal("\x08\x01" + repeated(part + '\0'), readExecutable),
               Catch::Matchers::Contains("messages must take at most 3 times their bytes and 12 MiB, got "));
  }
  // In each other: a step's groups.
  std::string groups = repeated(std::string("\x2a\0", 2));
  CHECK_THAT(refusal("\x08\x01\x3a" + varint(groups.size()) + groups, readExecutable),
             Catch::Matchers::Contains("messages must take at most"));
  CHECK_THAT(refusal(std::string("\x08\x01\x3a\0", 4), readExecutable),
             Catch::Matchers::Contains("nodes and steps must define values of their own, got 1 for 0 values"));
}

TEST_CASE("millions of empty parts of a graph are refused before they are made") {
  for (std::string part : {"\x12", "\x1a", "\x22", "\x2a", "\x32"}) {
    INFO(part);
    CHECK_THAT(refusal("\x08\x01" + repeated(part + '\0'), readGraph),
               Catch::Matchers::Contains("graph: messages must take at most"));
  }
}

TEST_CASE("a count of the flat form is no more than its bytes hold") {
  auto read = [](llvm::StringRef bytes) { return runtime::readFlat(bytes, "input"); };
  std::string whole = runtime::writeFlat({});
  // target, threads; then symbols, values, nodes, steps, images, constants, inputs, outputs: a count each.
  for (size_t list = 0; list < 8; ++list) {
    std::string bytes = whole;
    uint32_t count = uint32_t(kMany);
    std::memcpy(&bytes[8 + 4 * list], &count, sizeof count);
    bytes += std::string(kMany, '\0');
    CHECK_THAT(refusal(bytes, read), Catch::Matchers::Contains("must be an executable that this build wrote"));
  }
}

TEST_CASE("a checkpoint whose members lie over each other is refused") {
  std::string data(1 << 20, 'x'), file = tessera::detail::writeArchive({{"a", data}});
  size_t entry = file.find("PK\1\2"), end = file.find("PK\6\6");
  std::string twice = file.substr(0, end) + file.substr(entry, end - entry) + file.substr(end);
  size_t at = twice.find("PK\6\6");
  twice[at + 24] = twice[at + 32] = 2; // members on this disk, in all
  std::string moved = twice;
  uint64_t where = at;
  std::memcpy(&moved[moved.find("PK\6\7") + 8], &where, sizeof where);
  auto read = [](llvm::StringRef bytes) { return tessera::detail::readArchive(bytes, "input"); };
  CHECK(refusal(moved, read) == "load: input must be a file that save wrote, got member a over others");
}

/// What load says of a checkpoint with this tree and one member of `bytes` zeros.
static std::string treeRefusal(const std::string &tree, size_t bytes = 4) {
  fuzz::MemoryFile file(tessera::detail::writeArchive({{"tree.json", tree}, {"arrays/0", std::string(bytes, '\0')}}));
  std::string message;
  fuzz::peakGrowth(fuzz::growthLimit(tree.size() + bytes), [&] {
    try {
      tessera::load(file.path());
    } catch (const tessera::Error &error) {
      message = error.what();
    }
  });
  return message;
}

TEST_CASE("a tree of a checkpoint is neither deep nor all commas") {
  CHECK_THAT(treeRefusal(std::string(1 << 20, '[')), Catch::Matchers::Contains("101 levels deep"));
  CHECK_THAT(treeRefusal("[" + repeated("1,") + "1]"), Catch::Matchers::Contains("a tree of"));
  CHECK_THAT(treeRefusal(R"({"format": "[[\"[["})"), Catch::Matchers::Contains("another format"));
}

TEST_CASE("a member of a checkpoint is copied once") {
  std::string entry = R"(["a",{"tensor":{"dtype":"uint8","shape":[1048576],"member":0}}])", pairs = entry;
  for (int i = 0; i < 1000; ++i)
    pairs += "," + entry;
  CHECK(treeRefusal(R"({"format":"tessera-save","version":1,"tree":{"dict":[)" + pairs + "]}}", 1 << 20) == "");
}
