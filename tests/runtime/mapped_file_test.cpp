#include "runtime/schema/MappedFile.h"
#include "tests/runtime/Expect.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;

namespace {

constexpr off_t kPage = 4096;

/// A file of three pages of 'x'.
struct Pages {
  std::string path = "/tmp/tess_mapped_XXXXXX";
  int fd = ::mkstemp(path.data());
  Pages() {
    std::string text(3 * kPage, 'x');
    REQUIRE(::write(fd, text.data(), text.size()) == ssize_t(text.size()));
  }
  ~Pages() {
    ::close(fd);
    ::unlink(path.c_str());
  }
  void touch(time_t seconds) const {
    const timespec times[] = {{seconds, 0}, {seconds, 0}};
    REQUIRE(::futimens(fd, times) == 0);
  }
  void cut(off_t size) const { REQUIRE(::ftruncate(fd, size) == 0); }
};

/// How many pages of `bytes` this process has mapped, by /proc/self/pagemap.
int pagesInMemory(llvm::StringRef bytes) {
  const int pagemap = ::open("/proc/self/pagemap", O_RDONLY);
  REQUIRE(pagemap >= 0);
  int count = 0;
  for (size_t i = 0; i < bytes.size(); i += kPage) {
    uint64_t entry = 0;
    const auto at = off_t(reinterpret_cast<uintptr_t>(bytes.data() + i) / kPage * sizeof entry);
    REQUIRE(::pread(pagemap, &entry, sizeof entry, at) == ssize_t(sizeof entry));
    count += int(entry >> 63); // present
  }
  ::close(pagemap);
  return count;
}

/// How a child ends that does `work`.
template <typename Work> int statusOf(Work work) {
  pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

int sumOf(llvm::StringRef bytes) {
  int sum = 0;
  for (size_t i = 0; i < bytes.size(); i += kPage)
    sum += bytes[i];
  return sum;
}

} // namespace

TEST_CASE("a file that keeps its bytes passes, one that lost some does not") {
  Pages file;
  auto mapped = get(MappedFile::open(file.path));
  CHECK(mapped->bytes().size() == 3 * kPage);
  ok(mapped->check());
  file.cut(3 * kPage - 1);
  CHECK(messageOf(mapped->check()) == file.path + ": must keep its 12288 bytes while it is loaded, got 12287");
  file.cut(4 * kPage); // longer: what was mapped is there
  ok(mapped->check());
}

TEST_CASE("a write is told until somebody accepts the bytes") {
  Pages file;
  auto mapped = get(MappedFile::open(file.path));
  ok(mapped->check());
  CHECK(!mapped->wasWritten());
  file.touch(1);
  ok(mapped->check());
  ok(mapped->check());
  CHECK(mapped->wasWritten());
  mapped->acceptBytes();
  ok(mapped->check());
  CHECK(!mapped->wasWritten());
  file.touch(2);
  ok(mapped->check());
  CHECK(mapped->wasWritten());
}

TEST_CASE("pages that are given back are read from the file again") {
  Pages file;
  auto mapped = get(MappedFile::open(file.path));
  CHECK(sumOf(mapped->bytes()) == 3 * 'x');
  CHECK(pagesInMemory(mapped->bytes()) == 3);
  const llvm::StringRef bytes = mapped->bytes();
  mapped->giveBack(bytes.slice(1, 2 * kPage - 1)); // no whole page
  CHECK(pagesInMemory(bytes) == 3);
  mapped->giveBack(bytes.slice(1, 2 * kPage)); // the second
  CHECK(pagesInMemory(bytes) == 2);
  mapped->giveBack(llvm::StringRef("elsewhere"));
  mapped->giveBack(bytes);
  CHECK(pagesInMemory(bytes) == 0);
  CHECK(sumOf(bytes) == 3 * 'x');
}

TEST_CASE("a replaced file keeps its bytes") {
  Pages file, other;
  auto mapped = get(MappedFile::open(file.path));
  other.cut(1);
  REQUIRE(::rename(other.path.c_str(), file.path.c_str()) == 0);
  ok(mapped->check());
  CHECK(sumOf(mapped->bytes()) == 3 * 'x');
}

TEST_CASE("pages that were cut off read as zeros under the guard, and mark their file only") {
  Pages file, untouched;
  CHECK(statusOf([&] {
          guardMappedFiles();
          auto mapped = llvm::cantFail(MappedFile::open(file.path)),
               other = llvm::cantFail(MappedFile::open(untouched.path));
          file.cut(kPage);
          bool read = sumOf(mapped->bytes()) == 'x' && sumOf(other->bytes()) == 3 * 'x';
          file.cut(3 * kPage); // as long as before, and yet not what it was
          bool marked =
              mapped->isDamaged() && !other->isDamaged() &&
              llvm::StringRef(messageOf(mapped->check())).ends_with("bytes while it is loaded, got fewer for a time");
          ::_exit(read && marked ? 42 : 1);
        }) == 42 << 8);
}

TEST_CASE("without the guard the signal ends the process") {
  Pages file;
  int status = statusOf([&] {
    ::signal(SIGBUS, SIG_DFL); // a sanitizer's
    auto mapped = llvm::cantFail(MappedFile::open(file.path));
    file.cut(0);
    ::_exit(sumOf(mapped->bytes()));
  });
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS));
}

TEST_CASE("the guard leaves to the handler before it what is no mapped file") {
  Pages file;
  auto touch = [&] {
    void *data = ::mmap(nullptr, kPage, PROT_READ, MAP_PRIVATE, file.fd, 0);
    file.cut(0);
    ::_exit(*static_cast<volatile char *>(data));
  };
  SECTION("a handler with the address") {
    CHECK(statusOf([&] {
            struct sigaction mine = {};
            mine.sa_flags = SA_SIGINFO;
            mine.sa_sigaction = [](int, siginfo_t *info, void *) { ::_exit(info->si_addr ? 7 : 1); };
            ::sigaction(SIGBUS, &mine, nullptr);
            guardMappedFiles();
            touch();
          }) == 7 << 8);
  }
  SECTION("a plain handler") {
    CHECK(statusOf([&] {
            ::signal(SIGBUS, [](int) { ::_exit(8); });
            guardMappedFiles();
            touch();
          }) == 8 << 8);
  }
  SECTION("none") {
    int status = statusOf([&] {
      ::signal(SIGBUS, SIG_DFL);
      guardMappedFiles();
      touch();
    });
    CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS));
  }
}

TEST_CASE("the room of a file that is gone is taken again, unmarked") {
  CHECK(statusOf([] {
          guardMappedFiles();
          for (int i = 0; i < 100; ++i) {
            Pages file;
            auto mapped = llvm::cantFail(MappedFile::open(file.path));
            if (mapped->isDamaged())
              ::_exit(1);
            file.cut(0);
            if (sumOf(mapped->bytes()) != 0 || !mapped->isDamaged())
              ::_exit(2);
          }
        }) == 0);
}
