#include "runtime/schema/Container.h"
#include "tests/runtime/Expect.h"

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;

/// What this thread's writer asked of the system, in order: this binary's functions stand before libc's.
static thread_local std::vector<std::string> systemCalls;

extern "C" int fsync(int fd) {
  struct stat status;
  ::fstat(fd, &status);
  systemCalls.push_back(S_ISDIR(status.st_mode) ? "fsync folder" : "fsync file");
  return int(::syscall(SYS_fsync, fd));
}

extern "C" int rename(const char *from, const char *to) noexcept {
  systemCalls.push_back("rename");
  return int(::syscall(SYS_rename, from, to));
}

namespace {

/// A fresh folder, removed at the end.
struct Folder {
  std::string path = "/tmp/tess_container_XXXXXX";
  Folder() { REQUIRE(::mkdtemp(path.data())); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const std::string &name) const { return path + "/" + name; }
  size_t count() const {
    return size_t(std::distance(std::filesystem::directory_iterator(path), std::filesystem::directory_iterator()));
  }
};

std::string slurp(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

const std::string tensorBytes(1000, '\x5a');

std::vector<SectionData> sections() {
  return {{SectionKind::Graph, "", "the graph"},
          {SectionKind::Executable, "x86-64-v3", "code"},
          {SectionKind::Meta, "author", "somebody"},
          {SectionKind::Tensor, "fc.weight", tensorBytes},
          {SectionKind::Tensor, "empty", ""}};
}

std::string writtenFile() {
  Folder folder;
  ok(writeContainer(folder.file("a.tess"), sections()));
  return slurp(folder.file("a.tess"));
}

} // namespace

TEST_CASE("a container gives back what was written") {
  Folder folder;
  ok(writeContainer(folder.file("a.tess"), sections()));
  auto container = get(Container::open(folder.file("a.tess")));
  CHECK(container->sections().size() == 5);
  for (const SectionData &section : sections())
    CHECK(get(container->read(section.kind, section.name)) == section.bytes);
  CHECK(container->has(SectionKind::Executable, "x86-64-v3"));
  CHECK_FALSE(container->has(SectionKind::Executable, "x86-64-v4"));
  CHECK(codeOf(container->read(SectionKind::Tensor, "nothing")) == ErrorCode::NotFound);
  ok(container->verify());
}

TEST_CASE("sections are aligned to 64 bytes in memory") {
  Folder folder;
  ok(writeContainer(folder.file("a.tess"), sections()));
  auto container = get(Container::open(folder.file("a.tess")));
  for (const auto &section : container->sections()) {
    CHECK(section.offset % 64 == 0);
    CHECK(reinterpret_cast<uintptr_t>(get(container->read(section.kind, section.name)).data()) % 64 == 0);
  }
}

TEST_CASE("code runs where the file is mapped") {
  Folder folder;
  std::string code("\xb8\x2a\x00\x00\x00\xc3", 6); // mov eax, 42; ret
  ok(writeContainer(folder.file("a.tess"),
                    {{SectionKind::Meta, "author", "somebody"}, {SectionKind::Code, "f", code}}));
  auto container = get(Container::open(folder.file("a.tess")));
  REQUIRE(container->makeCodeExecutable());
  CHECK(reinterpret_cast<int (*)()>(uintptr_t(get(container->read(SectionKind::Code, "f")).data()))() == 42);
  CHECK(get(container->read(SectionKind::Meta, "author")) == "somebody");
}

TEST_CASE("what is no mapped code does not run") {
  Folder folder;
  ok(writeContainer(folder.file("a.tess"), sections()));
  CHECK_FALSE(get(Container::open(folder.file("a.tess")))->makeCodeExecutable());
  ok(writeContainer(folder.file("b.tess"), {{SectionKind::Code, "f", "code"}}));
  std::string bytes = slurp(folder.file("b.tess"));
  CHECK_FALSE(get(Container::fromMemory(bytes, "memory"))->makeCodeExecutable());
}

TEST_CASE("equal sections give equal files") { CHECK(writtenFile() == writtenFile()); }

TEST_CASE("a cut file is an error at every length") {
  std::string bytes = writtenFile();
  for (size_t length = 0; length < bytes.size(); length += 97) {
    INFO(length);
    std::string message = messageOf(Container::fromMemory(llvm::StringRef(bytes).take_front(length), "cut.tess", true));
    CHECK(message.find("cut.tess: ") == 0);
  }
}

TEST_CASE("a flipped bit is an error wherever it matters") {
  std::string bytes = writtenFile();
  auto original = get(Container::fromMemory(bytes, "a.tess"));
  unsigned unseen = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= char(1 << (i % 8));
    auto container = Container::fromMemory(bytes, "a.tess", true);
    if (container) { // only the padding between sections is free
      ++unseen;
      for (const auto &section : original->sections())
        CHECK((i < section.offset || i >= section.offset + section.size));
    } else {
      CHECK(messageOf(std::move(container)).find("a.tess: ") == 0);
    }
    bytes[i] ^= char(1 << (i % 8));
  }
  CHECK(unseen < 64 * 5);
}

TEST_CASE("a foreign file is named as such") {
  std::string foreign(4096, 'x');
  CHECK(messageOf(Container::fromMemory(foreign, "notes.txt")) ==
        "notes.txt: must be a .tess file, got a file of another kind");
  CHECK(messageOf(Container::fromMemory("", "empty.tess")) == "empty.tess: must be a .tess file, got 0 bytes");
}

TEST_CASE("a newer version is refused by name") {
  std::string bytes = writtenFile();
  bytes[8] = 2;
  auto container = Container::fromMemory(bytes, "new.tess");
  auto [code, message] = takeError(container.takeError());
  CHECK(code == ErrorCode::Unimplemented);
  CHECK(message.find("format version must be at most 1, got 2") != std::string::npos);
}

TEST_CASE("huge numbers in the header are errors") {
  for (size_t field : {12, 16, 24, 40}) // count, table offset, table bytes, file bytes
    for (unsigned char value : {0xff, 0x7f}) {
      std::string bytes = writtenFile();
      for (size_t i = 0; i < (field == 12 ? 4u : 8u); ++i)
        bytes[field + i] = char(value);
      CHECK(messageOf(Container::fromMemory(bytes, "huge.tess")).find("huge.tess: ") == 0);
    }
}

TEST_CASE("a missing file is NotFound") {
  CHECK(codeOf(Container::open("/nowhere/at/all.tess")) == ErrorCode::NotFound);
}

TEST_CASE("two sections of one name are refused") {
  Folder folder;
  std::string message = messageOf(
      writeContainer(folder.file("a.tess"), {{SectionKind::Tensor, "w", "1"}, {SectionKind::Tensor, "w", "2"}}));
  CHECK(message.find("section names must differ, got w twice") != std::string::npos);
  CHECK(folder.count() == 0);
}

TEST_CASE("a failed write leaves the old file and nothing else") {
  Folder folder;
  std::string path = folder.file("a.tess");
  ok(writeContainer(path, sections()));
  std::string before = slurp(path);
  SECTION("no folder") {
    std::string message = messageOf(writeContainer(folder.file("none/a.tess"), sections()));
    CHECK(message.find("none/a.tess: must be able to create a file beside it, got No such file") != std::string::npos);
  }
  SECTION("the name is a folder") {
    std::filesystem::create_directory(folder.file("b.tess"));
    CHECK(messageOf(writeContainer(folder.file("b.tess"), sections())).find("b.tess: must be able to replace, got ") !=
          std::string::npos);
    CHECK(folder.count() == 2);
  }
  CHECK(slurp(path) == before);
}

TEST_CASE("the new bytes are on disk before they replace the old ones, and so is the name") {
  Folder folder;
  systemCalls.clear();
  ok(writeContainer(folder.file("a.tess"), sections()));
  CHECK(systemCalls == std::vector<std::string>{"fsync file", "rename", "fsync folder"});
}

TEST_CASE("what a killed writer left is taken over, what a running one writes is not") {
  Folder folder;
  std::string path = folder.file("a.tess"), temporary = path + ".tmp";
  std::ofstream(temporary) << std::string(100000, 'x');
  SECTION("left behind") {
    ok(writeContainer(path, sections()));
    CHECK(folder.count() == 1);
    CHECK(slurp(path) == writtenFile());
  }
  SECTION("being written") {
    int fd = ::open(temporary.c_str(), O_RDWR);
    REQUIRE(::flock(fd, LOCK_EX) == 0);
    ok(writeContainer(path, sections()));
    CHECK(folder.count() == 2);
    CHECK(std::filesystem::file_size(temporary) == 100000);
    ::close(fd);
  }
  SECTION("another's file under that name is not written") {
    std::ofstream(folder.file("other")) << "precious";
    std::filesystem::remove(temporary);
    std::filesystem::create_symlink(folder.file("other"), temporary);
    ok(writeContainer(path, sections()));
    std::filesystem::remove(temporary);
    std::filesystem::create_hard_link(folder.file("other"), temporary);
    ok(writeContainer(path, sections()));
    CHECK(slurp(folder.file("other")) == "precious");
  }
  ok(get(Container::open(path))->verify());
}

TEST_CASE("writers of one path do not disturb each other") {
  Folder folder;
  std::string path = folder.file("a.tess");
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer)
    writers.emplace_back([&, text = std::string(50000, char('a' + writer))] {
      for (int i = 0; i < 20; ++i)
        llvm::cantFail(writeContainer(path, {{SectionKind::Graph, "", text}}));
    });
  for (std::thread &writer : writers)
    writer.join();
  auto last = get(Container::open(path));
  llvm::StringRef text = get(last->read(SectionKind::Graph, ""));
  CHECK(text == std::string(50000, text[0]));
  CHECK(folder.count() == 1);
}

TEST_CASE("a replaced file stays readable where it is open") {
  Folder folder;
  std::string path = folder.file("a.tess");
  ok(writeContainer(path, sections()));
  auto old = get(Container::open(path));
  ok(writeContainer(path, {{SectionKind::Graph, "", "another"}}));
  CHECK(get(old->read(SectionKind::Graph, "")) == "the graph");
  CHECK(get(get(Container::open(path))->read(SectionKind::Graph, "")) == "another");
}

TEST_CASE("a file that was written over is refused until it has its checksums again") {
  Folder folder;
  std::string path = folder.file("a.tess");
  ok(writeContainer(path, sections()));
  auto container = get(Container::open(path));
  const uint64_t at = container->sections()[3].offset;
  int seconds = 0;
  auto put = [&](char byte) {
    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(std::streamoff(at)).put(byte);
    const timespec times[] = {{++seconds, 0}, {seconds, 0}}; // clocks of file systems are coarse
    REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
  };
  ok(container->checkFile());
  put('\x5a'); // as it was
  ok(container->checkFile());
  put('!');
  for (int i = 0; i < 2; ++i)
    CHECK(messageOf(container->checkFile()) ==
          path + ": section tensor:fc.weight must have its checksum, got another: the file is damaged");
  put('\x5a');
  ok(container->checkFile());
}

TEST_CASE("what a file says that was cut meanwhile has the cut as its cause") {
  Folder folder;
  std::string path = folder.file("a.tess");
  ok(writeContainer(path, sections()));
  auto container = get(Container::open(path));
  auto wrong = [] { return invalidArgument("executable: must be a Protobuf message, got 4 bytes that are not one"); };
  CHECK(messageOf(container->causeOf(wrong())) == messageOf(wrong()));
  std::filesystem::resize_file(path, 100);
  CHECK(messageOf(container->causeOf(wrong())).find("a.tess: must keep its ") != std::string::npos);
}

TEST_CASE("files over 2 GiB work") {
  // Sparse: the sections beyond 2 GiB are zeros that take no room on most file systems.
  Folder folder;
  std::string path = folder.file("big.tess");
  struct Zeros {
    size_t size = (size_t(2) << 30) + 4096;
    void *data = std::calloc(size, 1);
    ~Zeros() { std::free(data); }
  } zeros;
  if (!zeros.data || std::filesystem::space(folder.path).available < 2 * zeros.size)
    return;
  llvm::StringRef big(static_cast<char *>(zeros.data), zeros.size);
  ok(writeContainer(path, {{SectionKind::Tensor, "big", big}, {SectionKind::Tensor, "after", "tail"}}));
  auto container = get(Container::open(path));
  CHECK(get(container->read(SectionKind::Tensor, "after")) == "tail");
  SECTION("tensors above 256 MiB are verified on first use") {
    int at = int(container->sections()[1].offset >> 20); // beyond 2 GiB
    CHECK(at > 2047);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(std::streamoff(container->sections()[1].offset));
    file.put('T');
    file.close();
    auto damaged = get(Container::open(path)); // not looked at yet
    CHECK(messageOf(damaged->read(SectionKind::Tensor, "after")).find("section tensor:after must have its checksum") !=
          std::string::npos);
    CHECK(codeOf(Container::open(path, /*verifyAll=*/true)) == ErrorCode::DataLoss);
  }
}
