// What was compiled before: entries on disk and warm sets, and what makes them count for nothing.
#include "compiler/CodeVersion.h"
#include "compiler/ExecutableCache.h"
#include "compiler/ObjectCache.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <catch2/catch.hpp>

#include <chrono>
#include <filesystem>

using namespace tess;
using namespace tess::compiler;

namespace {

/// A folder that goes with its files.
struct Folder {
  llvm::SmallString<128> path;
  Folder() { REQUIRE(!llvm::sys::fs::createUniqueDirectory("caches", path)); }
  ~Folder() { (void)llvm::sys::fs::remove_directories(path); }
  std::string file(llvm::StringRef name) const { return (path + "/" + name).str(); }
};

std::vector<std::string> filesOf(const Folder &folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(folder.path, error), end; !error && it != end; it.increment(error))
    files.push_back(it->path());
  return files;
}

std::string read(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  REQUIRE(buffer);
  return (*buffer)->getBuffer().str();
}

void write(llvm::StringRef path, llvm::StringRef bytes) {
  std::error_code error;
  llvm::raw_fd_ostream(path, error) << bytes;
  REQUIRE(!error);
}

/// An executable of no steps with one image of these bytes.
runtime::Executable holderOf(llvm::StringRef bytes) {
  runtime::Executable executable;
  executable.images.push_back({bytes.str(), {}, "", ("hash of " + bytes).str()});
  return executable;
}

std::string messageOf(llvm::Expected<std::shared_ptr<const WarmSet>> set) {
  return set ? "opened" : llvm::toString(set.takeError());
}

} // namespace

TEST_CASE("an entry on disk answers its own key only") {
  Folder folder;
  ObjectCache cache;
  CHECK(!cache.find("key"));
  cache.configure(folder.path, 1 << 20);
  cache.store("version 1\nadd", "code");
  CHECK(cache.find("version 1\nadd") == "code");
  CHECK(!cache.find("version 2\nadd"));
  SECTION("also where its file has the other's name") {
    std::string old = filesOf(folder).at(0);
    cache.store("version 2\nadd", "newer code");
    for (const std::string &file : filesOf(folder))
      if (file != old)
        REQUIRE(!llvm::sys::fs::copy_file(old, file));
    CHECK(cache.find("version 1\nadd") == "code");
    CHECK(!cache.find("version 2\nadd"));
  }
  SECTION("and not when any bit is another") {
    std::string file = filesOf(folder).at(0), whole = read(file);
    for (size_t byte = 0; byte < whole.size(); ++byte) {
      std::string damaged = whole;
      damaged[byte] ^= 1 << byte % 8;
      write(file, damaged);
      CHECK(!cache.find("version 1\nadd"));
    }
  }
  SECTION("and not when it ends early") {
    std::string file = filesOf(folder).at(0), whole = read(file);
    for (size_t size = 0; size < whole.size(); ++size) {
      write(file, llvm::StringRef(whole).take_front(size));
      CHECK(!cache.find("version 1\nadd"));
    }
  }
}

TEST_CASE("what a process left half-written goes with the next eviction") {
  Folder folder;
  std::string left = folder.file("left.img.tmp"), now = folder.file("now.img.tmp");
  write(left, "half");
  write(now, "half"); // by a process that goes on
  std::filesystem::last_write_time(left, std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
  ObjectCache cache;
  cache.configure(folder.path, 1 << 20);
  cache.store("key", "code");
  CHECK(!llvm::sys::fs::exists(left));
  CHECK(llvm::sys::fs::exists(now));
  CHECK(cache.find("key") == "code");
}

TEST_CASE("a warm set answers with what was written") {
  Folder folder;
  std::string path = folder.file("x86-64-v3.tess");
  llvm::cantFail(writeWarmSet(path, "x86-64-v3", {{"b", holderOf("two")}, {"a", holderOf("one")}}, codeVersion()));
  auto set = llvm::cantFail(WarmSet::open(path));
  CHECK(set->keys() == std::vector<std::string>{"a", "b"});
  CHECK(set->find("a")->images.at(0).code() == "one");
  CHECK(set->find("a")->images.at(0).mapped); // where the file is mapped
  CHECK(!set->find("c"));
  CHECK(set->describe() == "x86-64-v3, 2 classes");
}

TEST_CASE("a warm set that this build cannot use is refused by name") {
  Folder folder;
  std::string path = folder.file("x86-64-v3.tess");
  CHECK(messageOf(WarmSet::open(path)).find(path) != std::string::npos);
  SECTION("another version wrote it") {
    llvm::cantFail(writeWarmSet(path, "x86-64-v3", {}, "older"));
    CHECK(messageOf(WarmSet::open(path)) ==
          path + ": version must be that of this build, " + codeVersion().str() + ", got older");
  }
  SECTION("of a level that is none") {
    llvm::cantFail(writeWarmSet(path, "x86-64-v9", {}, codeVersion()));
    CHECK(messageOf(WarmSet::open(path)).find("got x86-64-v9") != std::string::npos);
  }
  SECTION("a program that is no warm set") {
    llvm::cantFail(runtime::writeContainer(path, {}));
    CHECK(messageOf(WarmSet::open(path)).find("warm-set-version") != std::string::npos);
  }
  SECTION("damaged anywhere") {
    llvm::cantFail(writeWarmSet(path, "x86-64-v3", {{"a", holderOf("one")}}, codeVersion()));
    std::string whole = read(path);
    for (size_t byte = 0; byte < whole.size(); byte += 7) {
      std::string damaged = whole;
      damaged[byte] ^= 16;
      write(path, damaged);
      auto set = WarmSet::open(path);
      if (set) // padding between the sections
        CHECK((*set)->find("a")->images.at(0).code() == "one");
      else
        CHECK(!llvm::toString(set.takeError()).empty());
    }
  }
}

TEST_CASE("the process opens a folder, and says what became of it") {
  Folder folder;
  openWarmSet("");
  CHECK(warmSetNote() == "closed");
  openWarmSet(folder.path);
  CHECK(llvm::StringRef(warmSetNote()).starts_with("ignored: "));
  for (const char *level : {"x86-64-v3", "x86-64-v4"})
    llvm::cantFail(
        writeWarmSet(folder.file(level + std::string(".tess")), level, {{"a", holderOf("one")}}, codeVersion()));
  openWarmSet(folder.path);
  CHECK(llvm::StringRef(warmSetNote()).ends_with(", 1 classes"));
  uint64_t before = executableCacheStats().fromWarmSet;
  CHECK(findExecutable("a"));
  CHECK(!findExecutable("b"));
  CHECK(executableCacheStats().fromWarmSet - before == 1);
  openWarmSet("");
  CHECK(!findExecutable("a"));
}
