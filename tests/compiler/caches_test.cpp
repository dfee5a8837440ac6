// What was compiled before: entries on disk and warm sets, and what makes them count for nothing.
#include "compiler/cache/CacheFolder.h"
#include "compiler/cache/CodeVersion.h"
#include "compiler/cache/ExecutableCache.h"
#include "compiler/cache/ObjectCache.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <catch2/catch.hpp>

#include <chrono>
#include <filesystem>
#include <map>

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
  for (llvm::sys::fs::recursive_directory_iterator it(folder.path, error), end; !error && it != end;
       it.increment(error))
    if (it->type() == llvm::sys::fs::file_type::regular_file)
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
  CHECK(cache.find("version 1\nadd") == "code"); // before it is on disk, too
  cache.awaitWritten();
  CHECK(cache.find("version 1\nadd") == "code");
  CHECK(!cache.find("version 2\nadd"));
  SECTION("also where its file has the other's name") {
    std::string old = filesOf(folder).at(0);
    cache.store("version 2\nadd", "newer code");
    cache.awaitWritten();
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

/// Content that makes its subfolder due, with the limits of these cases.
static const std::string kMuch(600, 'x');

TEST_CASE("a process that writes little seldom trims") {
  unsigned trimmed = 0;
  for (unsigned process = 0; process < 200; ++process) {
    Folder folder;
    std::string flat = folder.file(std::string(32, '0') + ".img");
    write(flat, "old");
    ObjectCache cache;
    cache.configure(folder.path, uint64_t(kMuch.size()) * 8 * 20 * kNumSubfolders);
    cache.store("key", kMuch);
    cache.awaitTrimmed();
    trimmed += !llvm::sys::fs::exists(flat);
  }
  CHECK(trimmed > 0); // 1 of 20
  CHECK(trimmed < 50);
}

TEST_CASE("what a process left half-written goes when its subfolder is trimmed") {
  Folder folder;
  std::string subfolder = subfolderOf(folder.path, placeOf(folder.path, "key").subfolder);
  REQUIRE(!llvm::sys::fs::create_directory(subfolder));
  std::string left = subfolder + "/left.img.tmp", now = subfolder + "/now.img.tmp";
  write(left, "half");
  write(now, "half"); // by a process that goes on
  std::filesystem::last_write_time(left, std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
  ObjectCache cache;
  cache.configure(folder.path, 1 << 20);
  cache.store("key", kMuch);
  cache.awaitTrimmed();
  CHECK(!llvm::sys::fs::exists(left));
  CHECK(llvm::sys::fs::exists(now));
  CHECK(cache.find("key") == kMuch);
}

TEST_CASE("each subfolder keeps its part of the limit") {
  Folder folder;
  constexpr uint64_t part = 1000; // one entry
  ObjectCache cache;
  cache.configure(folder.path, part * kNumSubfolders);
  auto store = [&](int number) {
    cache.store("key " + std::to_string(number), std::string(500, 'x'));
    cache.awaitTrimmed();
  };
  for (int number = 0; number < 1000; ++number)
    store(number);
  std::map<std::string, uint64_t> held;
  for (const std::string &file : filesOf(folder))
    held[std::filesystem::path(file).parent_path()] += std::filesystem::file_size(file);
  CHECK(held.size() > 200);
  for (const auto &[subfolder, bytes] : held)
    CHECK(bytes <= part);
  CHECK(cache.find("key 999"));
}

TEST_CASE("only the subfolder of what is stored is trimmed") {
  Folder folder;
  unsigned stored = placeOf(folder.path, "key").subfolder;
  std::vector<std::string> far;
  for (unsigned number : {stored, (stored + 1) % kNumSubfolders}) {
    REQUIRE(!llvm::sys::fs::create_directory(subfolderOf(folder.path, number)));
    far.push_back(subfolderOf(folder.path, number) + "/" + std::string(32, '0') + ".img");
    write(far.back(), std::string(3000, 'x'));
    std::filesystem::last_write_time(far.back(), std::filesystem::file_time_type());
  }
  ObjectCache cache;
  cache.configure(folder.path, 2000 * kNumSubfolders);
  cache.store("key", kMuch);
  cache.awaitTrimmed();
  CHECK(!llvm::sys::fs::exists(far[0]));
  CHECK(llvm::sys::fs::exists(far[1]));
}

TEST_CASE("entries that earlier versions left in the folder go, a few with each entry that comes") {
  Folder folder;
  auto flat = [&](int number) { return folder.file(llvm::utohexstr(number, true, 32) + ".img"); };
  for (int number = 0; number < 600; ++number)
    write(flat(number), "old");
  write(flat(600) + ".tmp7", "half");
  std::string others[] = {folder.file("notes.img"), folder.file(std::string(32, 'a') + ".txt"), flat(1) + ".bak"};
  for (const std::string &other : others)
    write(other, "of the user");
  ObjectCache cache;
  cache.configure(folder.path, 1 << 20);
  auto store = [&](int number) {
    cache.store("key " + std::to_string(number), kMuch);
    cache.awaitTrimmed();
  };
  store(0);
  CHECK(filesOf(folder).size() == 601 - 256 + 3 + 1);
  for (int number = 1; number < 4; ++number)
    store(number);
  CHECK(filesOf(folder).size() == 3 + 4);
  for (const std::string &other : others)
    CHECK(read(other) == "of the user");
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
  CHECK(findExecutable("host", "a"));
  CHECK(!findExecutable("host", "b"));
  CHECK(executableCacheStats().fromWarmSet - before == 1);
  openWarmSet("");
  CHECK(!findExecutable("host", "a"));
}
